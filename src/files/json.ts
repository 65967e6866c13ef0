/** Maximum nesting; values of programs have at most 500 levels. */
export const MAX_DEPTH = 1000;

export interface ValueCounts {
  /** Lists and maps. `{}` has 2 bytes and takes some 60 when it is parsed. */
  readonly containers: number;
  /** Items of lists and entries of maps. */
  readonly items: number;
  /** Keys of one map; any number when absent. To parse so many takes the engine longer than as many in small maps. */
  readonly keys?: number;
}

const USUAL: ValueCounts = { containers: 1_000_000, items: 10_000_000 };

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [OPEN_LIST, CLOSE_LIST, OPEN_MAP, CLOSE_MAP] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Whether a JSON or YAML text nests too deep, or has too many values, to be parsed: even a short text could take gigabytes. Text that
 * is not JSON gets an answer too, and no guarantee.
 */
export function isMonstrous(text: string, most: ValueCounts = USUAL): boolean {
  return areMonstrous([text], most);
}

/** Whether one of these texts {@link isMonstrous}, or all of them together have too many values. */
export function areMonstrous(texts: Iterable<string>, most: ValueCounts = USUAL): boolean {
  let containers = 0;
  let items = 0;
  const { keys = Number.POSITIVE_INFINITY } = most;
  for (const text of texts) {
    let depth = 0;
    /** The keys so far of the map at each depth. */
    const counts: number[] = [];
    for (let at = 0; at < text.length; at += 1) {
      const unit = text.charCodeAt(at);
      if (unit === QUOTE) at = endOfString(text, at);
      else if (unit === COMMA) {
        items += 1;
        if (items > most.items) return true;
      } else if (unit === OPEN_LIST || unit === OPEN_MAP) {
        depth += 1;
        containers += 1;
        if (depth > MAX_DEPTH || containers > most.containers) return true;
        counts[depth] = 0;
      } else if (unit === COLON) {
        const count = (counts[depth] ?? 0) + 1;
        if (count > keys) return true;
        counts[depth] = count;
      } else if (unit === CLOSE_LIST || unit === CLOSE_MAP) depth -= 1;
    }
  }
  return false;
}

/** The value of a JSON text; undefined for any other text. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The index of the quote that closes the string opened at `at`. */
function endOfString(text: string, at: number): number {
  let end = at + 1;
  while (end < text.length && text.charCodeAt(end) !== QUOTE) end += text.charCodeAt(end) === BACKSLASH ? 2 : 1;
  return end;
}
