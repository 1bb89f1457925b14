// The event log, newest first: who did what, with the same sentence as the cards. Pages go back by sequence number.
import { get } from './api.js';
import { byId, choices, el, time } from './dom.js';
import { events as kinds, sentence } from './sentence.js';
import { visible, visibleNodes } from './visible.js';

const page = 100;
const widest = 5000; // events asked for at once
const mostRows = 2000; // older ones leave the page when newer ones come

export class Log {
  active = false;
  #newest = 0; // 0: not known yet
  #oldest = 0;
  #run = 0;

  constructor(store) {
    this.store = store;
    this.list = byId('history-rows');
    this.more = byId('history-more');
    this.more.addEventListener('click', () => this.active && this.#back(++this.#run));
    new IntersectionObserver((seen) => {
      if (seen.some((s) => s.isIntersecting) && this.active && !this.more.hidden && !this.more.disabled) this.#back(++this.#run);
    }, { rootMargin: '400px' }).observe(this.more);
    choices('filter-event', 'any event', kinds.map((k) => [k, k]));
    for (const id of ['filter-project', 'filter-event']) byId(id).addEventListener('change', () => this.reload());
  }

  /** The number of the newest event that is known; the pages go back from there. */
  seen(seq) {
    this.#newest = Math.max(this.#newest, seq);
  }

  async reload() {
    if (!this.active) return;
    const run = ++this.#run;
    this.list.replaceChildren();
    if (!this.#newest) {
      const { events } = await get(['events'], { limit: 1 }).catch(() => ({ events: [] })); // without since: the last ones
      this.seen(events.at(-1)?.seq ?? 0);
    }
    if (run !== this.#run) return;
    this.#oldest = this.#newest + 1;
    await this.#back(run);
  }

  // Goes back over windows of numbers until a page is full: a filter may leave most of a window out.
  async #back(run) {
    const note = byId('history-note');
    this.more.disabled = true;
    try {
      let found = 0;
      for (let window = page; this.#oldest > 1 && found < page; window = Math.min(widest, window * 2)) {
        const since = Math.max(0, this.#oldest - 1 - window);
        const answer = await get(['events'], { since, limit: this.#oldest - 1 - since, project: byId('filter-project').value, type: byId('filter-event').value });
        if (run !== this.#run || !this.active) return;
        const events = answer.events.filter((e) => e.seq < this.#oldest).reverse();
        this.#oldest = since + 1;
        found += events.length;
        this.list.append(...events.map((e) => line(e, this.store)));
      }
      this.more.hidden = this.#oldest <= 1;
      note.textContent = this.list.childElementCount ? '' : 'Nothing is in the log.';
    } catch (error) {
      if (run === this.#run) note.textContent = visible(error.message);
    } finally {
      if (run === this.#run) this.more.disabled = false;
    }
  }

  /** Takes an event as it happens. */
  event(e) {
    this.seen(e.seq);
    const [project, type] = ['filter-project', 'filter-event'].map((id) => byId(id).value);
    if (!this.active || (project && e.project !== project) || (type && e.type !== type)) return;
    this.list.prepend(line(e, this.store));
    while (this.list.childElementCount > mostRows) {
      this.list.lastElementChild.remove();
      this.#oldest = Number(this.list.lastElementChild.firstElementChild.dataset.seq);
      this.more.hidden = false;
    }
  }
}

/** What an event says beyond its name. */
export function said(e) {
  const p = e.payload ?? {};
  switch (e.type) {
    case 'proposed_action.created':
      return sentence(p);
    case 'proposed_action.denied':
      return p.reason ? `Reason: ${p.reason}` : 'No reason was given.';
    case 'permission.granted':
      return p.pattern ? `Wrote ${p.pattern}.` : `Agent ${p.agentId} may do ${p.actionType} without a question.`;
    case 'action.executed':
    case 'action.failed':
      if (p.failure) return [p.failure.name, p.failure.cause].filter(Boolean).join(': ');
      return typeof p.exitCode === 'number' ? `Exit code ${p.exitCode}.` : '';
    default:
      return Object.entries(p).filter(([, v]) => typeof v !== 'object').map(([k, v]) => `${k}: ${v}`).join(', ');
  }
}

function line(e, store) {
  const text = said(e);
  const actor = e.actor?.id || e.actor?.kind || 'not recorded';
  return el('li', {}, el('div', { class: 'row log-line', data: { seq: String(e.seq), type: e.type } },
    el('span', { class: 'event', text: e.type }),
    el('span', { class: 'row-meta' }, el('span', {}, visibleNodes(String(actor))),
      e.project ? el('span', {}, visibleNodes(store.projectName(e.project))) : null,
      e.payload?.actionType ? el('span', { text: e.payload.actionType.replaceAll('_', ' ') }) : null, time(e.at)),
    text ? el('p', { class: 'reason' }, visibleNodes(text)) : null));
}
