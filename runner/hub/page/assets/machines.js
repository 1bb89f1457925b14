// The daemons: which are connected, what is wrong with them, and which terminals are open.
import { get } from './api.js';
import { badge, byId, el, time } from './dom.js';
import { failureBox } from './parts.js';
import { visibleNodes } from './visible.js';

/** Reads the daemons and shows them. */
export async function showMachines(store) {
  const { daemons } = await get(['daemons']);
  badge('count-machines', daemons.filter((d) => d.health?.length).length);
  byId('machines-body').replaceChildren(daemons.length
    ? el('ul', { class: 'list' }, daemons.map((d) => entry(d, store)))
    : el('p', { class: 'empty', text: 'No machine is paired. "runner login" on a machine pairs it with this hub.' }));
}

function entry(d, store) {
  const terminals = Array.isArray(d.terminals) ? d.terminals.length : d.terminals ?? 0;
  const projects = (d.projects ?? []).map((p) => store.projectName(typeof p === 'string' ? p : p.id));
  return el('li', { class: 'entry-row' }, el('div', { class: 'grow' },
    el('p', { class: 'name' }, el('span', { class: `standing ${d.connected ? 'live' : ''}`, text: d.connected ? 'connected' : 'away' }), ' ', visibleNodes(d.name || d.id)),
    el('p', { class: 'row-meta' },
      projects.length ? el('span', {}, visibleNodes(projects.join(', '))) : null,
      el('span', { text: terminals === 1 ? '1 open terminal' : `${terminals} open terminals` }),
      el('span', {}, 'last contact ', d.lastContact ? time(d.lastContact) : 'not recorded')),
    d.fingerprint ? el('p', { class: 'fingerprint' }, visibleNodes(d.fingerprint)) : null,
    (d.health ?? []).map((h) => failureBox(h.failure ?? h))));
}
