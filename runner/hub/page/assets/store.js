// What the page knows: actions that wait or run, projects, and who is looking. It follows the hub's events by asking
// again for what they name, so that what is shown is always the hub's own answer.
import { get } from './api.js';
import { runs } from './shape.js';

const settle = 60; // ms in which events are gathered before the hub is asked
const single = 12; // more changed actions than this are asked for as lists
const page = 200;

export class Store extends EventTarget {
  pending = new Map();
  running = new Map();
  previews = new Map();
  projects = new Map();
  me = null;
  #dirty = new Set();
  #timer = 0;

  /** Asks for everything; what waits or runs afterwards is what the hub says. */
  async load() {
    [this.me] = await Promise.all([get(['me']), this.loadProjects()]);
    await this.#lists();
    this.dispatchEvent(new Event('loaded'));
  }

  /** Asks for the projects, whose names and folders the cards show. */
  async loadProjects() {
    const { projects } = await get(['projects']);
    this.projects = new Map(projects.map((p) => [p.id, p]));
  }

  async #lists() {
    const [pending, approved, auto] = await Promise.all(['pending', 'approved', 'auto_approved'].map((status) => all(status)));
    const seen = new Set([...pending, ...approved, ...auto].map((a) => a.id));
    const gone = [...this.pending.keys(), ...this.running.keys()].filter((id) => !seen.has(id));
    for (const a of [...pending, ...approved, ...auto]) this.#put(a);
    await Promise.all(gone.map((id) => this.#ask(id)));
    this.#changed();
  }

  async #ask(id) {
    try {
      this.#put(await get(['actions', id]));
    } catch (error) {
      if (error.status !== 404) throw error;
      this.pending.delete(id);
      this.running.delete(id);
    }
  }

  /** Takes an action as the hub just said it is. */
  take(action) {
    this.#put(action);
    this.#changed();
  }

  #put(a) {
    const waited = this.pending.has(a.id);
    const ran = this.running.has(a.id);
    if (a.status === 'pending') this.pending.set(a.id, a);
    else this.pending.delete(a.id);
    if (runs(a)) this.running.set(a.id, a);
    else this.running.delete(a.id);
    if (a.status === 'pending' && !waited) this.dispatchEvent(new CustomEvent('proposed', { detail: a }));
    if (a.status !== 'pending') this.previews.delete(a.id);
    if (waited && a.status !== 'pending') this.dispatchEvent(new CustomEvent('decided', { detail: a }));
    if (ran && !runs(a)) this.dispatchEvent(new CustomEvent('ended', { detail: a }));
  }

  #changed() {
    this.dispatchEvent(new Event('change'));
  }

  /** Takes an event of the log. */
  event(e) {
    const id = e.payload?.actionId;
    if (!id) return;
    this.#dirty.add(id);
    this.#timer ||= setTimeout(() => this.#follow(), settle);
  }

  async #follow() {
    const ids = [...this.#dirty];
    this.#dirty.clear();
    try {
      if (ids.length > single) await this.#lists();
      else await Promise.all(ids.map((id) => this.#ask(id)));
    } catch {
      // The connection will say that it fell, and everything is asked for again when it is back.
    }
    this.#timer = 0;
    if (this.#dirty.size) this.#timer = setTimeout(() => this.#follow(), settle);
    this.#changed();
  }

  /** The segments, the entries and the diff of a pending action; asked for once. */
  async preview(id) {
    if (!this.previews.has(id)) this.previews.set(id, get(['actions', id, 'preview']));
    try {
      return await this.previews.get(id);
    } catch (error) {
      this.previews.delete(id);
      throw error;
    }
  }

  /** The name of a project, or its id. */
  projectName(id) {
    return this.projects.get(id)?.name || id;
  }
}

/** Every action in a state; what waits or runs is bounded by what people and machines can bear. */
async function all(status) {
  const out = [];
  let before;
  do {
    const answer = await get(['actions'], { status, limit: page, before });
    out.push(...answer.actions);
    before = answer.next;
  } while (before);
  return out;
}
