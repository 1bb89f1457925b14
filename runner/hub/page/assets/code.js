// Shows a command as a person should read it: coloured, each hidden character by its number, in the order in which it
// is stored whatever script it is in.
import { el } from './dom.js';
import { tokens } from './shell.js';
import { visibleNodes } from './visible.js';

// Longer text is shown without colours: a browser lays out hundreds of thousands of elements only slowly.
const mostColoured = 64 * 1024;

/** The command as a block. Line breaks stay, everything else that would not be seen is marked. */
export function commandBlock(text, label = 'Command') {
  const code = el('code', { class: 'shell' });
  if (text.length > mostColoured) code.append(...visibleNodes(text, '\n'));
  else paint(code, text, '\n');
  return el('pre', { class: 'command', tabindex: '0', role: 'group', 'aria-label': label }, code);
}

/** The command on one line, for lists. */
export function commandLine(text) {
  const code = el('code', { class: 'shell' });
  paint(code, text.length > 400 ? text.slice(0, 400) : text, '');
  if (text.length > 400) code.append(el('span', { class: 'cut', text: ` … and ${text.length - 400} more characters` }));
  return code;
}

function paint(code, text, kept) {
  for (const [kind, piece] of tokens(text)) {
    const nodes = visibleNodes(piece, kept);
    if (kind) code.append(el('span', { class: `t-${kind}` }, nodes));
    else code.append(...nodes);
  }
}
