// Says what happened to those who do not see it: one polite live region, in which each text is heard even if it is the
// same as the last.
import { byId } from './dom.js';

let waiting = [];
let timer = 0;

/** Has text read out, after what is being read; a burst is read as one. */
export function announce(text) {
  waiting.push(text);
  timer ||= setTimeout(() => {
    const region = byId('announce');
    const said = waiting.length > 3 ? `${waiting.length} changes. ${waiting.at(-1)}` : waiting.join(' ');
    region.textContent = region.textContent === said ? `${said} ` : said;
    waiting = [];
    timer = 0;
  }, 150);
}
