// The history: actions from the newest on, page by page, filtered by the hub where it can and here by text. Rows far
// away cost nothing to draw (content-visibility in the style sheet), so thousands of them stay usable.
import { get } from './api.js';
import { commandBlock, commandLine } from './code.js';
import { byId, choices, el, time } from './dom.js';
import { diffBlock } from './diff.js';
import { outputNodes } from './output.js';
import { failureBox, reasonLine } from './parts.js';
import { decider, held, standing, statuses, types } from './sentence.js';
import { facts, outcomeText, proposer, title } from './shape.js';
import { visible, visibleNodes } from './visible.js';

const page = 100;
const enough = 40; // matches of a text filter at a time

export class History {
  #rows = new Map();
  #before;
  #looked = 0;
  #run = 0; // counts the questions: the answer to an old one is left alone
  #timer = 0;

  constructor(store) {
    this.store = store;
    this.list = byId('history-rows');
    this.more = byId('history-more');
    choices('filter-status', 'any status', statuses.map((s) => [s, s.replaceAll('_', ' ')]));
    choices('filter-type', 'any type', types.map((t) => [t, t.replaceAll('_', ' ')]));
    choices('filter-project', 'any project', []);
    choices('filter-agent', 'any agent', []);
    choices('filter-decided', 'any decision', [['person', 'by a person'], ['rules', 'by the rules']]);
    byId('filters').addEventListener('submit', (e) => e.preventDefault());
    for (const id of ['filter-status', 'filter-type', 'filter-project', 'filter-agent', 'filter-decided']) byId(id).addEventListener('change', () => this.reload());
    byId('filter-text').addEventListener('input', () => {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.reload(), 150);
    });
    this.more.addEventListener('click', () => this.active && this.#next());
    new IntersectionObserver((seen) => {
      if (seen.some((s) => s.isIntersecting) && this.active && !this.more.hidden && !this.more.disabled) this.#next();
    }, { rootMargin: '400px' }).observe(this.more);
    store.addEventListener('loaded', () => {
      choices('filter-project', 'any project', [...store.projects.values()].map((p) => [p.id, visible(p.name || p.id)]));
      this.reload();
    });
    store.addEventListener('change', () => this.#refresh());
    for (const event of ['decided', 'ended']) store.addEventListener(event, ({ detail: a }) => this.#rows.get(a.id)?.update(a));
  }

  active = true;
  refreshing = 0;
  stale = false;

  /** The choices of the agent filter. */
  agents(ids) {
    choices('filter-agent', 'any agent', ids.map((id) => [id, visible(id)]));
  }

  #query(before) {
    const value = (name) => byId(`filter-${name}`).value;
    return { status: value('status'), type: value('type'), project: value('project'), agent: value('agent'), decided: value('decided'), limit: page, before };
  }

  /** Begins anew from the newest action. */
  async reload() {
    if (!this.active) return;
    this.#before = undefined;
    this.#looked = 0;
    await this.#load(++this.#run, true);
  }

  async #next() {
    await this.#load(++this.#run, false);
  }

  async #load(run, anew) {
    const text = byId('filter-text').value.trim().toLowerCase();
    const note = byId('history-note');
    this.more.disabled = true;
    let found = 0;
    let first = anew;
    try {
      do {
        const answer = await get(['actions'], this.#query(this.#before));
        if (run !== this.#run) return;
        const matching = answer.actions.filter((a) => !text || searched(a, this.store).includes(text));
        if (first) this.#clear();
        first = false;
        found += matching.length;
        this.#looked += answer.actions.length;
        this.#before = answer.next;
        this.#append(matching);
        if (text) note.textContent = `Looked through ${this.#looked} …`;
      } while (text && this.#before && found < enough);
      this.more.hidden = !this.#before;
      this.#count(text);
    } catch (error) {
      if (run === this.#run) note.textContent = visible(error.message);
    } finally {
      if (run === this.#run) this.more.disabled = false;
    }
  }

  #count(text) {
    const shown = this.#rows.size;
    byId('history-note').textContent = shown === 0 ? 'Nothing matches.' : text ? `${shown} of ${this.#looked} looked at` : this.#before ? '' : `${shown} in all`;
  }

  #clear() {
    this.#rows.clear();
    this.list.replaceChildren();
  }

  #append(actions) {
    const made = document.createDocumentFragment();
    for (const a of actions) {
      if (this.#rows.has(a.id)) continue;
      const row = new Row(a, this.store);
      this.#rows.set(a.id, row);
      made.append(row.element);
    }
    this.list.append(made);
  }

  // Most of what changed stands among the newest: the first page is asked for again and laid over what is shown. What
  // changes while the answer is on its way has it asked for once more.
  #refresh() {
    if (!this.active) return;
    this.stale = true;
    this.refreshing ||= setTimeout(async () => {
      const run = this.#run;
      this.stale = false;
      try {
        const answer = await get(['actions'], this.#query());
        if (run === this.#run && this.active) this.#lay(answer);
      } catch {
        // The connection will say that it fell.
      }
      this.refreshing = 0;
      if (this.stale) this.#refresh();
    }, 200);
  }

  #lay(answer) {
    const text = byId('filter-text').value.trim().toLowerCase();
    const fresh = answer.actions.filter((a) => !text || searched(a, this.store).includes(text));
    const here = new Set(fresh.map((a) => a.id));
    const until = answer.next ? answer.actions.at(-1).cursor : -Infinity;
    for (const [id, row] of this.#rows) { // what the filters do not let through any more
      if (row.action.cursor <= until || here.has(id)) continue;
      row.element.remove();
      this.#rows.delete(id);
    }
    let at = this.list.firstElementChild;
    for (const a of fresh) {
      const row = this.#rows.get(a.id);
      if (row) {
        row.update(a);
        if (row.element === at) at = at.nextElementSibling;
      } else {
        const made = new Row(a, this.store);
        this.#rows.set(a.id, made);
        this.list.insertBefore(made.element, at);
      }
    }
    this.#count(text);
  }
}

const searched = (a, store) => [title(a), a.type, proposer(a), store.projectName(a.projectId), a.decidedBy, a.reason, a.rule, a.id]
  .filter(Boolean).join('\n').toLowerCase();

// A row opens into its details, which are made when they are asked for.
class Row {
  constructor(action, store) {
    this.store = store;
    this.mark = el('span');
    this.meta = el('span', { class: 'row-meta' });
    const line = action.type === 'terminal' ? commandLine(action.command ?? '') : el('span', { class: 'title' }, visibleNodes(title(action)));
    this.details = el('details', { class: 'row', data: { id: action.id }, on: { toggle: () => this.#fill() } },
      el('summary', {}, this.mark, el('span', { class: 'row-what' }, line), this.meta));
    this.body = el('div', { class: 'row-body' });
    this.details.append(this.body);
    this.element = el('li', {}, this.details);
    this.update(action);
  }

  update(action) {
    this.action = action;
    const [word, look] = standing(action);
    const text = `${word} ${decider(action)}`;
    if (this.text === text) return;
    this.text = text;
    this.mark.className = `standing ${look}`;
    this.mark.textContent = word;
    this.details.dataset.status = action.status;
    this.meta.replaceChildren(el('span', {}, visibleNodes(proposer(action))), el('span', {}, visibleNodes(this.store.projectName(action.projectId))),
      el('span', {}, visibleNodes(decider(action))), time(action.proposedAt));
    if (this.details.open) this.#fill();
  }

  async #fill() {
    if (!this.details.open) return;
    // A list leaves out what is long; the whole is asked for when it is looked at.
    const a = await get(['actions', this.action.id]).catch(() => this.action);
    const list = facts(a);
    const output = outcomeText(a);
    const parts = [
      a.type === 'terminal' ? commandBlock(a.command ?? '') : null,
      list.length ? el('dl', { class: 'facts' }, list.flatMap(([n, v]) => [el('dt', {}, visibleNodes(n)), el('dd', {}, visibleNodes(v, '\n'))])) : null,
      reasonLine(a),
      a.decidedBy && a.rejectionReason ? el('p', {}, 'Reason of the refusal: ', visibleNodes(a.rejectionReason)) : null,
      a.heldAtMachine ? el('p', { class: 'held' }, held[0], el('code', { class: 'entry', text: held[1] }), held[2]) : null,
      a.cwd ? el('p', { class: 'cwd' }, 'in ', visibleNodes(a.cwd)) : null,
      output ? el('pre', { class: 'output', tabindex: '0', role: 'group', 'aria-label': 'Output' }, outputNodes(output)) : null,
      a.outcome?.failure ? failureBox(a.outcome.failure) : null,
      el('p', { class: 'id' }, 'id ', el('code', {}, visibleNodes(a.id))),
    ];
    this.body.replaceChildren(...parts.filter(Boolean));
    if (a.type !== 'write_file' && a.type !== 'instruction_patch') return;
    // An old action may have nothing to compare with any more; one that was carried out differs from nothing.
    const { diff } = await get(['actions', a.id, 'preview']).catch(() => ({}));
    const content = a.params?.content;
    if (diff) this.body.prepend(diffBlock(diff));
    else if (content) this.body.prepend(el('pre', { class: 'output', tabindex: '0', role: 'group', 'aria-label': 'Content' }, visibleNodes(content, '\n\t')));
  }
}
