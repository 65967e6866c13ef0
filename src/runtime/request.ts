import type { LimitOptions } from '../sandbox/index.ts';
import { type CallKeeper, type CallScript, checkedGrant, type Grant, type OnChanged, type PastCalls } from '../tools/index.ts';
import { checkEvents, checkTime } from '../wire/eventinput.ts';
import type { Probe, StepPlace } from '../wire/heat.ts';
import type { JournalEntry } from '../wire/journal.ts';
import {
  anything,
  checker,
  checkFlag,
  checkFunction,
  checkList,
  checkObject,
  checkSignal,
  checkText,
  listOf,
  oneOf,
  required,
  wholeNumber,
} from '../wire/options.ts';
import type { EventInput, OutFrame, RunInput, Source, TaggedJson, Variable } from '../wire/protocol.ts';
import type { BrokenCall, ToolShape } from '../wire/sourcereports.ts';
import type { PlanRequest } from './plan.ts';

/** The settings that every way to run a program takes. */
export interface RunSettings {
  /** Global variables of the program, in addition to the root's; they replace those of the same name. */
  readonly globals?: Readonly<Record<string, TaggedJson>>;
  /** Limits can only tighten what the fork allows. */
  readonly limits?: LimitOptions | undefined;
  /** Aborting it ends the run with `ERR_CANCELLED`. */
  readonly signal?: AbortSignal | undefined;
  /** A turn of the host loop: its output is captured and never reaches the host's callbacks. */
  readonly asTurn?: boolean;
  /**
   * First looks for calls in the sources that the policy would deny, even if the program would not reach them. If there is one, nothing is
   * executed: the error is that of the first, and `findings` of the result has them all. Otherwise a denied call fails when the program
   * makes it. In a turn, only the calls of the last source count, and that source must be exactly one command block.
   */
  readonly checkFirst?: boolean;
  /**
   * For the program of a turn that may be corrected, with `checkFirst`: also rejects calls of unknown procedures and tools, calls with a wrong
   * number of arguments, a misspelt variable, and a program that cannot emit a control token. Otherwise such a program fails when it comes to the call.
   */
  readonly strict?: boolean;
  /** For a program that may be corrected: `causes` of the result say what may have caused its failure. */
  readonly explain?: boolean;
  /**
   * A grant to which the run is bound: a call outside of it is refused with code 1003 when the program makes it. It restricts the run
   * in addition to all policies.
   */
  readonly bound?: Grant | undefined;
  /**
   * Marks whole-number keys in `values`, in `result` and in the values that callbacks get: where JavaScript would move such a key, it
   * begins with a `$`, as in the journal. So the value can be sent to a program again without losing the order of its maps. When absent,
   * every key has its own name.
   */
  readonly markedKeys?: boolean | undefined;
  /** Receives the output while the script runs, in place of the host's callbacks. If it throws or rejects, the run ends and rejects with that. */
  readonly onOut?: ((out: OutFrame) => unknown) | undefined;
  /** Receives every call to the host once the call has ended. If it throws or rejects, the run ends and rejects with that. */
  readonly onCall?: ((entry: JournalEntry) => unknown) | undefined;
  /**
   * Measures the run: `profile` of the result says where it spent its fuel and time. Otherwise the result is the same, except that a
   * measured program takes longer.
   */
  readonly probe?: Probe | undefined;
}

/** A run to make: its sources, call and events, with values as tagged JSON. */
export interface RunRequest extends RunSettings {
  /** After the root's libraries: first the definitions of all sources, then command blocks in order, then `call`, then `events`. */
  readonly sources?: readonly Source[];
  /** The procedure to call after loading, with its arguments. */
  readonly call?: { readonly name: string; readonly args: readonly TaggedJson[] } | undefined;
  /** Events to deliver, in order. */
  readonly events?: readonly EventInput[];
  /** Initial variables of the command blocks. `variables` of the result then has their final values, for a later run. */
  readonly variables?: readonly Variable[] | undefined;
  /** Lets a procedure of a later source replace an earlier one of its name; otherwise that is code 42. */
  readonly redefine?: boolean;
  /** Receives the input of the worker before the run starts. With the journal, it is enough to execute the run again. */
  readonly onInput?: ((input: RunInput) => unknown) | undefined;
  /** Executes a recorded run: its input replaces everything above. */
  readonly recorded?: RecordedRun | undefined;
  /** The earlier attempts at the turn, whose answers the same calls of this run take. */
  readonly earlier?: EarlierAttempts | undefined;
  /** A plan that a person has to approve before the first call that may change something; `mayWait` must be set. */
  readonly plan?: PlanRequest | undefined;
  /** The calls before the run that count for rules of order, in place of those of earlier runs of the session in this process. */
  readonly past?: PastCalls | undefined;
  /** What is known of the labels of the run's parts, besides the rules of the policies. */
  readonly origins?: RunOrigins | undefined;
  /** Keeps the calls while the run goes on. */
  readonly keeper?: CallKeeper | undefined;
  /** Whether a tool may put the run aside; then `waiting` of the result names the call. */
  readonly mayWait?: boolean;
  /** The time of the turn that the run belongs to: its calls begin by this time. */
  readonly time?: TurnTime | undefined;
}

/** The time of a turn. */
export interface TurnTime {
  /** Milliseconds that the turn has taken. */
  readonly elapsed: number;
  /** The program starts, before its first call. */
  start(): void;
}

/** Labels of the parts of a run, for policies with rules about origin. */
export interface RunOrigins {
  /** Labels of what the author of the program may have read: OUTPUT and SCRATCHPAD of earlier turns. None when absent. */
  readonly read?: readonly string[] | undefined;
  /** Labels of all parts of USERDATA. None when absent. */
  readonly userdata?: readonly string[] | undefined;
}

/** Earlier attempts at a turn: their calls are not made again. */
export interface EarlierAttempts {
  /** The journal of each attempt, the first attempt first. */
  readonly journals: readonly (readonly JournalEntry[])[];
  /** What happens to another call of a tool with effects that an earlier attempt called. */
  readonly onChanged: OnChanged;
}

/** A recorded run that is executed again. */
export interface RecordedRun {
  /** The complete input of the run. */
  readonly input: RunInput;
  /** Provides known answers to calls of the run. */
  readonly calls: CallScript;
  /** The denied tools by canonical name, with the reasons, for a run that is checked first; those of the policies when absent. */
  readonly denied?: ReadonlyMap<string, string>;
  /** The tools by which a strict look judges; those of the fork when absent. */
  readonly tools?: readonly ToolShape[] | undefined;
  /** The calls that rules refuse, for a strict look; none when absent. */
  readonly broken?: readonly BrokenCall[] | undefined;
}

/** Options of one execution. */
export interface ExecuteOptions extends RunSettings {
  /** Shown in positions; `src` when absent. */
  readonly name?: string;
}

/** Options of the delivery of an event. */
export interface EventOptions extends RunSettings {
  /** The sender's name of the event. An event that is sent again has the same id. Handlers see it as `ID`. */
  readonly id?: string;
  /** When it happened, Unix nanoseconds; handlers see it as `TS`. */
  readonly ts?: number;
}

const checkPlace = (what: string, value: unknown): void => {
  checkObject(what, value);
  (Object.hasOwn(value, 'step') ? checkNumber : checkVisit)(what, value);
};
const whole = required(wholeNumber(1));
const checkNumber = checker<StepPlace & { readonly step: number }>({ step: whole });
const checkVisit = checker<StepPlace & { readonly line: number }>({ source: required(checkText), line: whole, visit: whole });

const checkProbe = checker<Probe>({ trace: checkFlag, at: checkPlace });

const checkGrant = (what: string, value: unknown): void => void checkedGrant(what, value);

/** The checks of {@link RunSettings}. */
export const RUN_SETTINGS = {
  globals: checkObject,
  limits: checkObject,
  signal: checkSignal,
  asTurn: checkFlag,
  checkFirst: checkFlag,
  strict: checkFlag,
  explain: checkFlag,
  bound: checkGrant,
  markedKeys: checkFlag,
  onOut: checkFunction,
  onCall: checkFunction,
  probe: checkProbe,
} as const;

const checkSource = checker<Source>({
  name: required(checkText),
  text: required(checkText),
  definitions: checkFlag,
  interactive: checkFlag,
});

/** Checks sources. Anything else would crash the worker that parses it. */
export const checkSources = listOf(checkSource);

/** A {@link RunRequest}. Values, names of globals and sizes of limits are checked where they are used. */
export const checkRequest = checker<RunRequest>({
  ...RUN_SETTINGS,
  sources: checkSources,
  call: checker<NonNullable<RunRequest['call']>>({ name: required(checkText), args: required(listOf(anything)) }),
  events: checkEvents,
  variables: listOf(checker<Variable>({ name: required(checkText), value: required(anything), labels: listOf(checkText) })),
  redefine: checkFlag,
  onInput: checkFunction,
  recorded: checker<RecordedRun>({
    input: required(checkObject),
    calls: required(checkObject),
    denied: checkObject,
    tools: checkList,
    broken: checkList,
  }),
  earlier: checker<EarlierAttempts>({
    journals: required(checkList),
    onChanged: required(oneOf('ask', 'proceed', 'halt')),
  }),
  plan: checkObject,
  past: checkObject,
  origins: checkObject,
  keeper: checkObject,
  mayWait: checkFlag,
  time: checkObject,
});

/** Settings alone. */
export const checkRunSettings = checker<RunSettings>(RUN_SETTINGS);

/** Options of an execution. */
export const checkExecuteOptions = checker<ExecuteOptions>({ ...RUN_SETTINGS, name: checkText });

/** Options of the delivery of an event. */
export const checkEventOptions = checker<EventOptions>({ ...RUN_SETTINGS, id: checkText, ts: checkTime });
