import {
  type Agent,
  CallError,
  type DecisionLog,
  FileLog,
  LogError,
  LoopController,
  type LoopProgress,
  type LoopResult,
  MemoryStore,
  runtimeExecutor,
  SessionCoordinator,
  SessionExistsError,
  SessionLeasedError,
  SessionStateError,
  SqliteStore,
  StoreError,
  type TurnResult,
  toPublicLoop,
  toPublicTurn,
} from '../../loop/index.ts';
import { explainEnd, explainTurn, printable } from '../../report/index.ts';
import { createRuntime } from '../../runtime/index.ts';
import { answerSample, shellWord } from '../../wire/text/commandwords.ts';
import type { DriveFlags, Settings } from '../config/settings.ts';
import { grammarOf, systemOf } from '../flags/agent.ts';
import { approvalOf } from '../flags/approval.ts';
import { ceilingsOf } from '../flags/ceilings.ts';
import { loadLibrary } from '../flags/library.ts';
import { readModels } from '../flags/models.ts';
import { Recorder } from '../flags/record.ts';
import { heldBy } from '../flags/rehearsal.ts';
import { sourcesOf } from '../flags/session.ts';
import { readSetup } from '../flags/setup.ts';
import { type OpenedStore, openStore, storeFile, storeName } from '../flags/store.ts';
import { EXIT, type ExitCode, exitOfDecision } from '../terminal/exit.ts';
import { UsageError } from '../terminal/failure.ts';
import { fileTrouble, mustAppend } from '../terminal/input.ts';
import { Progress, Replies } from '../terminal/progress.ts';
import { withAdvice } from '../terminal/result.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { readKeyring } from './keys.ts';

/** A new session with its USERDATA, or a stored one to resume. */
export type Beginning = { readonly userdata: unknown; readonly sid: string | undefined } | { readonly resume: string };

/** Drives a session to its end and explains every turn. Throws {@link UsageError} for an unusable file, session or tool. */
export function drive(flags: Settings, agent: Agent, from: Beginning, terminal: Terminal): Promise<ExitCode> {
  return usable(() => driveOn(flags, agent, from, terminal));
}

/** Turns errors of a store, a log or a session into a {@link UsageError}, because the command line named it. */
export async function usable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (REFUSALS.some((refusal) => error instanceof refusal))
      throw new UsageError(error instanceof Error ? error.message : '', { cause: error });
    // The log rejects with errors of the system, and its lock with those of SQLite: of a full disk, for instance.
    if (error instanceof Error && ('syscall' in error || 'errcode' in error))
      throw new UsageError(`the session cannot be kept: ${fileTrouble(error)}`, { cause: error });
    throw error;
  }
}

/** The command, with errors as by {@link usable}. */
export function usably<Given extends readonly unknown[]>(
  command: (...given: Given) => Promise<ExitCode>,
): (...given: Given) => Promise<ExitCode> {
  return (...given) => usable(() => command(...given));
}

const REFUSALS = [CallError, StoreError, LogError, SessionExistsError, SessionStateError, SessionLeasedError];

async function driveOn(flags: Settings, agent: Agent, from: Beginning, terminal: Terminal): Promise<ExitCode> {
  const { clock, ids } = sourcesOf(flags);
  const keyring = readKeyring(flags.keys, clock);
  await using resources = new AsyncDisposableStack();
  const setup = await readSetup(flags, resources, terminal);
  // After a crash the log is read and repaired, which is impossible with a pipe or a device.
  if (flags.log !== undefined) mustAppend(flags.log);
  const recorder = await Recorder.open(flags.record);
  await using store = storeFile(flags.store) === null ? null : await openStore(flags.store, { mustExist: 'resume' in from });
  // All sessions share one log, because every entry is chained to the one before.
  const log = logOf(flags.log, store);
  const kept = { ...(store === null ? {} : { store }), ...(log === null ? {} : { log }) };
  using progress = new Progress(terminal, flags.stream);
  const { ask, stores } = await readModels(flags, () => ({
    keyring,
    clock,
    ids,
    ...kept,
    onEvent: (event) => progress.showNested(event),
  }));
  await using runtime = await createRuntime({ ...setup, limits: flags.limits, concurrency: 1, ask });
  const root = runtime.interpreter({ stores });
  await loadLibrary(root, flags.library);
  const coordinator = new SessionCoordinator({
    store: store ?? new MemoryStore(),
    log,
    clock,
  });
  const controller = new LoopController({
    executor: runtimeExecutor(runtime, root),
    keyring,
    clock,
    ids,
    system: await systemOf(flags, setup, 'v3', root.library),
    grammar: grammarOf(flags, setup),
    coordinator,
    durable: flags.durable,
    onInterrupted: flags.onInterrupted,
  });
  // The session stays open, and the next process need not wait for the end of its lease.
  terminal.beforeFailure(async () => {
    const left = controller.handOff();
    await coordinator.abandon();
    await left;
  });
  const { maxTime } = flags;
  const options = {
    agent,
    signal: terminal.interrupt,
    keepTurns: false,
    ...approvalOf(flags, terminal),
    ...ceilingsOf(flags),
    repair: flags.repair,
    approve: flags.approve,
    ...(await heldBy(flags, setup, flags.limits, resources)),
    wallMs: maxTime,
    // A session that nobody keeps cannot be resumed.
    ...(store === null ? {} : { onUnanswered: 'leave' as const }),
  };
  // A dead process may leave decisions that are not in the log, and open sessions that its programs asked for.
  if ('resume' in from) await controller.recover();
  const events =
    'resume' in from
      ? controller.streamResume(from.resume, options)
      : controller.stream({ ...options, userdata: from.userdata, sid: from.sid });
  const result = await watch(events, flags, { terminal, progress, recorder });
  await recorder?.save(setup.tools, terminal);
  if (flags.metrics) terminal.err.text(controller.metrics.prometheus());
  return result.decision === 'CONTINUE' && result.error !== null ? EXIT.halt : exitOfDecision(result.decision, result.reason);
}

/** The log that a flag names; without one, that of a database, which many hosts share. */
export function logOf(flag: string | undefined, store: OpenedStore | null): DecisionLog | null {
  if (flag !== undefined) return new FileLog(flag);
  return store === null || store instanceof SqliteStore ? null : store.log;
}

/** Prints each turn as it is decided, and the end of the session. */
async function watch(
  events: AsyncGenerator<LoopProgress, LoopResult, void>,
  flags: DriveFlags,
  {
    terminal,
    progress,
    recorder,
  }: { readonly terminal: Terminal; readonly progress: Progress; readonly recorder: Recorder | null },
): Promise<LoopResult> {
  const print = (lines: readonly string[]): void => {
    progress.clear();
    for (const line of lines) terminal.out.prose(line);
  };
  const turns: TurnResult[] = [];
  const replies = flags.stream === true ? new Replies(terminal) : null;
  for (;;) {
    const next = await events.next();
    if (next.done === true) {
      progress.clear();
      if (flags.json) terminal.out.json(toPublicLoop(next.value, turns));
      else print([...explainEnd(withAdvice({ ...next.value, turns }), terminal.paintOut), ...nextStep(next.value, flags)]);
      return next.value;
    }
    progress.show(next.value);
    replies?.show(next.value);
    if (next.value.type !== 'decided') continue;
    const { record } = next.value;
    turns.push(toPublicTurn(record));
    recorder?.add(record.journal);
    if (!flags.json) print([...explainTurn(record, terminal.paintOut), '']);
  }
}

/** The command that goes on with a stored session: it answers the call that it waits for, or asks its agent again. */
function nextStep({ sid, decision, error, waiting }: LoopResult, { store }: DriveFlags): readonly string[] {
  if (storeFile(store) === null) return [];
  const where = store === undefined ? '' : ` --store ${storeName(store)}`;
  if (decision === 'CONTINUE' && error !== null)
    return [`Go on with: neuroscript sessions resume ${printable(sid)}${where}, and the --agent and --tools of this session`];
  if (waiting === undefined) return [];
  return [waiting, ...(waiting.also ?? [])]
    .filter(({ completed }) => !completed)
    .map(({ call, plan, answer = null }) =>
      plan === undefined
        ? `Answer with: neuroscript sessions complete ${printable(sid)} --call ${call} --result ${printable(shellWord(answerSample(answer)))}${where}, and the --tools of this session`
        : `Answer with: neuroscript sessions complete ${printable(sid)} ${call} true --keys FILE${where}`,
    );
}
