// The projects' containers. Stopping and removing are proposed like everything else, by the person who looks.
import { get, post } from './api.js';
import { announce } from './announce.js';
import { byId, el, renew } from './dom.js';
import { may } from './roles.js';
import { visible, visibleNodes } from './visible.js';

/** Reads the containers and shows them. */
export async function showContainers(store, connected) {
  const { containers } = await get(['containers']);
  renew(byId('containers-body'), [containers, store.me, connected, [...store.projects]], () => (containers.length
    ? el('ul', { class: 'list' }, containers.map((c) => entry(c, store, connected)))
    : el('p', { class: 'empty', text: 'No project has a container.' })));
}

function entry(c, store, connected) {
  const up = c.state === 'running';
  const look = { running: 'live', failed: 'bad', provisioning: 'ask' }[c.state] ?? '';
  const problem = el('p', { class: 'problem', role: 'alert', hidden: true });
  const button = (text, type, kind) => el('button', { class: `button ${kind}`, type: 'button', disabled: !connected || !may(store.me, 'developer'),
    'aria-label': `${text} the container of ${visible(store.projectName(c.project))}`, text, on: { click: (e) => propose(e.currentTarget, type, c, store, problem) } });
  return el('li', { class: 'entry-row' },
    el('div', { class: 'grow' }, el('p', { class: 'name' }, visibleNodes(c.name || store.projectName(c.project))),
      el('p', { class: 'row-meta' }, el('span', { class: `standing ${look}`, text: c.state || 'not recorded' }),
        el('span', {}, visibleNodes(store.projectName(c.project))), c.image ? el('code', {}, visibleNodes(c.image)) : null), problem),
    el('div', { class: 'answers' }, up ? button('Stop', 'container_stop', '') : null, button('Remove', 'container_remove', 'danger')));
}

async function propose(button, type, c, store, problem) {
  if (button.ariaBusy === 'true') return;
  button.ariaBusy = 'true';
  problem.hidden = true;
  try {
    const action = await post(['actions'], { projectId: c.project, type });
    store.take(action);
    announce(action.status === 'pending' ? 'Proposed: it waits in the queue.' : `Proposed: ${action.status.replaceAll('_', ' ')}.`);
  } catch (error) {
    problem.textContent = visible(error.message);
    problem.hidden = false;
  }
  button.ariaBusy = 'false';
}
