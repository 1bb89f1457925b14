// Asks the hub. Every refusal comes as a Refusal, whose message is fit to be shown.

/** What the hub answered instead of doing it, or that it did not answer. */
export class Refusal extends Error {
  /** `status` is the HTTP status, 0 where there was no answer; `body` is what the hub said. */
  constructor(status, body) {
    super(explain(status, body));
    this.status = status;
    this.body = body;
  }
}

function explain(status, body) {
  const f = body?.failure;
  if (f) return [f.cause || f.name, f.subject ? `(${f.subject})` : '', f.next].filter(Boolean).join(' ');
  if (status === 0) return 'The hub does not answer.';
  if (body?.reason === 'teto_do_sempre_permitir') return 'This kind of action is decided by a person each time.';
  return body?.message ? String(body.message) : `The hub answered with ${status}.`;
}

/** Told when the hub no longer knows who this is. */
export const signedOut = new EventTarget();

async function call(method, path, body) {
  let response;
  let answer = null;
  try {
    response = await fetch(path, {
      method,
      cache: 'no-store',
      credentials: 'same-origin',
      headers: {
        Accept: 'application/json',
        ...(method === 'GET' ? {} : { 'X-Runner-CSRF': '1', 'Content-Type': 'application/json' }),
      },
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: AbortSignal.timeout(30_000),
    });
    if (response.status !== 204) answer = await response.json();
  } catch (error) {
    // A body that is no JSON, such as a proxy's page, is told by its status.
    if (!response) throw new Refusal(0, { message: error.message });
  }
  if (response.status === 401) signedOut.dispatchEvent(new Event('signed-out'));
  if (!response.ok) throw new Refusal(response.status, answer);
  return answer;
}

/** Builds a path from segments that come from elsewhere, and a query without what is empty. */
export function url(segments, query = {}) {
  const q = new URLSearchParams(Object.entries(query).filter(([, v]) => v !== undefined && v !== null && v !== ''));
  return `/${segments.map(encodeURIComponent).join('/')}${q.size ? `?${q}` : ''}`;
}

export const get = (segments, query) => call('GET', url(segments, query));
export const post = (segments, body = {}) => call('POST', url(segments), body);
export const put = (segments, body) => call('PUT', url(segments), body);
export const remove = (segments) => call('DELETE', url(segments));
