import { z } from 'zod';
import { ChainWalk, GENESIS } from '../../loop/index.ts';
import { counted, outcomeText, tallyText } from '../../report/index.ts';
import { type Artefact, type Flaw, type Found, firstLine, jsonOf, type Kind, tally } from './kind.ts';

/** The fields of every line of a decision log, chained or not. */
const ENTRY = z.looseObject({
  ts: z.string(),
  SID: z.string(),
  turn_index: z.int().min(0),
  decision: z.enum(['CONTINUE', 'DONE', 'ABORT', 'HALT']),
  reason: z.string().optional(),
  prev: z.string().optional(),
});
type Entry = z.infer<typeof ENTRY>;

/** Decision logs: JSON lines, usually each chained to the one before by a hash, which needs no key to check. */
export const LOG: Kind = {
  kind: 'log',
  what: 'a decision log',
  recognize({ text }: Artefact): Found | string {
    if (text === null) return 'it is no text';
    const first = entryOf(firstLine(text));
    if (first === null) return "its first line is no JSON object with 'ts', 'SID', 'turn_index' and 'decision'";
    return found(text.replace(/\n$/, '').split('\n'), first, text.endsWith('\n'));
  },
};

function entryOf(line: string): Entry | null {
  return line.startsWith('{') ? (ENTRY.safeParse(jsonOf(line)).data ?? null) : null;
}

/** The state of the chain of lines. */
interface Chain {
  readonly ok: boolean;
  /** Hash of the line before the first; null when the log begins here. */
  readonly after: string | null;
  /** Hash of the last line that follows the chain. */
  readonly head: string;
  /** The first line that breaks the chain, and why. */
  readonly line: number | null;
  readonly why: string | null;
}

function found(lines: readonly string[], first: Entry, finished: boolean): Found {
  const entries = lines.map(entryOf);
  const good = entries.flatMap((entry) => entry ?? []);
  const none = entries.indexOf(null);
  const chain = first.prev === undefined ? null : chainOf(lines, first.prev, finished);
  const sessions = new Set(good.map(({ SID }) => SID)).size;
  const decisions = tally(good.map(({ decision, reason = null }) => outcomeText(decision, reason)));
  const [from, to] = [first.ts, good.at(-1)?.ts ?? first.ts];
  return {
    title: 'a decision log',
    sure: chain?.ok === true || none < 0 ? 'certain' : 'likely',
    error: flawOf(chain, none),
    facts: { lines: lines.length, entries: good.length, first: from, last: to, sessions, decisions, chain },
    lines: [
      `${counted(good.length, 'decision')} of ${counted(sessions, 'session')}, from ${from} to ${to}`,
      tallyText(decisions),
      ...(chain === null
        ? ['its lines carry no hashes, so changes to them cannot be detected']
        : [chainLine(chain), ...(chain.after === null ? [] : ['it goes on from an earlier file, which is not looked at here'])]),
    ],
    next:
      chain === null
        ? null
        : '"neuroscript log verify FILE" checks the chain over all files of a log; a chain cannot show that its last lines are missing.',
  };
}

function chainOf(lines: readonly string[], prev: string, finished: boolean): Chain {
  const after = prev === GENESIS ? null : prev;
  const walk = new ChainWalk(prev);
  for (const [index, line] of lines.entries()) {
    const why = walk.next(line);
    if (why !== null) return { ok: false, after, head: walk.head, line: index + 1, why };
  }
  if (finished) return { ok: true, after, head: walk.head, line: null, why: null };
  return { ok: false, after, head: walk.head, line: lines.length, why: 'it was not written to its end' };
}

function flawOf(chain: Chain | null, none: number): Flaw | null {
  if (chain?.why != null) return { code: 'ERR_LOG', message: `the chain breaks: ${chain.why}`, line: chain.line };
  return none < 0 ? null : { code: 'ERR_LOG', message: 'it is no entry of a decision log', line: none + 1 };
}

function chainLine({ ok, head, line, why }: Chain): string {
  return ok ? `its chain is unbroken; head ${head}` : `its chain is BROKEN in line ${line}: ${why}`;
}
