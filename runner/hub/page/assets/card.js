// One card of the queue: what would be done, why it asks, what always allow would write, and the three answers.
import { diffBlock } from './diff.js';
import { el } from './dom.js';
import { origin, reasonLine, segmentList, subject } from './parts.js';
import { may } from './roles.js';
import { remembered } from './sentence.js';
import { proposer, title } from './shape.js';
import { visible, visibleNodes } from './visible.js';

let count = 0; // for ids within the document

export class Card {
  /** `decide(card, how, reason)` carries a click out; `how` is approve, always or deny. */
  constructor(action, store, decide) {
    this.action = action;
    this.store = store;
    this.decide = decide;
    const id = `card-${++count}`;
    const act = (how) => () => (how === 'deny' ? this.askReason() : decide(this, how));
    this.approve = button('Approve', 'primary', 'a', act('approve'));
    this.deny = button('Deny…', 'danger', 'd', act('deny'));
    this.always = button('Always allow', '', 'Shift+A', act('always'));
    this.always.setAttribute('aria-describedby', `${id}-always`);
    this.note = el('div', { class: 'writes', id: `${id}-always`, text: 'Asking what always allow would write …' });
    this.problem = el('p', { class: 'problem', role: 'alert', hidden: true });
    this.details = el('div', { class: 'details' });
    this.form = this.#reasonForm(id);
    this.article = el('article', { class: 'card', tabindex: '-1', 'aria-labelledby': `${id}-name`, data: { id: action.id, status: 'pending' } },
      el('h3', { class: 'unseen', id: `${id}-name`, text: `${proposer(action)} proposes: ${visible(title(action)).slice(0, 300)}` }),
      origin(action, store), ...subject(action), this.details, reasonLine(action), this.problem,
      el('div', { class: 'answers' }, this.approve, this.always, this.deny), this.note, this.form);
    this.element = el('li', {}, this.article);
    this.#preview();
  }

  async #preview() {
    let preview;
    try {
      preview = await this.store.preview(this.action.id);
    } catch (error) {
      this.note.textContent = `What always allow would write is not known: ${visible(error.message)}`;
      return;
    }
    const parts = [];
    if (telling(preview.segments, this.action)) parts.push(segmentList(preview.segments));
    if (preview.diff) parts.push(diffBlock(preview.diff));
    else if (this.action.type === 'write_file') parts.push(el('p', { class: 'writes', text: 'The file has this content already.' }));
    this.details.replaceChildren(...parts);
    this.#writes(preview.always);
    this.article.dataset.preview = 'shown';
  }

  #writes(always) {
    const w = remembered(always, { agent: proposer(this.action), type: this.action.type });
    if (!w) {
      this.note.textContent = '';
      return;
    }
    this.refused = w.refused === true;
    const list = (entries) => entries.map((e) => [' ', el('code', { class: 'entry' }, visibleNodes(e))]);
    this.note.replaceChildren(
      el('span', { text: w.refused ? w.text : `Always allow ${w.text}` }), ...(w.entries ? list(w.entries).flat() : []),
      ...(w.goesOn ? [el('span', { text: `; it ${w.goesOn.text}` }), ...list(w.goesOn.entries).flat()] : []));
    this.enable(this.enabled);
  }

  /** Makes the answers available or not; `why` stands as their title. */
  enable(on, why = '') {
    this.enabled = on;
    const { me } = this.store;
    const free = on && !this.busy && may(me, 'developer');
    this.approve.disabled = !free;
    this.deny.disabled = !free;
    this.always.disabled = !free || this.refused === true || !may(me, 'maintainer');
    this.approve.title = this.deny.title = may(me, 'developer') ? why : 'A developer or above decides';
    this.always.title = this.refused ? 'A person decides about this kind each time' : may(me, 'maintainer') ? why : 'A maintainer or above may do this';
  }

  /** Marks that an answer is on its way. */
  wait(on) {
    this.busy = on;
    if (on && this.article.contains(document.activeElement)) this.article.focus({ preventScroll: true }); // from a button that goes
    this.article.toggleAttribute('aria-busy', on);
    this.enable(this.enabled);
  }

  /** Says why an answer was not taken. */
  fail(text) {
    this.problem.textContent = visible(text);
    this.problem.hidden = text === '';
  }

  /** Opens the field for the reason. */
  askReason() {
    if (this.deny.disabled) return;
    this.form.hidden = false;
    this.form.elements.reason.focus();
  }

  #reasonForm(id) {
    const close = () => {
      form.hidden = true;
      this.article.focus();
    };
    const field = el('textarea', { name: 'reason', id: `${id}-reason`, rows: '2', maxlength: '2000', on: {
      keydown: (e) => {
        if (e.key === 'Escape') close();
        else if (e.key === 'Enter' && !e.shiftKey && !e.isComposing) form.requestSubmit();
        else return;
        e.preventDefault();
        e.stopPropagation();
      },
    } });
    const form = el('form', { class: 'reason-form', hidden: true, on: {
      submit: (e) => {
        e.preventDefault();
        this.decide(this, 'deny', field.value.trim());
      },
    } },
    el('label', { for: `${id}-reason`, text: 'Why not? The agent reads it in place of a result.' }), field,
    el('div', { class: 'answers' }, el('button', { class: 'button danger', text: 'Deny' }),
      el('button', { class: 'button', type: 'button', text: 'Cancel', on: { click: close } }),
      el('span', { class: 'hint', text: 'Enter sends, Esc cancels' })));
    return form;
  }
}

// One part that is the whole command, and asks, says no more than the sentence below it.
const telling = (segments, action) => segments?.length > 1 || (segments?.length === 1 && (segments[0].text !== action.command || segments[0].verdict === 'deny'));

function button(text, kind, key, click) {
  return el('button', { class: `button ${kind}`, type: 'button', 'aria-keyshortcuts': key, on: { click } }, text, ' ',
    el('kbd', { 'aria-hidden': 'true', text: key.replace('Shift+', '⇧') }));
}
