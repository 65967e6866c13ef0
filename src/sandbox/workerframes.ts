import { MOST_CACHES } from '../wire/codecache.ts';
import { MAX_MESSAGE_UNITS } from '../wire/costs.ts';
import { type ErrorInfo, type StackFrame, WireError } from '../wire/errors.ts';
import { type HeatFrame, type ShownVariable, STEP_SIZES, type Step, type StepFork } from '../wire/heat.ts';
import type { ArgumentLabels, CallLabels, CarriedLabel, SaidLabels } from '../wire/labels.ts';
import type {
  AskLeft,
  CallSite,
  EventError,
  GuestResult,
  ProbeFrame,
  ToolGuestCall,
  Variable,
  Variables,
  Whisper,
  WorkerFrame,
  WorkerUsage,
} from '../wire/protocol.ts';
import { plainMaps } from '../wire/tagged.ts';
import { isRecord } from '../wire/unknown.ts';
import {
  amount,
  atMost,
  boolean,
  count,
  cutTo,
  integer,
  listOf,
  object,
  oneOf,
  optional,
  orNull,
  position,
  type Reader,
  recordOf,
  string,
  tagged,
  wrong,
} from './readers.ts';
import { diagnostic, errorCode, finding, foreseen, fuelEstimate, parsedFile } from './reports.ts';

/**
 * The worker is untrusted: every field of its frames is checked and copied into a new object, so that nothing unchecked reaches
 * the host. Values of scripts stay as the JSON parser made them, which is plain JSON of bounded depth.
 */

/**
 * Reads one frame. The maps in the values of its output or result have the keys of the script. Throws {@link WireError} with the first
 * field that has not the agreed form.
 */
export function readWorkerFrame(frame: unknown): WorkerFrame {
  const read = readMarkedFrame(frame);
  if (read.t === 'out') return { ...read, values: read.values.map(plainMaps) };
  return read.t === 'result' ? { ...read, result: { ...read.result, result: plainMaps(read.result.result) } } : read;
}

/** As {@link readWorkerFrame}, but keys have the `$` that keeps their place. */
export function readMarkedFrame(frame: unknown): WorkerFrame {
  if (!isRecord(frame)) wrong('an object');
  const read = READERS.get(frame['t']);
  if (read === undefined) throw new WireError(`a frame of the unknown type ${JSON.stringify(frame['t'])?.slice(0, 40)}`);
  return read(frame);
}

type FrameOf<T extends WorkerFrame['t']> = Extract<WorkerFrame, { readonly t: T }>;

const strings = listOf(string);

/** Most frames of a stack: the deepest nesting of calls is half of that. */
const MAX_STACK = 1024;
/** Longest text of an error: the interpreter's longest message, and the note about the part that was cut off. */
const MAX_ERROR_TEXT = MAX_MESSAGE_UNITS + 64;

/** A text of an error, cut where the interpreter would have done so. */
const errorText = cutTo(MAX_ERROR_TEXT);

const stackFrame = object<StackFrame>({ name: errorText, source: errorText, line: position, column: position });

const errorInfo = object<ErrorInfo>({
  kind: oneOf('syntax', 'runtime', 'policy', 'quota', 'timeout', 'cancelled', 'usage', 'internal'),
  code: errorCode,
  nsCode: orNull(integer),
  name: errorText,
  message: errorText,
  source: orNull(errorText),
  line: orNull(position),
  column: orNull(position),
  hint: optional(errorText),
  stack: atMost(MAX_STACK, listOf(stackFrame)),
  limit: optional(errorText),
  allowed: optional(amount),
  used: optional(amount),
});

/** Most labels of one value in a frame: the interpreter names thirty, each with a few places. */
const MAX_LABELS = 1024;

const carried = atMost(
  MAX_LABELS,
  listOf(object<CarriedLabel>({ label: errorText, from: errorText, source: orNull(errorText), line: orNull(position) })),
);

const callLabels = optional(
  object<CallLabels>({
    args: listOf(object<ArgumentLabels>({ all: carried, entries: optional(recordOf(carried)) })),
    deciding: carried,
  }),
);

const saidLabels = optional(object<SaidLabels>({ output: carried, scratchpad: carried }));

const guestResult = object<GuestResult>({
  ok: boolean,
  phase: oneOf('request', 'parse', 'load', 'exec', 'call', 'events'),
  result: tagged,
  eventErrors: listOf(object<EventError>({ event: string, error: errorInfo })),
  error: orNull(errorInfo),
  variables: optional(
    object<Variables>({
      kept: listOf(object<Variable>({ name: string, value: tagged, labels: optional(atMost(MAX_LABELS, strings)) })),
      lost: strings,
    }),
  ),
  labels: saidLabels,
  fuel: amount,
  peakMemoryBytes: amount,
  toolCalls: count,
  outputBytes: count,
});

const result: Reader<GuestResult> = (value) => {
  const read = guestResult(value);
  if (read.ok !== (read.error === null)) wrong(read.ok ? 'null in a success' : 'an error in a failure', 'error');
  return read;
};

const usage = object<WorkerUsage>({
  fuel: amount,
  cpuMs: amount,
  wallMs: amount,
  peakMemoryBytes: amount,
  toolCalls: count,
  outputBytes: count,
});

const outFrame = object<FrameOf<'out'>>({
  t: oneOf('out'),
  emits: strings,
  values: listOf(tagged),
  whispers: listOf(object<Whisper>({ to: string, text: string })),
});

const out: Reader<FrameOf<'out'>> = (value) => {
  const frame = outFrame(value);
  if (frame.emits.length !== frame.values.length) wrong(`${frame.emits.length} values`, 'values');
  return frame;
};

const call = {
  seq: count,
  at: object<Omit<CallSite, 'together'>>({ fork: string, source: errorText, line: position, column: position }),
};

const branches = object<{ readonly t: 'together'; readonly calls: readonly Omit<ToolGuestCall, 't'>[] }>({
  t: oneOf('together'),
  calls: listOf(object<Omit<ToolGuestCall, 't'>>({ ...call, name: string, args: listOf(tagged), labels: callLabels })),
});

const together: Reader<FrameOf<'together'>> = (value) => {
  const { t, calls } = branches(value);
  const [first] = calls;
  if (first === undefined) wrong('at least one call', 'calls');
  return { t, calls: calls.map((each) => ({ t: 'tool', ...each, at: { ...each.at, together: first.seq } })) };
};

const name = cutTo(STEP_SIZES.name);

const shownVariable = object<ShownVariable>({
  name,
  type: name,
  text: cutTo(STEP_SIZES.text),
  cut: boolean,
  size: orNull(count),
});

const step = object<Step>({
  step: position,
  source: name,
  line: position,
  column: position,
  visit: position,
  fuel: amount,
  stack: atMost(
    STEP_SIZES.forks,
    listOf(
      object<StepFork>({
        name,
        source: name,
        line: position,
        variables: atMost(STEP_SIZES.variables, listOf(shownVariable)),
        more: count,
      }),
    ),
  ),
  more: count,
});

const heatFrame = object<HeatFrame>({
  kind: oneOf('commands', 'procedure', 'event', 'statement', 'handler', 'tool', 'prompt', 'ask', 'together', 'host'),
  name,
  source: orNull(name),
  line: orNull(position),
});

const integers = listOf(integer);

const diagnostics = listOf(diagnostic);
const files = listOf(parsedFile);

const READERS: ReadonlyMap<unknown, Reader<WorkerFrame>> = new Map<unknown, Reader<WorkerFrame>>([
  ['started', object<FrameOf<'started'>>({ t: oneOf('started'), id: count })],
  ['out', out],
  ['tool', object<FrameOf<'tool'>>({ t: oneOf('tool'), ...call, name: string, args: listOf(tagged), labels: callLabels })],
  ['together', together],
  ['prompt', object<FrameOf<'prompt'>>({ t: oneOf('prompt'), ...call, text: string })],
  [
    'ask',
    object<FrameOf<'ask'>>({
      t: oneOf('ask'),
      ...call,
      model: string,
      prompt: tagged,
      options: tagged,
      left: object<AskLeft>({ fuel: count, memoryBytes: count, toolCalls: count }),
      labels: callLabels,
    }),
  ],
  [
    'probe',
    object<FrameOf<'probe'>>({
      t: oneOf('probe'),
      frames: listOf(heatFrame),
      marks: integers,
      nodes: integers,
      spent: integers,
      end: optional(
        object<NonNullable<ProbeFrame['end']>>({
          steps: count,
          unmarked: count,
          folded: count,
          step: orNull(step),
        }),
      ),
    }),
  ],
  ['var', object<FrameOf<'var'>>({ t: oneOf('var'), found: boolean, value: tagged, error: orNull(string) })],
  [
    'result',
    object<FrameOf<'result'>>({
      t: oneOf('result'),
      id: count,
      result,
      usage,
      errors: diagnostics,
      findings: optional(listOf(finding)),
      last: boolean,
    }),
  ],
  ['parsed', object<FrameOf<'parsed'>>({ t: oneOf('parsed'), id: count, diagnostics, files, open: optional(strings) })],
  [
    'checked',
    object<FrameOf<'checked'>>({
      t: oneOf('checked'),
      id: count,
      diagnostics,
      files,
      findings: listOf(finding),
      estimates: listOf(fuelEstimate),
    }),
  ],
  ['foreseen', object<FrameOf<'foreseen'>>({ t: oneOf('foreseen'), id: count, diagnostics, foreseen: orNull(foreseen) })],
  ['formatted', object<FrameOf<'formatted'>>({ t: oneOf('formatted'), id: count, text: orNull(string), diagnostics })],
  [
    'hello',
    object<FrameOf<'hello'>>({
      t: oneOf('hello'),
      version: count,
      pid: count,
      node: string,
      dropped: strings,
      cachesUsed: optional(boolean),
    }),
  ],
  ['compiled', object<FrameOf<'compiled'>>({ t: oneOf('compiled'), build: string, caches: atMost(MOST_CACHES, strings) })],
  ['fatal', object<FrameOf<'fatal'>>({ t: oneOf('fatal'), message: string })],
]);
