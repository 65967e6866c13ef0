import { ReplayCache as Cache, NO_PROGRESS_YET, type ReplayCache } from '../../src/aeiou/index.ts';
import type { LoopEvent } from '../../src/loop/events.ts';
import { type Ids, seededIds } from '../../src/loop/ids.ts';
import type { TurnRecord } from '../../src/loop/record/record.ts';
import { readReply, type TurnInput } from '../../src/loop/turn/input.ts';
import type { TurnHost, TurnRequest } from '../../src/loop/turn/request.ts';
import { runTurn } from '../../src/loop/turn/turn.ts';
import { fakeExecutor, newKeyring, type Program, reply, TestClock, USERDATA } from './fake.ts';

/** One host for single turns, with a fake executor; the clock and the keys can be reached. */
export interface Bench extends TurnHost {
  readonly executor: ReturnType<typeof fakeExecutor>;
  readonly clock: TestClock;
  readonly replay: ReplayCache;
}

export function bench(
  programs: Readonly<Record<string, Program>>,
  options: Partial<Bench> & { denied?: string[]; ids?: Ids } = {},
): Bench {
  const clock = options.clock ?? new TestClock();
  return {
    executor: fakeExecutor(programs, options.denied),
    clock,
    keyring: options.keyring ?? newKeyring('test', clock),
    ids: options.ids ?? seededIds('seed'),
    replay: options.replay ?? new Cache({ clock }),
    noProgressN: options.noProgressN,
  };
}

export const SECTIONS = { userdata: JSON.stringify(USERDATA), output: null, scratchpad: null };

/** Input of a turn whose ACTIONS is a program of the fake executor, or any other text. */
export function actions(text: string): TurnInput {
  return readReply(SECTIONS, reply(text));
}

/** Runs one turn of the named program. */
export async function turnOf(
  host: TurnHost,
  program: string,
  request: Partial<TurnRequest> = {},
): Promise<{ readonly record: TurnRecord; readonly events: readonly LoopEvent[]; readonly repeats: number }> {
  const events: LoopEvent[] = [];
  const { record, progress } = await runTurn(host, {
    sid: 'sid-1',
    turn: 1,
    input: actions(`program ${program}`),
    progress: NO_PROGRESS_YET,
    onEvent: (event) => events.push(event),
    ...request,
  });
  return { record, events, repeats: progress.repeats };
}
