// Agents and how far each may go without a question: the toggle writes the wildcard row of its autonomy.
import { get, put } from './api.js';
import { announce } from './announce.js';
import { byId, el, renew } from './dom.js';
import { may } from './roles.js';
import { visible, visibleNodes } from './visible.js';

/** Reads agents and their rows and shows them; gives the agents' ids. */
export async function showAgents(store, connected) {
  const body = byId('agents-body');
  const { agents } = await get(['agents']);
  const ids = [...new Set(agents.map((a) => a.project).filter(Boolean))];
  const projects = ids.length === agents.length || agents.every((a) => a.project) ? ids : [...new Set([...ids, ...store.projects.keys()])];
  const rows = new Map(await Promise.all(projects.map(async (id) => [id, (await get(['projects', id, 'autonomy'])).rows])));
  const entries = agents.flatMap((a) => (a.project ? [a.project] : projects).map((project) => [a, project]));
  renew(body, [entries, [...rows], store.me, connected, [...store.projects]], () => (entries.length
    ? el('ul', { class: 'list' }, entries.map(([a, project]) => entry(a, project, rows.get(project) ?? [], store, connected)))
    : el('p', { class: 'empty', text: 'No agent yet. "runner agent add NAME" makes one and prints its token.' })));
  return agents.map((a) => a.id);
}

function entry(agent, project, rows, store, connected) {
  const own = rows.filter((r) => r.agent === agent.id || r.agent === '*');
  const all = own.find((r) => r.agent === agent.id && r.actionType === '*');
  const auto = all?.mode === 'auto_approve';
  const specific = own.filter((r) => r.actionType !== '*');
  const problem = el('p', { class: 'problem', role: 'alert', hidden: true });
  const toggle = el('button', { class: 'toggle', type: 'button', role: 'switch', 'aria-checked': String(auto), disabled: !connected || !may(store.me, 'maintainer'),
    title: may(store.me, 'maintainer') ? null : 'A maintainer or above may change this',
    'aria-label': `Auto mode of ${visible(agent.id)} in ${visible(store.projectName(project))}`, data: { agent: agent.id, project } },
  el('span', { class: 'knob', 'aria-hidden': 'true' }));
  toggle.addEventListener('click', async () => {
    const mode = toggle.getAttribute('aria-checked') === 'true' ? 'require_approval' : 'auto_approve';
    if (toggle.ariaBusy === 'true') return; // disabled, it would lose the focus
    toggle.ariaBusy = 'true';
    problem.hidden = true;
    try {
      await put(['projects', project, 'autonomy'], { agent: agent.id, actionType: '*', mode });
      toggle.setAttribute('aria-checked', String(mode === 'auto_approve'));
      announce(mode === 'auto_approve' ? `${agent.id} is in auto mode.` : `${agent.id} asks again.`);
    } catch (error) {
      problem.textContent = visible(error.message);
      problem.hidden = false;
    }
    toggle.ariaBusy = 'false';
  });
  return el('li', { class: 'entry-row' },
    el('div', { class: 'grow' }, el('p', { class: 'name' }, visibleNodes(agent.id)),
      el('p', { class: 'row-meta' }, el('span', {}, visibleNodes(store.projectName(project)))),
      specific.length ? el('ul', { class: 'chips', 'aria-label': 'Single rules' }, specific.map((r) => el('li', {}, visibleNodes(`${r.actionType.replaceAll('_', ' ')}: ${modes[r.mode] ?? r.mode}`)))) : null,
      problem),
    el('div', { class: 'toggle-box' }, el('span', { 'aria-hidden': 'true', text: 'Auto mode' }), toggle));
}

const modes = { auto_approve: 'without a question', require_approval: 'asks', deny: 'never' };
