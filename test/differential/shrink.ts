/** Makes a failing program as short as possible: fewer lines, smaller expressions. */
import { parse } from '../../grammar/index.ts';
import { NAME } from './both.ts';

/** Whether a changed source still fails in the same way. It is asked only about sources that parse. */
export type Fails = (source: string) => boolean;

/** The shortest source that the changes below reach. */
export function shrink(source: string, fails: Fails): string {
  const still = (text: string): boolean => parse(text, { name: NAME }).ok && fails(text);
  let current = source;
  for (let before = ''; before !== current; ) {
    before = current;
    current = withFewerLines(current, still);
    current = withSmallerExpressions(current, still);
  }
  return current;
}

function withFewerLines(source: string, still: Fails): string {
  let lines = source.split('\n');
  for (let size = Math.max(1, lines.length >> 1); size >= 1; size = size === 1 ? 0 : size >> 1)
    for (let at = 0; at + size <= lines.length; ) {
      const fewer = [...lines.slice(0, at), ...lines.slice(at + size)];
      if (still(fewer.join('\n'))) lines = fewer;
      else at++;
    }
  return withoutPairs(lines, still).join('\n');
}

/** Removes the first and the last line of a block, or its head and its end with all between. */
function withoutPairs(lines: readonly string[], still: Fails): readonly string[] {
  let current = lines;
  for (let from = 0; from < current.length; from++)
    for (let to = current.length - 1; to > from; to--)
      for (const fewer of [current.filter((_, at) => at !== from && at !== to), current.filter((_, at) => at < from || at > to)])
        if (still(fewer.join('\n'))) {
          current = fewer;
          to = Math.min(to, current.length);
          break;
        }
  return current;
}

const SMALL = ['1', 'nil', "''", '[]', 'a'];

function withSmallerExpressions(source: string, still: Fails): string {
  let current = source;
  for (let index = 0; ; index++) {
    const spans = spansOf(current);
    const span = spans[index];
    if (span === undefined) return current;
    const [start, end] = span;
    const parts = spans.filter(([s, e]) => s >= start && e <= end && e - s < end - start).map(([s, e]) => current.slice(s, e));
    for (const part of [...SMALL, ...parts]) {
      const changed = current.slice(0, start) + part + current.slice(end);
      if (changed.length < current.length && still(changed)) {
        current = changed;
        index = -1;
        break;
      }
    }
  }
}

/** The places of all expressions, found by their nodes in the tree. */
function spansOf(source: string): (readonly [number, number])[] {
  const result = parse(source, { name: NAME });
  const spans: (readonly [number, number])[] = [];
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    if ('k' in node && 's' in node && 'e' in node && !STATEMENTS.has(String(node.k)))
      spans.push([Number(node.s), Number(node.e)]);
    for (const child of Object.values(node)) visit(child);
  };
  if (result.ok) visit([result.file.procedures, result.file.events, result.file.commands]);
  return spans;
}

const STATEMENTS = new Set(
  'set call return emit whisper must fail clear_error clear_event ask promptuser break continue if while for on_event on_error'.split(
    ' ',
  ),
);
