/**
 * Replaces the values of a case-insensitive key in a text that contains JSON. `replacement` is the content of a JSON string. Also
 * finds JSON within a string of JSON, whose quotes are escaped by backslashes, and escapes the quotes of the replacement in
 * the same way. The time is linear in the length of the text.
 */
export function redactKey(text: string, key: string, replacement: string): string {
  const name = JSON.stringify(key)
    .slice(1, -1)
    .replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const pattern = new RegExp(`(\\\\{0,7})"${name}\\1"\\s{0,8}:\\s{0,8}`, 'gi');
  // If a list or map has no end, only the rest of the line is replaced, and the search for an end is not repeated.
  let mayClose = true;
  let clean = '';
  let start = 0;
  for (let found = pattern.exec(text); found !== null; found = pattern.exec(text)) {
    const at = pattern.lastIndex;
    const before = found[1] ?? '';
    const closed = mayClose ? endOf(text, at, before.length, text.length) : null;
    const line = lineEnd(text, at);
    const opens = text[at] === '[' || text[at] === '{';
    if (opens && closed === null) mayClose = false;
    const end = closed ?? endOf(text, at, before.length, line) ?? line;
    if (end === at) continue;
    clean += `${text.slice(start, at)}${before}"${replacement}${before}"`;
    start = end;
    pattern.lastIndex = end;
  }
  return clean + text.slice(start);
}

/** The end of the value that begins at `at`; null when there is none before `most`. Every quote is escaped by `escapes` backslashes. */
function endOf(text: string, at: number, escapes: number, most: number): number | null {
  const quote = at + escapes;
  if (text[quote] === '"' && isQuote(text, at, quote, escapes))
    return textEnd(text, quote + 1, escapes, Math.min(most, lineEnd(text, at)));
  const first = text[at];
  if (first !== '[' && first !== '{') return plainEnd(text, at);
  let depth = 0;
  for (let here = at; here < most; here++) {
    const letter = text[here];
    if (letter === '"') {
      const end = textEnd(text, here + 1, escapes, most);
      if (end === null) return null;
      here = end - 1;
    } else if (letter === '[' || letter === '{') depth += 1;
    else if (letter === ']' || letter === '}') {
      depth -= 1;
      if (depth === 0) return here + 1;
    }
  }
  return null;
}

/** The position after a string's closing quote; null without one. */
function textEnd(text: string, from: number, escapes: number, most: number): number | null {
  let backslashes = 0;
  for (let at = from; at < most; at++) {
    if (text[at] === '\\') backslashes += 1;
    else {
      // A backslash within the string needs twice as many characters as the escape of its quotes.
      if (text[at] === '"' && backslashes % (2 * (escapes + 1)) === escapes) return at + 1;
      backslashes = 0;
    }
  }
  return null;
}

function isQuote(text: string, from: number, quote: number, escapes: number): boolean {
  return text.slice(from, quote) === '\\'.repeat(escapes);
}

/** The position after a number, `true` or `false`; `at` when there is no value. */
function plainEnd(text: string, at: number): number {
  const plain = /-?[0-9][-+.eE0-9]*|true|false/y;
  plain.lastIndex = at;
  return at + (plain.exec(text)?.[0].length ?? 0);
}

function lineEnd(text: string, at: number): number {
  const feed = text.indexOf('\n', at);
  return feed < 0 ? text.length : feed;
}
