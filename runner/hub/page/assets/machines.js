// The daemons: which are connected, what is wrong with them, which terminals are open, and the end of their right.
import { get, remove } from './api.js';
import { announce } from './announce.js';
import { badge, byId, el, renew, time } from './dom.js';
import { failureBox } from './parts.js';
import { may } from './roles.js';
import { visible, visibleNodes } from './visible.js';

/** Reads the daemons and shows them. */
export async function showMachines(store, connected) {
  const { daemons } = await get(['daemons']);
  badge('count-machines', daemons.filter((d) => d.health?.length).length);
  const body = byId('machines-body');
  // Somebody who is about to answer keeps what they look at; the next look comes soon.
  if (body.querySelector('[data-sure]')) return;
  renew(body, [daemons, store.me, connected, [...store.projects]], () => (daemons.length
    ? el('ul', { class: 'list' }, daemons.map((d) => entry(d, store, connected)))
    : el('p', { class: 'empty', text: 'No machine is paired. "runner login" on a machine pairs it with this hub.' })));
}

function entry(d, store, connected) {
  const terminals = d.terminals ?? 0;
  const problem = el('p', { class: 'problem', role: 'alert', hidden: true });
  return el('li', { class: 'entry-row', data: { id: d.id } }, el('div', { class: 'grow' },
    el('p', { class: 'name' }, el('span', { class: `standing ${d.connected ? 'live' : ''}`, text: d.connected ? 'connected' : 'away' }), ' ', visibleNodes(d.name || d.id)),
    el('p', { class: 'row-meta' },
      d.projects?.length ? el('span', {}, visibleNodes(d.projects.map((id) => store.projectName(id)).join(', '))) : null,
      el('span', { text: terminals === 1 ? '1 open terminal' : `${terminals} open terminals` }),
      el('span', {}, 'last contact ', d.lastContact ? time(d.lastContact) : 'not recorded')),
    d.fingerprint ? el('p', { class: 'fingerprint' }, visibleNodes(d.fingerprint)) : null,
    (d.health ?? []).map((h) => failureBox(h.failure ?? {})), problem), revoke(d, problem, connected && mayRevoke(store.me, d)));
}

const mayRevoke = (me, d) => may(me, 'maintainer') || (may(me, 'developer') && d.owner === me.id);

// Revoking can't be taken back, so it takes a second click, which leaving the button forgets.
function revoke(d, problem, free) {
  const name = visible(d.name || d.id);
  const button = el('button', { class: 'button quiet danger', type: 'button', text: 'Revoke', 'aria-label': `Revoke ${name}`, disabled: !free });
  const back = () => {
    delete button.dataset.sure;
    button.textContent = 'Revoke';
    button.setAttribute('aria-label', `Revoke ${name}`);
  };
  button.addEventListener('blur', back);
  button.addEventListener('click', async () => {
    if (!button.dataset.sure) {
      button.dataset.sure = 'asked';
      button.textContent = 'Revoke for good?';
      button.setAttribute('aria-label', `Revoke ${name} for good?`);
      return;
    }
    back();
    button.disabled = true;
    try {
      await remove(['daemons', d.id]);
      announce(`${name} is revoked.`);
      button.closest('li').remove();
      byId('machines').focus();
    } catch (error) {
      problem.textContent = visible(error.message);
      problem.hidden = false;
      button.disabled = false;
    }
  });
  return button;
}
