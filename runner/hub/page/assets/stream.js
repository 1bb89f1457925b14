// The hub's event stream (Server-Sent Events), read with fetch rather than EventSource: its status tells a hub that is
// away from one that no longer knows us, and its keep-alive comments tell a silent connection from a dead one.
import { url } from './api.js';

const firstWait = 500; // ms
const longestWait = 15_000;
const silence = 45_000; // the hub says something at least every 15 s

/**
 * Keeps one connection to the stream and connects again after it fell, from the last event that was seen. Calls
 * `opened()` before the first event of each connection, `event(type, data)` for each, `state(state)` at each change:
 * {name: 'connecting' | 'open' | 'away' | 'signed-out', since, retryAt}.
 */
export class Stream {
  #last = null;
  #waited = 0;
  #paused = null; // a promise while it is
  #since = Date.now();
  #stop = null; // ends what is going on now: the wait or the connection

  constructor({ opened, event, state }) {
    Object.assign(this, { opened, event, state });
  }

  /** Goes on for as long as the page lives. */
  async run() {
    this.state({ name: 'connecting' });
    for (;;) {
      const status = await this.#connect().catch(() => 0);
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
    }
  }

  /** Tries at once instead of waiting. */
  retry() {
    this.#waited = 0;
    this.#stop?.();
  }

  /** Ends the connection until resume. */
  pause() {
    this.#paused ??= Promise.withResolvers();
    this.#stop?.();
  }

  /** Connects again at once. */
  resume() {
    this.#paused?.resolve();
    this.#paused = null;
    this.retry();
  }

  async #connect() {
    await this.#paused?.promise;
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
