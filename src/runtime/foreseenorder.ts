import { type CallsBefore, matchesPattern, type PastCalls } from '../tools/index.ts';
import type { ForeseenCall } from '../wire/sourcereports.ts';

/** What is known of a run before it begins. */
export interface ForeseenRun {
  readonly calls: readonly ForeseenCall[];
  /** Names of the files, in the order in which they run. */
  readonly files: readonly string[];
  /** The calls before the run; null when they are not known. */
  readonly past: PastCalls | null;
  /** Whether the program may go on after a call that failed. */
  readonly catches: boolean;
}

/** Whether one call is made before another one, if the other is made at all. */
type Precedes = 'always' | 'never' | 'maybe';

/** Conditions in which a place may be reached in another order than that of the text. */
const UNORDERED: ReadonlySet<string> = new Set(['procedure', 'event', 'error']);

/** Conditions in which a place may be reached again. */
const LOOPS: ReadonlySet<string> = new Set(['while', 'each']);

/**
 * The calls before each foreseen call, for rules of order. A call that is sure to be before is only known where the text is simple; elsewhere
 * it may be. Calls that tools make are not foreseen.
 */
export class ForeseenOrder {
  readonly #run: ForeseenRun;
  /** Most calls of each place. */
  readonly #counts = new Map<string, number>();

  constructor(run: ForeseenRun) {
    this.#run = run;
    for (const call of run.calls)
      this.#counts.set(placeOf(call), (this.#counts.get(placeOf(call)) ?? 0) + (call.most ?? Number.POSITIVE_INFINITY));
  }

  /** The calls before this one. */
  before(call: ForeseenCall): CallsBefore {
    const { calls, past } = this.#run;
    return {
      called: (pattern, within) => {
        const known = [...(past?.turn ?? []), ...(within === 'session' ? (past?.session ?? []) : [])];
        const earlier = known.find((name) => matchesPattern(pattern, name));
        if (earlier !== undefined) return earlier;
        let isOpen = past === null && within === 'session';
        for (const other of calls) {
          // The programs that answer an ask may call any tool.
          if (other.name !== 'ask' && !matchesPattern(pattern, other.name)) continue;
          const precedes = this.#precedes(other, call);
          if (precedes === 'always' && other.name !== 'ask') return other.name;
          isOpen ||= precedes !== 'never';
        }
        return isOpen ? null : false;
      },
    };
  }

  #precedes(one: ForeseenCall, other: ForeseenCall): Precedes {
    if (!this.#isOnce(one) || !this.#isInText(other)) return 'maybe';
    if (one === other) return 'never';
    const isEarlier = this.#isEarlier(one, other);
    // The calls are numbered as they are come to: an argument before its call, which begins earlier in the text.
    if (isEarlier !== this.#run.calls.indexOf(one) < this.#run.calls.indexOf(other)) return 'maybe';
    if (!isEarlier) return this.#isOnce(other) ? 'never' : 'maybe';
    return one.when.length === 0 && !this.#run.catches ? 'always' : 'maybe';
  }

  /** Whether a call is made at most once, in the order of the text. */
  #isOnce(call: ForeseenCall): boolean {
    return this.#isInText(call) && this.#counts.get(placeOf(call)) === 1 && !call.when.some(({ kind }) => LOOPS.has(kind));
  }

  /** Whether a call comes in the order of the text, after all that is outside of its loops and before them. */
  #isInText(call: ForeseenCall): boolean {
    return !call.elsewhere && !call.when.some(({ kind }) => UNORDERED.has(kind));
  }

  #isEarlier(one: ForeseenCall, other: ForeseenCall): boolean {
    const [a, b] = [this.#run.files.indexOf(one.file), this.#run.files.indexOf(other.file)];
    return a - b < 0 || (a === b && (one.line - other.line || one.column - other.column) < 0);
  }
}

function placeOf({ file, line, column }: ForeseenCall): string {
  return `${file}:${line}:${column}`;
}
