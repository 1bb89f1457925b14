// The queue: cards in the order of their proposals, one of them selected, and what a key or a click does to it.
import { post } from './api.js';
import { announce } from './announce.js';
import { Card } from './card.js';
import { badge, byId } from './dom.js';
import { decision } from './sentence.js';
import { proposer, title } from './shape.js';
import { visible } from './visible.js';

// A card that has just moved under the finger is not what the finger meant: for so long after the queue moved by
// itself, an answer is not taken.
const steady = 400; // ms

export class Queue {
  #cards = new Map();
  #selected = null;
  #connected = false;
  #movedAt = 0;
  #timer = 0;
  #mine = new Set(); // decided here: nobody need be told

  constructor(store) {
    this.store = store;
    this.list = byId('queue-cards');
    store.addEventListener('change', () => this.#sync());
    store.addEventListener('loaded', () => this.#sync());
    store.addEventListener('proposed', ({ detail: a }) => announce(`${proposer(a)} proposes: ${visible(title(a)).slice(0, 200)}.`));
    store.addEventListener('decided', ({ detail: a }) => {
      if (!this.#mine.delete(a.id)) announce(`${visible(title(a)).slice(0, 100)} was ${decision(a)}.`);
    });
    this.list.addEventListener('focusin', (e) => {
      const id = e.target.closest('.card')?.dataset.id;
      if (id && id !== this.#selected) this.#select(id, { mine: true });
    });
  }

  /** Answers are possible only while the hub can be asked. */
  connected(on) {
    this.#connected = on;
    for (const c of this.#cards.values()) this.#enable(c);
  }

  #enable(card) {
    card.enable(this.#connected, this.#connected ? '' : 'Not connected to the hub');
  }

  #sync() {
    const { pending } = this.store;
    const before = [...this.#cards.keys()];
    const focused = this.list.contains(document.activeElement);
    for (const [id, card] of this.#cards) {
      if (pending.has(id)) continue;
      card.element.remove();
      this.#cards.delete(id);
    }
    const wanted = [...pending.values()].sort((a, b) => (a.proposedAt < b.proposedAt ? -1 : a.proposedAt > b.proposedAt ? 1 : 0));
    let at = this.list.firstElementChild;
    let moved = before.length > this.#cards.size;
    for (const a of wanted) {
      let card = this.#cards.get(a.id);
      if (!card) {
        card = new Card(a, this.store, (c, how, reason) => this.decide(c, how, reason));
        this.#cards.set(a.id, card);
        this.#enable(card);
        moved ||= at !== null;
      }
      if (card.element === at) at = at.nextElementSibling;
      else this.list.insertBefore(card.element, at);
    }
    if (moved) this.#moved();
    if (!this.#cards.has(this.#selected)) this.#selectNear(before, focused);
    badge('count-queue', this.#cards.size);
    byId('queue-empty').hidden = this.#cards.size > 0;
    byId('queue-note').textContent = this.#cards.size > 1 ? `${this.#cards.size} proposals` : '';
    document.title = this.#cards.size ? `(${this.#cards.size}) runner` : 'runner';
  }

  // What was selected is gone: the next one takes its place, and the focus if it was here.
  #selectNear(before, focused) {
    const rest = before.slice(before.indexOf(this.#selected) + 1).concat(before.slice(0, Math.max(0, before.indexOf(this.#selected))).reverse());
    const next = rest.find((id) => this.#cards.has(id)) ?? this.list.querySelector('.card')?.dataset.id ?? null;
    this.#select(next, { mine: false });
    if (!focused) return;
    if (next) this.#cards.get(next).article.focus({ preventScroll: false });
    else byId('queue').focus();
  }

  #select(id, { mine }) {
    this.list.querySelector('.card[aria-current]')?.removeAttribute('aria-current');
    this.#selected = id;
    const card = this.#cards.get(id);
    card?.article.setAttribute('aria-current', 'true');
    if (mine && performance.now() - this.#movedAt >= steady) this.#ready();
    else this.#moved();
  }

  #moved() {
    this.#movedAt = performance.now();
    delete this.list.dataset.ready;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#ready(), steady);
  }

  #ready() {
    clearTimeout(this.#timer);
    this.#movedAt = -Infinity;
    this.list.dataset.ready = 'true';
  }

  /** Moves the selection by one. */
  step(by) {
    const cards = [...this.list.querySelectorAll('.card')];
    if (!cards.length) return;
    const at = cards.findIndex((c) => c.dataset.id === this.#selected);
    const next = cards[Math.min(cards.length - 1, Math.max(0, document.activeElement?.closest('.card') ? at + by : Math.max(0, at)))];
    next.focus();
    next.scrollIntoView({ block: 'nearest' });
  }

  /** Selects a card from outside, such as a notification. */
  show(id) {
    this.#cards.get(id)?.article.focus();
  }

  /** Opens the selected card's long texts to their full height, or closes them. */
  toggle() {
    this.#cards.get(this.#selected)?.article.classList.toggle('open');
  }

  /** Does to the selected card what a key means. */
  key(how) {
    const card = this.#cards.get(this.#selected);
    if (!card) return;
    if (how === 'deny') card.askReason();
    else if (!(how === 'always' ? card.always : card.approve).disabled) this.decide(card, how);
  }

  /** Sends an answer. `how` is approve, always or deny. */
  async decide(card, how, reason) {
    const { id } = card.action;
    if (!this.#connected || card.busy) return;
    if (how !== 'deny' && this.list.dataset.ready !== 'true') {
      announce('The queue has just moved. Once more, please.');
      return;
    }
    card.fail('');
    card.wait(true);
    try {
      const answer = await post(['actions', id, how], how === 'deny' ? { reason } : {});
      this.#mine.add(id);
      announce(said(how, answer));
      this.store.take(answer.action ?? answer);
    } catch (error) {
      card.wait(false);
      card.fail(error.message);
      // It may have been decided elsewhere meanwhile; the hub's answer to this question is what is shown.
      if (error.status === 409) this.store.event({ payload: { actionId: id } });
    }
  }
}

function said(how, answer) {
  if (how === 'deny') return 'Denied.';
  if (answer.desfecho === 'ja_aprovada') return 'It had been approved already.';
  if (how === 'always') return answer.padraoGravado ? 'Approved, and remembered.' : 'Approved. Nothing was written.';
  return 'Approved.';
}
