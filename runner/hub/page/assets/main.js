// Puts the page together: the stream feeds the store, the panels show it.
import { post, signedOut } from './api.js';
import { announce } from './announce.js';
import { showAgents } from './agents.js';
import { showContainers } from './containers.js';
import { byId, el, outdate, refreshTimes } from './dom.js';
import { Feed } from './feed.js';
import { History } from './history.js';
import { keyboard, panels } from './keys.js';
import { Log } from './log.js';
import { showMachines } from './machines.js';
import { notifications } from './notify.js';
import { Queue } from './queue.js';
import { Running } from './running.js';
import { Store } from './store.js';
import { theming } from './theming.js';
import { visible } from './visible.js';

const store = new Store();
const queue = new Queue(store);
const running = new Running(store);
const history = new History(store);
const log = new Log(store);
let connected = false;

// --- panels -----------------------------------------------------------------------------------------------------

function show(panel) {
  document.body.dataset.panel = panel;
  document.body.dataset.side = ['queue', 'running'].includes(panel) ? document.body.dataset.side ?? 'history' : panel;
  for (const a of byId('nav').querySelectorAll('a')) {
    if (a.hash === `#${panel}`) {
      a.setAttribute('aria-current', 'page');
      a.scrollIntoView({ block: 'nearest', inline: 'center' });
    } else a.removeAttribute('aria-current');
  }
}

function go(panel) {
  if (connected && lists[panel]) refresh(panel, 0);
  if (location.hash !== `#${panel}`) window.history.replaceState(null, '', `#${panel}`);
  show(panel);
  byId(panel).focus({ preventScroll: true });
  byId(panel).scrollIntoView({ block: 'nearest' });
}

byId('nav').addEventListener('click', (e) => {
  const link = e.target.closest('a');
  if (!link) return;
  e.preventDefault();
  go(link.hash.slice(1));
});
window.addEventListener('resize', () => show(document.body.dataset.panel)); // a phone that is turned
window.addEventListener('hashchange', () => panels.includes(location.hash.slice(1)) && go(location.hash.slice(1)));

function choose(what) {
  history.active = what === 'actions';
  log.active = what === 'log';
  byId('show-actions').setAttribute('aria-pressed', String(history.active));
  byId('show-log').setAttribute('aria-pressed', String(log.active));
  for (const id of ['filter-text', 'filter-status', 'filter-type', 'filter-agent', 'filter-decided']) byId(id).hidden = log.active;
  byId('filter-event').hidden = history.active;
  byId('history-rows').replaceChildren();
  (history.active ? history : log).reload();
}
byId('show-actions').addEventListener('click', () => choose('actions'));
byId('show-log').addEventListener('click', () => choose('log'));

// What is no action is asked for again when an event may have changed it, at most once at a time.
const lists = {
  agents: async () => history.agents(await showAgents(store, connected)),
  containers: () => showContainers(store, connected),
  machines: () => showMachines(store, connected),
};
const due = new Map();
function refresh(name, wait = 300) {
  if (due.has(name)) return;
  due.set(name, setTimeout(async () => {
    due.delete(name);
    try {
      await lists[name]();
    } catch (error) {
      byId(`${name}-body`).replaceChildren(el('p', { class: 'problem', text: visible(error.message) }));
    }
  }, wait));
}

// --- the connection ---------------------------------------------------------------------------------------------

const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });
let away = null;
const retry = el('button', { class: 'button', type: 'button', text: 'Try now' });
const awayText = el('span');

function connection(state) {
  connected = state.name === 'open';
  byId('link').dataset.state = state.name;
  byId('link-text').textContent = { open: 'Live', connecting: 'Connecting', away: 'Not connected', 'signed-out': 'Signed out' }[state.name];
  const banner = byId('banner');
  if (state.name === 'away') {
    away = state;
    awayText.textContent = `Not connected to the hub since ${clock.format(state.since)}. What is shown may be old, and nothing can be decided here until it is back.`;
    if (!banner.contains(awayText)) banner.replaceChildren(awayText, ' ', retry);
    banner.hidden = false;
  } else if (state.name === 'signed-out') {
    banner.replaceChildren('This browser is not signed in any more. ', el('a', { href: '/', text: 'Sign in again' }));
    banner.hidden = false;
  } else if (connected) {
    banner.hidden = true;
    if (away) announce('Connected again.');
    away = null;
  }
  queue.connected(connected);
  running.connected(connected);
  signOut.disabled = !connected;
  // With the connection the lists are read anew.
  if (!connected) {
    outdate();
    for (const b of document.querySelectorAll('.list button')) b.disabled = true;
  }
}

const stream = new Feed({
  opened: () => store.load(),
  state: connection,
  event: (type, data) => {
    if (type === 'output') {
      running.output(data);
      return;
    }
    store.event(data);
    log.event(data);
    if (/^(agent|autonomy|permission|member)\b/.test(data.type)) refresh('agents');
    if (/container|^action\./.test(data.type)) refresh('containers', 1000);
    if (/daemon|runner|terminal|health/.test(data.type)) refresh('machines');
    if (/^project\b/.test(data.type)) store.loadProjects().catch(() => {}); // asked for again with the next connection
  },
});
retry.addEventListener('click', () => stream.retry());
// A page that the browser keeps for the way back must not keep one of its few connections to the hub.
window.addEventListener('pagehide', () => stream.pause());
window.addEventListener('pageshow', (e) => e.persisted && stream.resume());
window.addEventListener('online', () => stream.retry());
signedOut.addEventListener('signed-out', () => connection({ name: 'signed-out' }));
store.addEventListener('loaded', () => Object.keys(lists).forEach((name) => refresh(name, 0)));

const signOut = byId('sign-out');
signOut.addEventListener('click', async () => {
  signOut.disabled = true;
  try {
    await post(['logout']);
    location.assign('/');
  } catch (error) {
    if (error.status === 401) location.assign('/'); // it had ended before
    byId('banner').replaceChildren(visible(error.message));
    byId('banner').hidden = false;
    signOut.disabled = false;
  }
});

// --- start ------------------------------------------------------------------------------------------------------

keyboard({ queue, go, theme: theming(byId('theme')) });
notifications(store, (id) => {
  go('queue');
  queue.show(id);
});
show(panels.includes(location.hash.slice(1)) ? location.hash.slice(1) : 'queue');
setInterval(refreshTimes, 5000);
setInterval(() => connected && !document.hidden && refresh('machines'), 15_000);
stream.run();
