// Colours shell text. It only colours: what runs, and what the rules make of it, is read by the hub's own grammar. One
// pass over the text, in linear time; the tokens joined are the text again, whatever it is.

const keywords = new Set(['if', 'then', 'else', 'elif', 'fi', 'for', 'while', 'until', 'do', 'done', 'case', 'esac', 'in',
  'select', 'function', 'time', 'coproc', '!', '{', '}', '[[', ']]']);
const wordEnd = /[ \t\n;&|<>()]/;
const operators = ['&>>', '<<<', '<<-', ';;&', '&&', '||', ';;', ';&', '|&', '>>', '<<', '>|', '>&', '<&', '<>', '&>',
  ';', '&', '|', '(', ')', '<', '>'];
const redirections = new Set(['&>>', '<<<', '<<-', '>>', '<<', '>|', '>&', '<&', '<>', '&>', '<', '>']);

/** Splits text into [class, text] pairs; the class is empty where nothing is coloured. */
export function tokens(text) {
  const out = [];
  let command = true; // the next word is a verb
  let target = false; // the next word is a redirection's
  let i = 0;
  const put = (kind, end) => {
    if (end > i) out.push([kind, text.slice(i, end)]);
    i = end;
  };
  while (i < text.length) {
    const c = text[i];
    if (c === '\n') {
      put('', i + 1);
      command = true;
    } else if (c === ' ' || c === '\t') {
      let end = i + 1;
      while (text[end] === ' ' || text[end] === '\t') end++;
      put('', end);
    } else if (c === '#') {
      const end = text.indexOf('\n', i);
      put('comment', end < 0 ? text.length : end);
    } else {
      const operator = operators.find((o) => text.startsWith(o, i));
      if (operator) {
        target = redirections.has(operator);
        put(target ? 'redirect' : 'operator', i + operator.length);
        if (!target) command = true;
        continue;
      }
      const start = out.length;
      const from = i;
      while (i < text.length && !wordEnd.test(text[i])) part(text, i, put);
      const word = text.slice(from, i);
      const kind = wordKind(word, command, target);
      for (let t = start; t < out.length; t++) if (out[t][0] === '') out[t][0] = kind;
      if (kind !== 'keyword' && kind !== 'assign' && !target) command = false;
      target = false;
    }
  }
  return out;
}

// part takes one piece of a word: quoted text, a variable, or what stands up to the next of these.
function part(text, i, put) {
  const c = text[i];
  if (c === "'") {
    const end = text.indexOf("'", i + 1);
    put('string', end < 0 ? text.length : end + 1);
  } else if (c === '"' || c === '`') {
    let end = i + 1;
    while (end < text.length && text[end] !== c) end += text[end] === '\\' ? 2 : 1;
    put(c === '"' ? 'string' : 'variable', Math.min(end + 1, text.length));
  } else if (c === '\\') {
    const next = text.codePointAt(i + 1);
    put('', Math.min(i + (next > 0xffff ? 3 : 2), text.length));
  } else if (c === '$') {
    put('variable', variableEnd(text, i));
  } else {
    let end = i + 1;
    while (end < text.length && !wordEnd.test(text[end]) && !'\'"`\\$'.includes(text[end])) end++;
    put('', end);
  }
}

function variableEnd(text, i) {
  if (text[i + 1] === '{') {
    const end = text.indexOf('}', i);
    return end < 0 ? text.length : end + 1;
  }
  const name = /^(?:[A-Za-z_]\w*|[0-9@*#?$!-])/.exec(text.slice(i + 1, i + 200));
  return i + 1 + (name ? name[0].length : 0);
}

function wordKind(word, command, target) {
  if (target) return 'path';
  if (command && keywords.has(word)) return 'keyword';
  if (command && /^[A-Za-z_]\w*\+?=/.test(word)) return 'assign';
  if (command) return 'verb';
  if (word.startsWith('-')) return 'flag';
  return '';
}
