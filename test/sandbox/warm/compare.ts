/** Compares runs in an isolate that has served others with the same runs in fresh ones. */
import { createHash } from 'node:crypto';
import { Sandbox, type SandboxOptions } from '../../../src/sandbox/index.ts';
import { type Case, caseOf, HALT } from './cases.ts';

export interface Compared {
  readonly runs: number;
  /** How many runs ended with each code; `ok` for those without an error. */
  readonly ends: ReadonlyMap<string, number>;
  /** The first runs that differ, with the program and what was seen. */
  readonly differences: readonly string[];
}

/**
 * Runs the cases of a seed one after another in kept isolates of one owner, and each in a fresh isolate, and compares all that the host sees:
 * output, calls with their places, result, variables, error, fuel, `peakMemoryBytes` and the other amounts. The journal and the record
 * of a run are made of these alone. Stops after `most` differences.
 */
export async function compareWarm(
  {
    seed,
    runs,
    from = 0,
    most = 3,
  }: { readonly seed: number; readonly runs: number; readonly from?: number; readonly most?: number },
  files: SandboxOptions['files'],
  isStopped: () => boolean = () => false,
): Promise<Compared> {
  await using warm = await Sandbox.create({ isolation: 'tenant', concurrency: 1, files });
  await using fresh = await Sandbox.create({ isolation: 'run', concurrency: 1, files });
  const ends = new Map<string, number>();
  const differences: string[] = [];
  let done = 0;
  for (; done < runs && differences.length < most && !isStopped(); done++) {
    const one = caseOf(seed, from + done);
    let [kept, wanted] = await bothTold(warm, fresh, seed, from + done);
    for (let tries = 1; kept.isComplete !== wanted.isComplete && tries < TRIES; tries++)
      [kept, wanted] = await bothTold(warm, fresh, seed, from + done);
    ends.set(wanted.end, (ends.get(wanted.end) ?? 0) + 1);
    if (kept.all !== wanted.all)
      differences.push(
        `run ${from + done} of seed ${seed}\n${one.input.sources[0]?.text}\nfresh: ${wanted.all}\nkept:  ${kept.all}`,
      );
  }
  return { runs: done, ends, differences };
}

/** Tries of a pair of which one worker was killed: a busy machine may give it no time to end a run that is cancelled. */
const TRIES = 5;

/** What the host sees of one run. */
interface Seen {
  readonly all: string;
  readonly end: string;
  /** False when the worker was killed. */
  readonly isComplete: boolean;
}

function bothTold(warm: Sandbox, fresh: Sandbox, seed: number, number: number): Promise<[Seen, Seen]> {
  return Promise.all([told(warm, caseOf(seed, number)), told(fresh, caseOf(seed, number))]);
}

async function told(sandbox: Sandbox, { input, treatment, answer }: Case): Promise<Seen> {
  const seen = createHash('sha256');
  const first: unknown[] = [];
  const controller = new AbortController();
  const note = (what: unknown): void => {
    seen.update(JSON.stringify(what));
    if (first.length < 20) first.push(what);
  };
  const { result, usage, errors, outputComplete } = await sandbox.run(
    input,
    {
      onOut: note,
      onCall: async (call) => {
        note(call);
        if (call.t === 'prompt') return { t: 'error', code: 26, message: 'failed to get user input: end of input' };
        if (treatment === 'halts') return HALT;
        if (treatment === 'answers') return answer();
        controller.abort();
        return new Promise(() => {});
      },
    },
    controller.signal,
  );
  const { fuel, peakMemoryBytes, toolCalls, outputBytes } = usage;
  const used = { fuel, peakMemoryBytes, toolCalls, outputBytes };
  return {
    all: JSON.stringify({ result, used, errors, outputComplete, seen: seen.digest('hex'), first }),
    end: result.error?.code ?? 'ok',
    isComplete: outputComplete !== false,
  };
}
