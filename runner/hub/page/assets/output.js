// The output of a command, live: bytes by their offset, decoded, bounded, and without the terminal's redraws.
import { el } from './dom.js';
import { visibleNodes } from './visible.js';

const mostKept = 256 * 1024; // characters; older ones leave the page, not the hub

/** Decodes base64 to bytes. */
export function bytes(base64) {
  const raw = atob(base64);
  const out = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) out[i] = raw.charCodeAt(i);
  return out;
}

// Colours and line erasing are no content. What else a terminal would obey stays and is made visible.
// eslint-disable-next-line no-control-regex
const decoration = /\x1b\[[0-9;:]*m|\x1b\[[0-2]?K/g;

/** A line as a terminal would leave it: what a carriage return went back over is replaced. */
function settled(line) {
  const parts = line.replace(decoration, '').split('\r');
  let shown = parts[0];
  for (const p of parts.slice(1)) shown = p + shown.slice(p.length);
  return shown;
}

/** The text as nodes for a <pre>. */
export function outputNodes(text) {
  return visibleNodes(text.split('\n').map(settled).join('\n'), '\n\t');
}

/** A growing output. `next` is the offset of the byte that is expected. */
export class Output {
  #decoder = new TextDecoder();
  #text = '';
  #cut = false;
  #frame = 0;
  next = 0;

  constructor(label) {
    this.element = el('pre', { class: 'output', tabindex: '0', role: 'group', 'aria-label': label });
  }

  /** Takes bytes that begin at offset: what is known already is left out, and a gap is said. */
  push(offset, data) {
    if (offset + data.length <= this.next) return;
    if (offset > this.next) {
      this.#text += `\n… ${offset - this.next} bytes were dropped …\n`;
    } else if (offset < this.next) {
      data = data.subarray(this.next - offset);
      offset = this.next;
    }
    this.next = offset + data.length;
    this.#text += this.#decoder.decode(data, { stream: true });
    if (this.#text.length > mostKept) {
      const from = this.#text.length - mostKept;
      const line = this.#text.indexOf('\n', from);
      this.#text = this.#text.slice(line < 0 ? from : line + 1);
      this.#cut = true;
    }
    this.#frame ||= requestAnimationFrame(() => this.#draw());
  }

  /** Replaces everything by the final text. */
  finish(text) {
    this.#text = text;
    this.#cut = false;
    this.#draw();
  }

  #draw() {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    const e = this.element;
    const atEnd = e.scrollTop + e.clientHeight >= e.scrollHeight - 24;
    const head = this.#cut ? [el('span', { class: 'cut', text: '… earlier output is not shown here\n' })] : [];
    e.replaceChildren(...head, ...outputNodes(this.#text));
    e.hidden = this.#text === '';
    if (atEnd) e.scrollTop = e.scrollHeight;
  }
}
