// Pieces that cards and rows have in common.
import { commandBlock } from './code.js';
import { el, time } from './dom.js';
import { facts, place, proposer, title } from './shape.js';
import { sentence } from './sentence.js';
import { visible, visibleNodes } from './visible.js';

/** Who, in which project and folder, and when. */
export function origin(action, store) {
  const project = store.projects.get(action.projectId);
  const where = place(action, project);
  const rest = [];
  if (action.type === 'terminal') rest.push(el('span', { class: 'cwd', title: visible(where.full) }, 'in ', el('bdi', {}, visibleNodes(where.short))));
  if (project?.also_inside?.length) rest.push(el('span', { class: 'cwd', title: visible(project.also_inside.join('\n')), text: `+ ${project.also_inside.length} more inside` }));
  return el('p', { class: 'origin' },
    el('span', { class: 'type', text: action.type.replaceAll('_', ' ') }),
    el('span', { class: 'who' }, visibleNodes(proposer(action))),
    el('span', { class: 'project' }, visibleNodes(store.projectName(action.projectId))),
    ...rest, time(action.proposedAt));
}

/** What would be done: a command with its colours, or a title and its parameters. */
export function subject(action) {
  if (action.type === 'terminal') return [commandBlock(action.command ?? '')];
  const list = facts(action);
  return [
    el('p', { class: 'title' }, visibleNodes(title(action))),
    list.length ? el('dl', { class: 'facts' }, list.flatMap(([name, value]) => [
      el('dt', {}, visibleNodes(name)), el('dd', {}, visibleNodes(value, '\n'))])) : null,
  ];
}

/** The sentence of reason and scope, the same on a card and in the log. */
export const reasonLine = (record) => el('p', { class: 'reason' }, visibleNodes(sentence(record)));

const marks = { allow: '✓', auto_approve: '✓', scope: '✓', structure: '✓', deny: '✕', ask: '?', require_approval: '?', none: '?' };
const words = { allow: 'allowed', auto_approve: 'allowed', scope: 'allowed', structure: 'allowed', deny: 'denied', ask: 'asks', require_approval: 'asks', none: 'asks' };
const looks = { allowed: 'good', denied: 'bad', asks: 'ask' };

/** The segments of a command, each with what the rules say of it and why. */
export function segmentList(segments) {
  return el('ol', { class: 'segments', 'aria-label': 'Parts of the command' }, segments.map((s) => {
    const said = words[s.verdict] ?? s.verdict ?? 'not recorded';
    return el('li', { class: looks[said] ?? '' },
      el('span', { class: 'verdict' }, el('span', { 'aria-hidden': 'true', text: marks[s.verdict] ?? '·' }), ` ${said}`),
      el('code', { class: 'shell' }, visibleNodes(s.text ?? '')),
      el('span', { class: 'why' }, visibleNodes(s.reason || s.rule || '')));
  }));
}

/** A failure as a person needs it: its name, what it is about, why, and what to do. */
export function failureBox(f) {
  return el('div', { class: 'problem' },
    el('p', {}, el('code', {}, visibleNodes(f.name ?? '')), f.subject ? ': ' : '', visibleNodes(f.subject ?? '')),
    f.cause ? el('p', {}, visibleNodes(f.cause)) : null,
    f.next ? el('p', {}, visibleNodes(f.next)) : null);
}
