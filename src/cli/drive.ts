import { open } from 'node:fs/promises';
import {
  type Agent,
  explainEnd,
  explainTurn,
  FileLog,
  LogError,
  LoopController,
  type LoopEvent,
  type OnInterrupted,
  runtimeExecutor,
  SessionExistsError,
  SessionLeasedError,
  SessionStateError,
  SqliteStore,
  StoreError,
  toPublicLoop,
} from '../loop/index.ts';
import { createRuntime } from '../runtime/index.ts';
import { type ApprovalFlags, approvalOf } from './approval.ts';
import { type ExitCode, exitOfDecision } from './exit.ts';
import { UsageError } from './failure.ts';
import { fileTrouble } from './input.ts';
import { readKeyring } from './keys.ts';
import { limitsOf } from './options.ts';
import { Progress } from './progress.ts';
import { Recorder } from './record.ts';
import { readSetup, type SetupFlags } from './setup.ts';
import type { Terminal } from './terminal.ts';
import { printable } from './text.ts';
import { type RepeatFlags, sourcesOf } from './turn.ts';

/** The flags with which a session is driven, from its beginning or from where it stands. */
export interface DriveFlags extends SetupFlags, RepeatFlags, ApprovalFlags {
  readonly maxTurns?: number;
  readonly maxFuel?: number;
  readonly keys?: string;
  readonly log?: string;
  readonly store?: string;
  readonly onInterrupted?: OnInterrupted;
  readonly json?: true;
}

/** Where a session starts: with USERDATA, or as the store has it. */
export type Beginning = { readonly userdata: unknown; readonly sid: string | undefined } | { readonly resume: string };

/** Drives a session to its end and explains it turn by turn. Throws {@link UsageError} for what the flags name and is not there. */
export function drive(flags: DriveFlags, agent: Agent, from: Beginning, terminal: Terminal): Promise<ExitCode> {
  return usable(() => driveOn(flags, agent, from, terminal));
}

/** Puts what a store, a log or the state of a session refuses as a {@link UsageError}: it was named on the command line. */
export async function usable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (REFUSALS.some((refusal) => error instanceof refusal))
      throw new UsageError(error instanceof Error ? error.message : '', { cause: error });
    throw error;
  }
}

const REFUSALS = [StoreError, LogError, SessionExistsError, SessionStateError, SessionLeasedError];

async function driveOn(flags: DriveFlags, agent: Agent, from: Beginning, terminal: Terminal): Promise<ExitCode> {
  const { clock, ids } = sourcesOf(flags);
  const keyring = readKeyring(flags.keys, clock);
  await using resources = new AsyncDisposableStack();
  const setup = await readSetup(flags, resources);
  if (flags.log !== undefined) await mustAppend(flags.log);
  const recorder = await Recorder.open(flags.record);
  using store = flags.store === undefined ? null : await SqliteStore.open(flags.store, { mustExist: 'resume' in from });
  await using runtime = await createRuntime({ ...setup, limits: limitsOf({ ...flags }), concurrency: 1 });
  const controller = new LoopController({
    executor: runtimeExecutor(runtime),
    keyring,
    clock,
    ids,
    ...(store === null ? {} : { store }),
    ...(flags.log === undefined ? {} : { log: new FileLog(flags.log) }),
    ...(flags.onInterrupted === undefined ? {} : { onInterrupted: flags.onInterrupted }),
  });
  using progress = new Progress(terminal);
  const print = (lines: readonly string[]) => {
    progress.clear();
    for (const line of lines) terminal.out.line(line);
  };
  const onEvent = (event: LoopEvent) => {
    progress.show(event);
    if (event.type === 'decided') recorder?.add(...event.record.journal);
    if (event.type === 'decided' && !flags.json) print([...explainTurn(event.record, terminal.paintOut), '']);
  };
  const options = {
    agent,
    signal: terminal.interrupt,
    onEvent,
    ...approvalOf(flags, terminal),
    ...(flags.maxTurns === undefined ? {} : { maxTurns: flags.maxTurns }),
    ...(flags.maxFuel === undefined ? {} : { maxFuel: flags.maxFuel }),
  };
  const result =
    'resume' in from
      ? await controller.resume(from.resume, options)
      : await controller.runLoop({ ...options, userdata: from.userdata, ...(from.sid === undefined ? {} : { sid: from.sid }) });
  print(flags.json ? [JSON.stringify(toPublicLoop(result))] : explainEnd(result, terminal.paintOut));
  await recorder?.save(setup.tools, terminal);
  return exitOfDecision(result.decision, result.reason);
}

/** A log that cannot be written must not be found out after the first turn has had its effects. */
async function mustAppend(file: string): Promise<void> {
  try {
    await using handle = await open(file, 'a', 0o600);
    // A log is read back and repaired after a crash, which a pipe or a device cannot be.
    if ((await handle.stat()).isFile()) return;
  } catch (error) {
    throw new UsageError(`cannot append to ${printable(file)}: ${fileTrouble(error)}`);
  }
  throw new UsageError(`cannot append to ${printable(file)}: it is not an ordinary file`);
}
