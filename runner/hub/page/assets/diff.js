// Shows a unified diff, line by line, each with its sign as text: colour alone tells nobody anything.
import { el } from './dom.js';
import { visibleNodes } from './visible.js';

const firstLines = 60;

/** A unified diff as a table; long ones open on request. */
export function diffBlock(text) {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  const body = el('tbody');
  const table = el('table', { class: 'diff', 'aria-label': 'Change' }, body);
  if (/^diff /.test(lines[0]) && lines[1]?.startsWith('--- ')) lines.shift(); // the names come once more
  const numbers = { old: 0, new: 0, oldEnd: 0, newEnd: 0, inside: false };
  const rows = lines.map((l) => row(l, numbers));
  body.append(...rows.slice(0, firstLines));
  const box = el('div', { class: 'diff-box', tabindex: '0', role: 'group', 'aria-label': 'Change' }, table);
  if (rows.length > firstLines) {
    const more = el('button', { type: 'button', class: 'button', text: `Show the other ${rows.length - firstLines} lines`, on: {
      click: () => {
        more.remove();
        body.append(...rows.slice(firstLines));
      },
    } });
    box.append(more);
  }
  return box;
}

const head = /^(?:diff |index |--- |\+\+\+ |old mode |new mode |new file |deleted file |similarity |rename |copy )/;

function row(line, n) {
  const hunk = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line);
  if (hunk) {
    [n.old, n.new, n.inside] = [Number(hunk[1]), Number(hunk[3]), true];
    [n.oldEnd, n.newEnd] = [n.old + Number(hunk[2] ?? 1), n.new + Number(hunk[4] ?? 1)];
    return whole('hunk', line);
  }
  // What stands behind the lines that the hunk announced may be the next file's head. Else it is a change all the same:
  // whoever wrote the patch must not be able to make one look like none.
  if (n.old >= n.oldEnd && n.new >= n.newEnd && head.test(line)) n.inside = false;
  if (!n.inside) return whole('meta', line);
  const sign = line[0] ?? ' ';
  if (sign === '\\') return whole('meta', line.slice(2));
  const kind = { '+': 'added', '-': 'removed' }[sign] ?? 'same';
  return el('tr', { class: kind },
    el('td', { class: 'number', text: kind === 'added' ? '' : String(n.old++) }),
    el('td', { class: 'number', text: kind === 'removed' ? '' : String(n.new++) }),
    el('td', { class: 'sign', text: sign }),
    el('td', { class: 'line' }, el('code', {}, visibleNodes(line.slice(1), '\t'))));
}

const whole = (kind, text) => el('tr', { class: kind }, el('td', { colspan: '4' }, el('code', {}, visibleNodes(text, '\t'))));
