import { VERSION } from '../../runtime/version.ts';
import type { HeatFrame, RunProfile, Trace } from '../../wire/heat.ts';
import { inOrder, type JournalEntry } from '../../wire/journal.ts';
import { labelOf } from './flame.ts';

/** The process and thread of the program in a trace. Calls that run together have threads of their own. */
const PROGRAM = 1;

/** A frame that was open for some time. */
interface Span {
  readonly frame: HeatFrame;
  readonly from: number;
  readonly us: number;
  readonly fuel: number;
}

/**
 * A trace in the JSON object format of Chrome's trace events, piece by piece: complete events in microseconds, each with its fuel and
 * place. `chrome://tracing`, Perfetto and speedscope read it.
 */
export function* chromeTrace({ trace, heat }: RunProfile, journal: readonly JournalEntry[]): Generator<string> {
  const groups = branchesOf(journal).values();
  let threads = 1;
  yield `{"traceEvents":[\n${JSON.stringify(named('process_name', PROGRAM, 'neuroscript'))}`;
  yield `,\n${JSON.stringify(named('thread_name', PROGRAM, 'program'))}`;
  for (const { frame, from, us, fuel } of trace === null ? [] : spansOf(trace)) {
    const { kind, source, line } = frame;
    const place = source === null ? {} : { source, line };
    const common = { cat: kind, ph: 'X', pid: PROGRAM };
    yield `,\n${JSON.stringify({ name: labelOf(frame), ...common, tid: PROGRAM, ts: from, dur: us, args: { fuel, ...place } })}`;
    const branches = kind === 'together' ? (groups.next().value ?? []) : [];
    for (const [index, { name, ms, at }] of branches.entries()) {
      const tid = PROGRAM + 1 + index;
      if (tid > threads) yield `,\n${JSON.stringify(named('thread_name', tid, `together ${index + 1}`))}`;
      threads = Math.max(threads, tid);
      const args = { fork: at.fork, source: at.source, line: at.line };
      const call = { ...common, cat: 'tool', name, tid, ts: from, dur: Math.min(us, Math.round(ms * 1000)), args };
      yield `,\n${JSON.stringify(call)}`;
    }
  }
  const about = { program: `neuroscript ${VERSION}`, fuel: heat.fuel, notices: heat.notices };
  yield `\n],"displayTimeUnit":"ms","otherData":${JSON.stringify(about)}}\n`;
}

function named(name: string, tid: number, value: string): object {
  return { name, ph: 'M', pid: PROGRAM, tid, args: { name: value } };
}

/** The frames of a trace, each when it ends. What is open at the end ends there. */
function* spansOf({ frames, marks, us, fuel }: Trace): Generator<Span> {
  const open: number[] = [];
  const last = marks.length - 1;
  const ended = (begin: number, end: number): Span => ({
    frame: frames[marks[begin] ?? 0] ?? NOTHING,
    from: us[begin] ?? 0,
    us: (us[end] ?? 0) - (us[begin] ?? 0),
    fuel: (fuel[end] ?? 0) - (fuel[begin] ?? 0),
  });
  for (const [index, mark] of marks.entries()) {
    if (mark >= 0) open.push(index);
    else {
      const begin = open.pop();
      if (begin !== undefined) yield ended(begin, index);
    }
  }
  for (let begin = open.pop(); begin !== undefined; begin = open.pop()) yield ended(begin, last);
}

const NOTHING: HeatFrame = { kind: 'host', name: '', source: null, line: null };

type ToolEntry = Extract<JournalEntry, { readonly kind: 'tool' }>;

/** The calls that ran together, block by block. */
function branchesOf(journal: readonly JournalEntry[]): ReadonlyMap<number, readonly ToolEntry[]> {
  const groups = new Map<number, ToolEntry[]>();
  for (const entry of inOrder(journal)) {
    const first = entry.at.together;
    if (entry.kind !== 'tool' || first === undefined) continue;
    const group = groups.get(first);
    if (group === undefined) groups.set(first, [entry]);
    else group.push(entry);
  }
  return groups;
}
