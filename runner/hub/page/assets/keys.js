// The keyboard. A key held down decides once, and no key decides while somebody writes or a dialog is open.
import { byId } from './dom.js';

export const panels = ['queue', 'running', 'history', 'agents', 'containers', 'machines'];

/** Listens for keys; `go` shows a panel, `theme` turns to the next theme. */
export function keyboard({ queue, go, theme }) {
  const help = byId('help');
  const openHelp = () => help.showModal();
  byId('help-open').addEventListener('click', openHelp);
  const actions = {
    j: () => queue.step(1),
    k: () => queue.step(-1),
    a: () => queue.key('approve'),
    A: () => queue.key('always'),
    d: () => queue.key('deny'),
    o: () => queue.toggle(),
    t: theme,
    '?': openHelp,
    '/': () => {
      go('history');
      byId('filter-text').select();
      byId('filter-text').focus();
    },
  };
  panels.forEach((p, i) => {
    actions[String(i + 1)] = () => go(p);
  });
  document.addEventListener('keydown', (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || e.isComposing || help.open) return;
    if (e.target instanceof Element && e.target.closest('input, textarea, select')) {
      if (e.key === 'Escape') e.target.blur();
      return;
    }
    const f = actions[e.key];
    if (!f || (e.repeat && e.key !== 'j' && e.key !== 'k')) return;
    e.preventDefault();
    f();
  });
}
