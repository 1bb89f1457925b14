// Building the document. Text enters it as text nodes only; nothing here or elsewhere parses markup.

/**
 * Makes an element. Attributes: `class`, `text`, `on` (listeners by name), `data` (dataset), properties that are
 * booleans (hidden, disabled …) and everything else as an attribute; null and undefined are left out.
 */
export function el(tag, attributes = {}, ...children) {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined) continue;
    if (name === 'class') e.className = value;
    else if (name === 'text') e.textContent = value;
    else if (name === 'on') for (const [event, f] of Object.entries(value)) e.addEventListener(event, f);
    else if (name === 'data') Object.assign(e.dataset, value);
    else if (typeof value === 'boolean') e[name] = value;
    else e.setAttribute(name, value);
  }
  e.append(...children.flat().filter((c) => c !== null && c !== undefined && c !== false));
  return e;
}

/** The element of this id, which the page has. */
export const byId = (id) => document.getElementById(id);

let shown = new WeakMap(); // of what was made from which data

/**
 * Puts what `make` makes of data into body. Where the data are those from before, everything stays, and else the focus
 * does: a list that is read again must not take it from who works in it.
 */
export function renew(body, data, make) {
  const now = JSON.stringify(data);
  if (body.firstElementChild && shown.get(body.firstElementChild) === now) return;
  const label = body.contains(document.activeElement) ? document.activeElement.getAttribute('aria-label') : null;
  const made = make();
  body.replaceChildren(made);
  shown.set(made, now);
  if (label) [...body.querySelectorAll('[aria-label]')].find((e) => e.getAttribute('aria-label') === label)?.focus({ preventScroll: true });
}

/** Has everything made anew the next time. */
export function outdate() {
  shown = new WeakMap();
}

/** Gives a select its choices, as value and text; what was chosen stays chosen where it is still there. */
export function choices(id, any, list) {
  const select = byId(id);
  const { value } = select;
  select.replaceChildren(el('option', { value: '', text: any }), ...list.map(([v, text]) => el('option', { value: v, text })));
  select.value = list.some(([v]) => v === value) ? value : '';
}

const local = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });

/** Says how long before now a time was, in the largest unit that fits. */
export function ago(then, now = Date.now()) {
  const s = Math.max(0, Math.round((now - then) / 1000));
  if (s < 5) return 'just now';
  if (s < 60) return `${s} s ago`;
  if (s < 3600) return `${Math.floor(s / 60)} min ago`;
  if (s < 86400) return `${Math.floor(s / 3600)} h ago`;
  return `${Math.floor(s / 86400)} d ago`;
}

/** A time that keeps saying how long ago it was; refreshTimes moves it on. */
export function time(at) {
  const then = Date.parse(at);
  if (Number.isNaN(then)) return el('span', { text: 'not recorded' });
  return el('time', { datetime: new Date(then).toISOString(), title: local.format(then), text: ago(then) });
}

/** Brings every time on the page up to date. */
export function refreshTimes() {
  const now = Date.now();
  for (const t of document.querySelectorAll('time')) {
    const text = ago(Date.parse(t.dateTime), now);
    if (t.textContent !== text) t.textContent = text;
  }
}

/** Shows a number in a badge, or hides the badge at zero. */
export function badge(id, n) {
  const b = byId(id);
  b.hidden = n === 0;
  b.textContent = n > 999 ? '999+' : String(n);
}
