import type { JsonValue } from '../../aeiou/index.ts';
import type { TurnContext } from '../../context/index.ts';
import { type LimitOptions, tighten } from '../../sandbox/index.ts';
import { ANYTHING, type PolicyOptions } from '../../tools/index.ts';
import { encode } from '../../wire/codec.ts';
import { NS_CODES } from '../../wire/codes.ts';
import { languageError } from '../../wire/errorinfo.ts';
import type { JournalEntry } from '../../wire/journal.ts';
import type { LimitValues } from '../../wire/limits.ts';
import type { OutFrame, Source, Usage } from '../../wire/protocol.ts';
import { NO_USAGE, type RunResult } from '../../wire/result.ts';
import type { ParsedFile } from '../../wire/sourcereports.ts';
import { RunError } from '../../wire/text/runerror.ts';
import { Watcher } from '../events.ts';
import type { V1Executor } from '../turn/executor.ts';
import type { LoopInputEvent } from './dedupe.ts';
import { deniedStub, type InvalidReason, invalidStub, joinEmits } from './diagnostics.ts';
import { readV1Reply, type V1Programs } from './envelope.ts';
import type { V1Execution } from './record.ts';
import type { OutputHook } from './secrets.ts';

/** The sections of an envelope, in the order in which a turn processes them. */
export type V1Section = 'USERDATA' | 'IMPLEMENTATIONS' | 'EVENTS' | 'ACTIONS';

/** One AEIOU v1 turn to execute. */
export interface V1TurnRequest {
  /** Id of the loop. */
  readonly loopId: string;
  /** From 1. */
  readonly turn: number;
  /** The agent's reply, with one envelope in it. */
  readonly reply: string;
  /** The JSON value that the program finds as `userdata`. */
  readonly userdata: JsonValue;
  /** Events for the handlers of EVENTS. */
  readonly events?: readonly LoopInputEvent[];
  /** Limits tighter than the executor's own; looser values have no effect. */
  readonly limits?: LimitOptions;
  /** Must admit every call in addition to the runtime's policy. */
  readonly policy?: PolicyOptions;
  /** Screens OUTPUT before it is read for control; nothing does when absent. */
  readonly screen?: OutputHook | undefined;
  /** Cancels the turn. */
  readonly signal?: AbortSignal | undefined;
  /** Called when the turn begins to process a section. If it throws or rejects, the turn rejects with that. */
  readonly onSection?: (section: V1Section) => unknown;
  /** Receives the output as it comes. */
  readonly onOut?: (out: OutFrame) => void;
  /** Receives each call with its answer. */
  readonly onCall?: (entry: JournalEntry) => void;
}

/**
 * Executes one AEIOU v1 turn: U → I → E → A. Events are delivered before ACTIONS, in a separate run, so that OUTPUT never
 * contains what handlers emit. The turn does not depend on a loop. Every failure of the reply or the program, every limit and a
 * cancellation is a result; rejects only for misuse and state.
 */
export async function executeV1Turn(executor: V1Executor, request: V1TurnRequest): Promise<V1Execution> {
  const limits = tighten(executor.limits, request.limits ?? {});
  const none = { reply: request.reply, limits, ...NOTHING };
  const read = readV1Reply(request.reply);
  if (!read.ok) return refused(none, read.reason, 'the reply has no ACTIONS that could be executed');
  const faulty = await inspect(executor, read.programs);
  if (faulty !== null) return refused(none, faulty.reason, faulty.message);
  const context = executor.context({
    sessionId: request.loopId,
    turnIndex: request.turn,
    signal: request.signal,
  });
  try {
    return await execute(executor, context, request, { programs: read.programs, limits });
  } finally {
    context.close();
  }
}

const NOTHING = {
  invalid: null,
  output: '',
  stubs: [],
  lints: [],
  whispers: [],
  eventEmits: [],
  delivered: [],
  eventErrors: [],
  journal: [],
  usage: NO_USAGE,
  error: null,
} as const;

function refused(none: V1Execution, invalid: InvalidReason, message: string): V1Execution {
  const error = RunError.of(languageError(NS_CODES.Syntax, message, { source: 'ACTIONS', line: 1, column: 1 }));
  return { ...none, invalid, stubs: [invalidStub(invalid)], error };
}

interface Fault {
  readonly reason: InvalidReason;
  readonly message: string;
}

/** Why the sections must not be executed; null when they may. Checked before the first statement runs. */
async function inspect(executor: V1Executor, programs: V1Programs): Promise<Fault | null> {
  const sections = [
    { source: source('IMPLEMENTATIONS', programs.implementations), shape: implementationsFault },
    { source: source('EVENTS', programs.events), shape: eventsFault },
    { source: source('ACTIONS', programs.actions), shape: actionsFault },
  ];
  for (const { source, shape } of sections) {
    if (source.text === '') continue;
    const { diagnostics, files } = await executor.inspect(source);
    const [first] = diagnostics;
    if (first !== undefined)
      return { reason: 'parse_error', message: `${first.file}:${first.line}:${first.column}: ${first.message}` };
    const fault = shape(files[0]);
    if (fault !== null) return fault;
  }
  return null;
}

function source(name: V1Section, text: string): Source {
  return { name, text };
}

/** Only pure functions are allowed. A function that calls no tool has no effect. */
function implementationsFault(file: ParsedFile | undefined): Fault | null {
  if (file?.kind !== 'library' || file.events > 0)
    return { reason: 'implementations_not_definitions', message: 'IMPLEMENTATIONS may hold functions only' };
  const [tool] = file.tools;
  if (tool === undefined) return null;
  return {
    reason: 'implementations_call_tools',
    message: `IMPLEMENTATIONS must be pure, and it calls ${tool}; call it from ACTIONS`,
  };
}

function eventsFault(file: ParsedFile | undefined): Fault | null {
  if (file?.kind === 'library' && file.events > 0 && file.procedures.length === 0) return null;
  return { reason: 'events_not_handlers', message: 'EVENTS may hold event handlers only' };
}

function actionsFault(file: ParsedFile | undefined): Fault | null {
  if (file?.kind === 'commands' && file.commandBlocks === 1) return null;
  return { reason: 'missing_command', message: 'ACTIONS must be exactly one command block' };
}

interface Prepared {
  readonly programs: V1Programs;
  readonly limits: LimitValues;
}

async function execute(
  executor: V1Executor,
  context: TurnContext,
  request: V1TurnRequest,
  { programs, limits }: Prepared,
): Promise<V1Execution> {
  const sections = new Watcher(request.onSection);
  const enter = (section: V1Section): void => {
    sections.emit(section);
    sections.check();
  };
  enter('USERDATA');
  const [implementations, handlers, actions] = [
    source('IMPLEMENTATIONS', programs.implementations),
    source('EVENTS', programs.events),
    source('ACTIONS', programs.actions),
  ];
  const definitions: Source[] = [];
  if (programs.implementations !== '') {
    enter('IMPLEMENTATIONS');
    definitions.push(implementations);
  }
  if (programs.events !== '') {
    enter('EVENTS');
    definitions.push(handlers);
  }
  const events = programs.events === '' ? [] : (request.events ?? []);
  const run = (last: Source, within: LimitValues, deliver: readonly LoopInputEvent[] = []): Promise<RunResult> =>
    executor.fork({ context, tools: [], limits: within, policy: request.policy }).execute({
      sources: [...definitions.filter((definition) => definition !== last), last],
      asTurn: true,
      events: deliver.map(({ eventId, name, source: sender, payload }) => ({ name, source: sender, payload, id: eventId })),
      globals: { userdata: encode(request.userdata) },
      // Nobody keeps the labels of what the agent has read.
      origins: { read: [ANYTHING] },
      onOut: (out) => request.onOut?.(out),
      onCall: (entry) => request.onCall?.(entry),
    });
  const first = events.length === 0 ? null : await run(handlers, limits, events);
  if (first !== null && first.error !== null) return toExecution(request, limits, events, first, null);
  enter('ACTIONS');
  const second = await run(actions, first === null ? limits : less(limits, first.usage));
  sections.close();
  return toExecution(request, limits, events, first, second);
}

/** The limits that are left after the events. */
function less(limits: LimitValues, used: Usage): LimitValues {
  const left = (allowed: number, spent: number): number => Math.max(1, Math.floor(allowed - spent));
  return {
    ...limits,
    fuel: left(limits.fuel, used.fuel),
    cpuMs: left(limits.cpuMs, used.cpuMs),
    wallMs: left(limits.wallMs, used.wallMs),
    toolCalls: Math.max(0, limits.toolCalls - used.toolCalls),
  };
}

function toExecution(
  request: V1TurnRequest,
  limits: LimitValues,
  events: readonly LoopInputEvent[],
  first: RunResult | null,
  second: RunResult | null,
): V1Execution {
  const runs = [first, second].filter((run) => run !== null);
  const journal = runs.flatMap((run) => run.journal);
  const said = joinEmits(second?.emits ?? []);
  const { output, lints } = request.screen?.(said) ?? { output: said, lints: [] };
  return {
    reply: request.reply,
    limits,
    invalid: null,
    output,
    stubs: deniedTools(journal).map(deniedStub),
    lints,
    whispers: runs.flatMap((run) => run.whispers),
    eventEmits: first?.emits ?? [],
    delivered: first === null ? [] : events.map(({ eventId }) => eventId),
    eventErrors: first?.eventErrors ?? [],
    journal,
    usage: runs.map(({ usage }) => usage).reduce(sum, NO_USAGE),
    error: first?.error ?? second?.error ?? null,
  };
}

/** The denied tools, each once and in the order of the calls. */
function deniedTools(journal: readonly JournalEntry[]): readonly string[] {
  const denied = journal.flatMap((entry) => {
    if (entry.kind !== 'tool' || entry.outcome.ok) return [];
    const code = 'code' in entry.outcome ? entry.outcome.code : entry.outcome.halted.nsCode;
    return code === NS_CODES.Policy ? [entry.name] : [];
  });
  return [...new Set(denied)];
}

function sum(a: Usage, b: Usage): Usage {
  return {
    fuel: a.fuel + b.fuel,
    cpuMs: a.cpuMs + b.cpuMs,
    wallMs: a.wallMs + b.wallMs,
    peakMemoryBytes: Math.max(a.peakMemoryBytes, b.peakMemoryBytes),
    toolCalls: a.toolCalls + b.toolCalls,
    outputBytes: a.outputBytes + b.outputBytes,
    queueMs: a.queueMs + b.queueMs,
  };
}
