// What a page would hide or obey is shown: control and bidirectional characters, blanks that are no space, characters
// without a shape. The same rule stands in runner/shown for the command line; a test compares the two.
import { el } from './dom.js';

// A character outside the first class is not graphic; U+2800, the empty Braille cell, is graphic by its category only.
const hidden = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]|[\p{Default_Ignorable_Code_Point}\p{Variation_Selector}\u2800]/u;
const hiddenRuns = new RegExp(`(?:${hidden.source})+`, 'gu');

/** Reports whether a character is shown by its number. */
export const isHidden = (character) => hidden.test(character);

const number = (c) => `<U+${c.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}>`;

/** The text with every hidden character by its number; `kept` are characters that stay, such as line breaks. */
export function visible(text, kept = '') {
  return text.replace(hiddenRuns, (run) => [...run].map((c) => (kept.includes(c) ? c : number(c))).join(''));
}

/**
 * The text as nodes, hidden characters marked, so that a written "<U+202E>" is told from a shown one. Characters in
 * `kept` stay as they are.
 */
export function visibleNodes(text, kept = '') {
  const nodes = [];
  let plain = '';
  let at = 0;
  for (const m of text.matchAll(hiddenRuns)) {
    plain += text.slice(at, m.index);
    at = m.index + m[0].length;
    for (const c of m[0]) {
      if (kept.includes(c)) {
        plain += c;
        continue;
      }
      if (plain) nodes.push(document.createTextNode(plain));
      plain = '';
      nodes.push(el('span', { class: 'hidden-character', title: 'a character that would not be seen', text: number(c) }));
    }
  }
  plain += text.slice(at);
  if (plain) nodes.push(document.createTextNode(plain));
  return nodes;
}
