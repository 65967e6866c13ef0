import { textBytes } from '../../wire/costs.ts';
import { putEntry, TextBuilder, WORK } from '../kit.ts';
import type { Meter } from '../meter.ts';
import type { Value } from '../values.ts';
import type { Group } from './define.ts';
import { type Edit, shortestEdit } from './edits.ts';
import { ListBuilder, newMap, paidSlice, TextMap } from './results.ts';

/** Comparison of texts by lines. */
export const DIFF: Group<'diff'> = {
  'tool.diff.Lines': (meter, before, after) => {
    const { edits, previous, current } = compared(meter, before, after);
    const all = new ListBuilder(meter);
    let [i, j] = [0, 0];
    for (const { op, count } of edits) {
      for (let each = 0; each < count; each++) {
        const [start, end] = (op === 'insert' ? current.spans[j] : previous.spans[i]) ?? [0, 0];
        const entry = newMap(meter);
        putEntry(meter, entry, 'op', op satisfies Value);
        putEntry(meter, entry, 'line', paidSlice(meter, op === 'insert' ? after : before, start, end));
        all.value(entry);
        if (op !== 'insert') i++;
        if (op !== 'delete') j++;
      }
    }
    return all.finish();
  },
  'tool.diff.Unified': (meter, before, after, context) => {
    if (context < 0) meter.fail('Bounds', `context (${context}) cannot be negative`);
    const { edits, previous, current } = compared(meter, before, after);
    const text = new TextBuilder(meter, WORK.concat, 'text');
    for (const hunk of hunks(edits, context)) {
      text.add(`@@ -${place(hunk.oldStart, hunk.oldCount)} +${place(hunk.newStart, hunk.newCount)} @@\n`);
      let [i, j] = [hunk.oldStart, hunk.newStart];
      for (const { op, count } of hunk.edits) {
        for (let each = 0; each < count; each++) {
          const source = op === 'insert' ? after : before;
          const [start, end] = (op === 'insert' ? current.spans[j] : previous.spans[i]) ?? [0, 0];
          text.add(SIGNS[op]);
          text.addSlice(source, start, end);
          text.add(end < source.length ? '\n' : '\n\\ No newline at end of file\n');
          if (op !== 'insert') i++;
          if (op !== 'delete') j++;
        }
      }
    }
    return text.finish();
  },
};

const SIGNS = { equal: ' ', delete: '-', insert: '+' } as const;

interface Lines {
  /** Start and end of each line, without its line feed. */
  readonly spans: readonly (readonly [number, number])[];
  /** A number for each line, equal for equal lines of both texts. A last line without a line feed differs from one with it. */
  readonly ids: Int32Array;
}

function compared(meter: Meter, before: string, after: string): { edits: readonly Edit[]; previous: Lines; current: Lines } {
  const known = new TextMap<number>(meter);
  const previous = linesOf(meter, before, known);
  const current = linesOf(meter, after, known);
  return { edits: shortestEdit(meter, previous.ids, current.ids), previous, current };
}

/** Bytes for the span of a line and its entry in the table of lines. */
const LINE_BYTES = 160;

function linesOf(meter: Meter, text: string, known: TextMap<number>): Lines {
  meter.pay(WORK.scan, 2 * text.length);
  meter.allocate(textBytes(text.length));
  const spans: (readonly [number, number])[] = [];
  const ids: number[] = [];
  for (let start = 0; start < text.length; ) {
    const feed = text.indexOf('\n', start);
    const end = feed < 0 ? text.length : feed;
    meter.allocate(LINE_BYTES);
    meter.pay(WORK.visit);
    const line = text.slice(start, feed < 0 ? end : end + 1);
    let id = known.get(line);
    if (id === undefined) {
      id = known.size;
      known.add(line, id);
    }
    spans.push([start, end]);
    ids.push(id);
    start = end + 1;
  }
  return { spans, ids: Int32Array.from(ids) };
}

interface Hunk {
  readonly oldStart: number;
  readonly newStart: number;
  oldCount: number;
  newCount: number;
  readonly edits: Edit[];
}

/** Groups edits into hunks with `context` equal lines around them. Edits at most twice that apart share a hunk. */
function hunks(edits: readonly Edit[], context: number): readonly Hunk[] {
  const found: Hunk[] = [];
  let open: Hunk | null = null;
  let [i, j] = [0, 0];
  const take = (hunk: Hunk, op: Edit['op'], count: number): void => {
    if (count === 0) return;
    hunk.edits.push({ op, count });
    if (op !== 'insert') hunk.oldCount += count;
    if (op !== 'delete') hunk.newCount += count;
  };
  for (const [index, { op, count }] of edits.entries()) {
    if (op === 'equal') {
      const last = index === edits.length - 1;
      if (open !== null && (last || count > 2 * context)) {
        take(open, op, Math.min(count, context));
        open = null;
      } else if (open !== null) take(open, op, count);
    } else {
      if (open === null) {
        const lead: number = Math.min(context, i, j, edits[index - 1]?.op === 'equal' ? (edits[index - 1]?.count ?? 0) : 0);
        open = { oldStart: i - lead, newStart: j - lead, oldCount: 0, newCount: 0, edits: [] };
        take(open, 'equal', lead);
        found.push(open);
      }
      take(open, op, count);
    }
    if (op !== 'insert') i += count;
    if (op !== 'delete') j += count;
  }
  return found;
}

/** The range of a hunk. Lines count from 1; an empty range names the line before it. */
function place(start: number, count: number): string {
  const line = count === 0 ? start : start + 1;
  return count === 1 ? `${line}` : `${line},${count}`;
}
