// The hub's event stream (Server-Sent Events), read with fetch rather than EventSource: its status tells a hub that is
// away from one that no longer knows us, and its keep-alive comments tell a silent connection from a dead one.
import { url } from './api.js';

const firstWait = 500; // ms
const longestWait = 15_000;
const silence = 45_000; // the hub says something at least every 15 s

/**
 * Keeps one connection to the stream and connects again after it fell, from the last event that was seen. Calls
 * `opened()` before the first event of each connection, `event(type, data)` for each, `state(state)` at each change:
 * {name: 'connecting' | 'open' | 'away' | 'signed-out', since, retryAt}, and `alive()` whenever the hub said anything.
 * It begins behind the event numbered `last`, or with what comes where that is 0.
 */
export class Stream {
  #last;
  #waited = 0;
  #ended = false;
  #since = Date.now();
  #stop = null; // ends what is going on now: the wait or the connection

  constructor({ last, opened, event, state, alive }) {
    Object.assign(this, { opened, event, state, alive });
    this.#last = last || null;
  }

  /** Goes on until it is stopped, or the hub no longer knows who this is. */
  async run() {
    this.state({ name: 'connecting' });
    for (;;) {
      const status = await this.#connect().catch(() => 0);
      if (this.#ended) return;
      if (status === 401 || status === 403) {
        this.state({ name: 'signed-out' });
        return;
      }
      this.#waited = Math.min(longestWait, this.#waited ? this.#waited * 2 : firstWait);
      const wait = this.#waited * (0.5 + Math.random() / 2);
      this.state({ name: 'away', since: this.#since, retryAt: Date.now() + wait });
      await new Promise((resolve) => {
        const timer = setTimeout(resolve, wait);
        this.#stop = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      if (this.#ended) return;
    }
  }

  /** Tries at once instead of waiting. */
  retry() {
    this.#waited = 0;
    this.#stop?.();
  }

  /** Ends it for good. */
  stop() {
    this.#ended = true;
    this.#stop?.();
  }

  async #connect() {
    if (this.#ended) return 0;
    const control = new AbortController();
    this.#stop = () => control.abort();
    let watch = setTimeout(this.#stop, silence);
    try {
      const response = await fetch(url(['events', 'stream'], { since: this.#last ?? undefined }), {
        headers: { Accept: 'text/event-stream' },
        cache: 'no-store',
        signal: control.signal,
      });
      if (!response.ok || !response.body) return response.status;
      await this.opened();
      if (this.#ended) return 0;
      this.#waited = 0;
      this.state({ name: 'open' });
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      const parse = parser((id, type, data) => {
        if (id) this.#last = id;
        this.event(type, data);
      });
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return 0;
        clearTimeout(watch);
        watch = setTimeout(this.#stop, silence);
        this.alive();
        parse(value);
      }
    } finally {
      clearTimeout(watch);
      control.abort();
      this.#since = Date.now();
    }
  }
}

/** Reads a stream's text piece by piece and calls `dispatch(id, type, data)` with each event whose data is JSON. */
export function parser(dispatch) {
  let rest = '';
  let id = '';
  let type = '';
  let data = [];
  const line = (text) => {
    if (text === '') {
      if (data.length) {
        const joined = data.join('\n');
        let value;
        try {
          value = JSON.parse(joined);
        } catch {
          value = undefined; // not ours
        }
        if (value !== undefined) dispatch(id, type || 'message', value);
      }
      [id, type, data] = ['', '', []];
      return;
    }
    const colon = text.indexOf(':');
    if (colon === 0) return;
    const field = colon < 0 ? text : text.slice(0, colon);
    const value = colon < 0 ? '' : text.slice(colon + 1).replace(/^ /, '');
    if (field === 'data') data.push(value);
    else if (field === 'id') id = value;
    else if (field === 'event') type = value;
  };
  return (chunk) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop();
    for (const l of lines) line(l.endsWith('\r') ? l.slice(0, -1) : l);
  };
}
