// The events of the hub, for all tabs of a browser over one connection: a browser has about six to one host, which as many
// tabs would hold. The tab that has the lock keeps the stream and passes on to the others what it hears; when it goes, the
// next one has the lock. Where a page has neither locks nor channels, as over plain HTTP from another machine, each tab
// keeps a stream of its own.
import { Stream } from './stream.js';

const name = 'runner-events'; // of the lock, and of the channel between the tabs
const silence = 90_000; // a tab that keeps the stream, and so passes nothing on, is stopped: another takes its place
const again = 2000; // ms until a tab that could not ask the hub asks once more

/**
 * Calls `opened()` before the first event of each connection, `event(type, data)` for each, and `state(state)` at each
 * change, as a Stream does.
 */
export class Feed {
  #shared = Boolean(navigator.locks && window.BroadcastChannel);
  #id = `${Date.now()}-${Math.random()}`; // of this tab, to be answered by
  #channel = null; // while this tab listens or speaks
  #stream = null; // while it is this tab that keeps the stream
  #now = { name: 'connecting' };
  #last = 0; // the number of the last event that was seen
  #open = false; // the others' stream is, as far as this tab was told
  #heard = Promise.resolve(); // that what the others' stream says is dealt with in its order
  #turn = null; // ends the wait for the lock
  #steal = false;
  #watch = 0;
  #paused = null; // a promise while it is
  #over = false; // signed out

  constructor({ opened, event, state }) {
    Object.assign(this, { opened, event, state });
  }

  /** Goes on for as long as the page lives. */
  async run() {
    this.state(this.#now);
    while (!this.#over) {
      await this.#paused?.promise;
      if (!this.#shared) {
        await this.#keep();
        continue;
      }
      this.#listen();
      const options = this.#steal ? { steal: true } : { signal: this.#turn.signal };
      this.#steal = false;
      try {
        await navigator.locks.request(name, options, () => this.#keep());
      } catch (error) {
        // The wait was ended, or another tab has taken the lock. A browser that gives no locks out is not asked again.
        if (error.name !== 'AbortError') this.#shared = false;
      }
      this.#leave();
    }
  }

  /** Tries at once instead of waiting. */
  retry() {
    if (this.#stream) this.#stream.retry();
    else {
      this.#tell({ retry: true });
      this.#ask();
    }
  }

  /** Gives the connection up until resume. */
  pause() {
    this.#paused ??= Promise.withResolvers();
    this.#leave();
  }

  /** Connects again at once. */
  resume() {
    this.#paused?.resolve();
    this.#paused = null;
  }

  // --- the tab that keeps the stream ---

  async #keep() {
    if (this.#paused) return;
    clearTimeout(this.#watch);
    this.#stream = new Stream({
      last: this.#last,
      opened: () => {
        this.#tell({ opened: true });
        return this.opened();
      },
      event: (type, data) => {
        this.#tell({ type, data });
        this.#take(type, data);
      },
      state: (state) => {
        this.#now = state;
        this.#over = state.name === 'signed-out';
        this.#tell({ state });
        this.state(state);
      },
      alive: () => this.#tell({}),
    });
    await this.#stream.run();
  }

  #take(type, data) {
    if (data?.seq) {
      if (data.seq <= this.#last) return; // the tab before had passed it on
      this.#last = data.seq;
    }
    this.event(type, data);
  }

  #tell(message) {
    this.#channel?.postMessage(message);
  }

  // --- the tabs that listen to it ---

  #listen() {
    this.#turn = new AbortController();
    this.#channel = new BroadcastChannel(name);
    this.#channel.onmessage = ({ data }) => this.#told(data);
    this.#open = false;
    this.#alive();
    this.#ask();
  }

  #ask() {
    this.#tell({ from: this.#id });
  }

  #leave() {
    clearTimeout(this.#watch);
    this.#stream?.stop();
    this.#stream = null;
    this.#turn?.abort();
    this.#channel?.close();
    this.#channel = null;
  }

  #alive() {
    clearTimeout(this.#watch);
    this.#watch = setTimeout(() => {
      this.#steal = true;
      this.#turn.abort();
    }, silence * (1 + Math.random()));
  }

  #told(message) {
    if (this.#stream) {
      if (message.retry) this.#stream.retry();
      if (message.from) {
        if (this.#now.name === 'open') this.#tell({ to: message.from, opened: true });
        this.#tell({ to: message.from, state: this.#now });
      }
      return;
    }
    if (message.from || message.retry) return; // another one that listens
    this.#alive();
    if (message.to && message.to !== this.#id) return;
    if (message.opened) this.#open = true;
    const channel = this.#channel;
    this.#heard = this.#heard.then(() => this.#channel === channel && !this.#stream && this.#follow(message));
  }

  async #follow({ opened, type, data, state }) {
    if (opened) {
      try {
        await this.opened();
      } catch (error) {
        this.#open = false;
        if (error.status === 401 || error.status === 403) return; // the tab that keeps the stream will say so
        this.state({ name: 'away', since: Date.now(), retryAt: Date.now() + again });
        setTimeout(() => this.#stream || this.#ask(), again);
      }
    } else if (type && this.#open) this.#take(type, data);
    else if (state && (state.name !== 'open' || this.#open)) {
      this.state(state);
      if (state.name !== 'open') this.#open = false;
      if (state.name !== 'signed-out') return;
      this.#over = true;
      this.#turn.abort();
    }
  }
}
