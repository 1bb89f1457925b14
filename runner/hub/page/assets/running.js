// What runs now, with its output as it comes, and the last few that ended while somebody looked.
import { get, post } from './api.js';
import { announce } from './announce.js';
import { commandLine } from './code.js';
import { badge, byId, el } from './dom.js';
import { Output, bytes } from './output.js';
import { failureBox, origin } from './parts.js';
import { may } from './roles.js';
import { held, standing } from './sentence.js';
import { outcomeText, title } from './shape.js';
import { visible, visibleNodes } from './visible.js';

const ended = 4; // cards of ended actions that stay
const most = 30; // cards at once; further running actions are counted only

export class Running {
  #cards = new Map();

  constructor(store) {
    this.store = store;
    this.on = true; // until it is said that nobody is there to be asked
    this.list = byId('running-cards');
    store.addEventListener('change', () => this.#sync());
    store.addEventListener('loaded', () => this.#catchUp());
    store.addEventListener('ended', ({ detail: a }) => this.#end(a));
    // An action can be decided and done before it was ever seen running.
    store.addEventListener('decided', ({ detail: a }) => {
      if (a.decidedBy && (a.status === 'executed' || a.status === 'failed')) this.#end(a);
    });
  }

  connected(on) {
    this.on = on;
    for (const c of this.#cards.values()) this.#offer(c);
  }

  #offer(card) {
    const allowed = may(this.store.me, 'developer');
    card.cancel.disabled = !this.on || !allowed;
    card.cancel.title = allowed ? '' : 'A developer or above may do this';
  }

  /** Takes a piece of output from the stream. */
  output({ actionId, offset, data }) {
    const card = this.#cards.get(actionId);
    if (card && !card.done) card.output.push(offset, bytes(data));
  }

  #sync() {
    for (const a of this.store.running.values()) {
      if (!this.#cards.has(a.id) && this.#cards.size < most) this.#open(a);
      this.#stand(this.#cards.get(a.id), a);
    }
    badge('count-running', this.store.running.size);
    byId('running-empty').hidden = this.#cards.size > 0;
  }

  // An action may be held at its machine after it was sent there, and go on when somebody there has confirmed it.
  #stand(card, a) {
    if (!card || card.done) return;
    const [word, look] = standing(a);
    card.status.className = `standing ${look}`;
    card.status.textContent = word;
    if (card.held.hidden && a.heldAtMachine) announce(`${visible(title(a)).slice(0, 100)} ${held.join('').replace(/^It /, '')}`);
    card.held.hidden = !a.heldAtMachine;
  }

  // After a reconnect: pieces of output that came meanwhile are asked for.
  #catchUp() {
    this.#sync();
    for (const c of this.#cards.values()) {
      this.#offer(c);
      if (!c.done) this.#fetch(c);
    }
  }

  #open(a) {
    const output = new Output(`Output of ${visible(title(a)).slice(0, 100)}`);
    output.element.hidden = true;
    const status = el('span', { class: 'standing live', text: 'running' });
    const cancel = el('button', { class: 'button quiet', type: 'button', text: 'Cancel', on: { click: () => this.#cancel(card) } });
    const problem = el('div', { role: 'alert' });
    const note = el('p', { class: 'held', hidden: true }, held[0], el('code', { class: 'entry', text: held[1] }), held[2]);
    const article = el('article', { class: 'card run', tabindex: '-1', data: { id: a.id, status: a.status } },
      el('div', { class: 'run-head' }, status,
        el('h3', { class: 'run-title' }, a.type === 'terminal' ? commandLine(a.command ?? '') : el('span', {}, visibleNodes(title(a)))), cancel),
      origin(a, this.store), note, output.element, problem);
    const card = { id: a.id, element: el('li', {}, article), article, output, status, cancel, problem, held: note, done: false };
    this.#cards.set(a.id, card);
    this.#offer(card);
    this.list.prepend(card.element);
    this.#fetch(card);
    return card;
  }

  async #fetch(card) {
    try {
      for (let more = true; more && !card.done;) {
        const piece = await get(['actions', card.id, 'output'], { offset: card.output.next });
        const data = bytes(piece.data);
        if (!card.done) card.output.push(piece.offset, data);
        more = data.length > 0 && !piece.done;
      }
    } catch {
      // Its result brings the output, too.
    }
  }

  #end(a) {
    const card = this.#cards.get(a.id) ?? this.#open(a);
    card.done = true;
    card.held.hidden = true;
    const [word, look] = standing(a);
    card.status.className = `standing ${look}`;
    card.status.textContent = word;
    card.article.dataset.status = a.status;
    card.cancel.replaceWith(el('button', { class: 'button quiet', type: 'button', text: 'Dismiss', on: { click: () => this.#drop(card) } }));
    const text = outcomeText(a);
    if (text) card.output.finish(text);
    card.problem.replaceChildren(...(a.outcome?.failure ? [failureBox(a.outcome.failure)] : []));
    announce(`${visible(title(a)).slice(0, 100)}: ${word}.`);
    const done = [...this.#cards.values()].filter((c) => c.done);
    for (const c of done.slice(0, Math.max(0, done.length - ended))) this.#drop(c);
  }

  #drop(card) {
    const focused = card.element.contains(document.activeElement);
    card.element.remove();
    this.#cards.delete(card.id);
    if (focused) byId('running').focus();
    this.#sync();
  }

  async #cancel(card) {
    card.cancel.disabled = true;
    try {
      await post(['actions', card.id, 'cancel']);
      announce('Cancelling.');
    } catch (error) {
      card.cancel.disabled = false;
      card.problem.replaceChildren(el('p', { class: 'problem', text: visible(error.message) }));
    }
  }
}
