import { type LimitKey, limitOf } from '../../src/wire/limits.ts';
import type { TaggedJson, WorkerFrame } from '../../src/wire/protocol.ts';
import { FRAMES, failure, success, TYPES } from './frames.ts';

/** Who attacks: code in the isolate in place of the interpreter, or a process in place of the worker. */
export type Attacker = 'guest' | 'worker';

/** How an attack must end. */
export interface Ending {
  /** The code of the error; null for a run that ends well, because what it claimed was corrected. */
  readonly code: string | null;
  /** The limits that the error may name. */
  readonly limits?: readonly LimitKey[];
  /** A part of the message. */
  readonly says?: string;
  /** Whether it counts as a breach of the boundary. */
  readonly breach: boolean;
  /** Whether the worker goes on: the attack got no further than to its bridge. */
  readonly spared?: true;
}

/** What the attacker does, in order. The two attackers read the same steps: `holes.js` and `test/sandbox/rogue.cjs`. */
export interface Step {
  /** A frame, sent `times` times; `$n` is the count, `$fill` the first of `fill` as often as the second says. */
  readonly frame?: TaggedJson | object;
  readonly times?: number;
  readonly fill?: readonly [unit: string, times: number];
  /** Waits for an answer after each frame. The guest has no choice. */
  readonly read?: true;
  /** The guest's result, or its text. */
  readonly end?: object | string;
  /** Computes without end. */
  readonly spin?: true;
  // What only a process can do.
  readonly bytes?: string;
  readonly grow?: number;
  /** Megabytes of page tables. */
  readonly tables?: number;
  /** Threads that wait, or that compute for `iterations`. */
  readonly threads?: number;
  readonly iterations?: number;
  readonly sleep?: number;
  readonly exit?: number;
  readonly signal?: string;
  readonly stderr?: string;
}

export interface Attack {
  readonly name: string;
  readonly by: readonly Attacker[];
  /** The limit that it is to exceed. */
  readonly limit?: LimitKey;
  readonly limits?: Partial<Record<LimitKey, number>>;
  readonly steps?: readonly Step[];
  /** A deed of `holes.js` in place of steps. */
  readonly deed?: string;
  readonly ends: Ending;
  readonly turn?: true;
  /** The host asked where the run spends its fuel. */
  readonly measured?: true;
  /** The host never answers its calls. */
  readonly unanswered?: true;
  /** The host asks for a variable before it answers a call. */
  readonly asked?: true;
  /** Without the frame that begins a run. */
  readonly unstarted?: true;
  /** A question about sources in place of a run. */
  readonly query?: 'parse' | 'check' | 'foresee' | 'format';
}

type Rest = Partial<Omit<Attack, 'name' | 'by' | 'ends' | 'steps'>>;
const by =
  (...attackers: readonly Attacker[]) =>
  (name: string, ends: Ending, steps: readonly Step[], rest: Rest = {}): Attack => ({
    name,
    by: attackers,
    ends,
    steps,
    ...rest,
  });
const both = by('guest', 'worker');
const guest = by('guest');
const worker = by('worker');

/** Ends well: what it claimed was corrected. */
const FINE: Ending = { code: null, breach: false };
/** The host counted more than the limit allows. */
const exceeded = (limit: LimitKey, code = 'ERR_QUOTA'): Ending => ({ code, limits: [limit], breach: true });
/** The host refused a frame. */
const broke = (says: string): Ending => ({ code: 'ERR_WORKER', says, breach: true });
/** The process ended. */
const died = (says: string): Ending => ({ code: 'ERR_WORKER', says, breach: false });
/** The isolate, the worker, a clock or the watchdog ended the run. */
const stopped = (code: string, ...limits: readonly LimitKey[]): Ending => ({ code, limits, breach: false });
/** The bridge in the worker refused a frame of the guest. */
const refused: Ending = { code: 'ERR_INTERNAL', says: 'where none such may come', breach: false };

const { out, tool, together, ask, result } = FRAMES;
const said = { ...out, whispers: [] };
const emit = (text: string, value: TaggedJson = null) => ({ ...said, emits: [text], values: [value] });
const whisper = (to: string, text: string) => ({ ...out, emits: [], values: [], whispers: [{ to, text }] });
const call = { ...tool, seq: '$n' };
/** A call that runs together with others, as number `seq` of its run and from the fork of that number. */
const branch = (seq: number, fork = `f.${seq}`) => ({ seq, name: tool.name, args: [], at: { ...tool.at, fork } });
const branches = (...numbers: readonly number[]) => ({ ...together, calls: numbers.map((seq) => branch(seq)) });
const json = JSON.stringify;
const eventError = { event: 'e', error: failure };
const failed = (error: object) => ({ ...success, ok: false, error });
const send = (frame: object | string): readonly Step[] => [{ frame }];
const end = (value: object | string): readonly Step[] => [{ end: value }];

/** The limits that the interpreter keeps and the host enforces again. */
const counted = (limit: LimitKey, name: string, step: Step, rest: Rest = {}): readonly Attack[] => {
  const row = both(name, exceeded(limit), [step], { limit, ...rest });
  const ofTurns = limitOf(limit).turnDefault !== undefined;
  return ofTurns ? [row, { ...row, name: `${name}, in a turn`, turn: true, ends: exceeded(limit, 'ERR_ENV_SIZE') }] : [row];
};

const COUNTED: readonly Attack[] = [
  ...counted('emits', 'too many emits', { frame: emit(''), times: 21 }),
  ...counted('emits', 'too many whispers', { frame: whisper('', ''), times: 21 }),
  ...counted('emits', 'too many frames without output', { frame: { ...said, emits: [], values: [] }, times: 21 }),
  ...counted('outputBytes', 'too much output', { frame: emit('$fill'), fill: ['x', 10_000], times: 7 }),
  ...counted('outputBytes', 'values larger than their texts', { frame: emit('', ['$fill']), fill: ['x', 200_000], times: 3 }),
  ...counted('outputBytes', 'texts with other texts as values', { frame: emit('', '$fill'), fill: ['x', 200_000], times: 3 }),
  ...counted('lineBytes', 'a line too long', { frame: emit('a\n$fill'), fill: ['é', 8_193] }),
  ...counted('scratchBytes', 'too much whispered', { frame: whisper('', '$fill'), fill: ['x', 40_000], times: 2 }),
  ...counted('scratchBytes', 'too long names of targets', { frame: whisper('$fill', ''), fill: ['x', 70_000] }),
  ...counted('toolCalls', 'too many tool calls', { frame: call, times: 6, read: true }),
  ...counted('toolBytes', 'too large arguments', { frame: { ...tool, args: ['$fill'] }, fill: ['x', 70_000], read: true }),
  ...counted('toolBytes', 'too large a question', { frame: { ...ask, prompt: ['$fill'] }, fill: ['x', 70_000], read: true }),
  ...counted('deliveries', 'more errors of events than deliveries', {
    end: { ...success, eventErrors: Array(11).fill(eventError) },
  }),
  ...counted(
    'toolCallsPerTool',
    'too many calls of one tool',
    { frame: call, times: 3, read: true },
    { limits: { toolCallsPerTool: 2 } },
  ),
  ...counted('togetherCalls', 'too many branches', { frame: branches(1, 2, 3) }, { limits: { togetherCalls: 2 } }),
  ...counted('toolCalls', 'branches beyond the calls', { frame: branches(1, 2, 3) }, { limits: { toolCalls: 2 } }),
  ...counted('toolBytes', 'too large arguments of all branches', {
    frame: { ...together, calls: [1, 2].map((n) => ({ ...branch(n), args: ['$fill'] })) },
    fill: ['x', 40_000],
    read: true,
  }),
];

const MOST = 1.7e308;
const MANY = 9e15;
/** What an attacker says that it has used; the harness compares every usage with the limits and with what the host saw. */
const CLAIMS: readonly Attack[] = [
  both(
    'claims to have used all that a number can hold',
    FINE,
    end({ ...success, fuel: MOST, peakMemoryBytes: MOST, toolCalls: MANY, outputBytes: MANY }),
    { limit: 'fuel' },
  ),
  both('claims to have used nothing', FINE, [
    { frame: emit('abc') },
    { frame: call, times: 2, read: true },
    ...end({ ...success, fuel: 0, peakMemoryBytes: 0 }),
  ]),
  both('claims to have used parts of units', FINE, end({ ...success, fuel: 1.5, peakMemoryBytes: 1.5 })),
  worker('claims times that have not passed', FINE, send({ ...result, usage: { ...result.usage, cpuMs: MOST, wallMs: MOST } })),
];

/** Time for what computes and holds little: the others need theirs to outgrow their memory. */
const BRIEF = { cpuMs: 50 };
/** Time for what must outgrow something: on a slow machine that takes more than an attack has. */
const AMPLE = { cpuMs: 10_000 };
/** Time and memory, which the isolate, the watchdog and the clocks keep. */
const KEPT: readonly Attack[] = [
  both('computes without end', stopped('ERR_QUOTA', 'cpuMs'), [{ spin: true }], { limit: 'cpuMs', limits: BRIEF }),
  worker('computes before it has started', stopped('ERR_QUOTA', 'cpuMs'), [{ spin: true }], {
    ...{ limit: 'cpuMs', limits: BRIEF, unstarted: true },
  }),
  worker('grows', stopped('ERR_QUOTA', 'memoryBytes'), [{ grow: 192 * 2 ** 20 }, { sleep: 60_000 }], {
    ...{ limit: 'memoryBytes', limits: AMPLE },
  }),
  worker('sleeps', stopped('ERR_TIMEOUT', 'wallMs'), [{ sleep: 60_000 }], { limit: 'wallMs', limits: { wallMs: 200 } }),
  both('calls on after its time', stopped('ERR_TIMEOUT', 'wallMs'), [{ frame: call, times: 100_000, read: true }], {
    ...{ limit: 'wallMs', limits: { wallMs: 200, toolCalls: 1_000_000 }, unanswered: true },
  }),
  both('computes on after its call', stopped('ERR_TIMEOUT', 'toolMs'), [{ frame: tool, read: true }, { spin: true }], {
    ...{ limit: 'toolMs', limits: { toolMs: 100, cpuMs: 60_000 }, unanswered: true },
  }),
  // Hostile code keeps no account of its values. Memory and time bound them.
  ...(
    [
      ['memoryBytes', 'objects'],
      ['callDepth', 'recursion', BRIEF],
      ['evalDepth', 'recursion', BRIEF],
      ['valueBytes', 'fill', BRIEF],
      ['textLength', 'pad'],
      ['listLength', 'arrays'],
      ['mapLength', 'maps'],
    ] as const
  ).map(([limit, deed, limits = {}]) =>
    guest(`${limit}: ${deed}`, stopped('ERR_QUOTA', 'memoryBytes', 'cpuMs'), [], { limit, deed, limits }),
  ),
];

/** What no limit of a run counts, and the host watches. The same in native code is in `test/machine/payload.c`. */
const HELD: readonly Attack[] = [
  worker('fills page tables', broke('bytes of page tables'), [{ tables: 24 }, { sleep: 60_000 }], { limits: AMPLE }),
  worker('starts threads', broke('threads'), [{ threads: 100 }, { sleep: 60_000 }], { limits: AMPLE }),
  worker('computes in other threads', broke('its other threads computed'), [{ threads: 2, iterations: 1e8 }, { sleep: 60_000 }], {
    limits: AMPLE,
  }),
];

const nested = `[${'['.repeat(5000)}${']'.repeat(5000)}]`;
const frames = 1024 + 1;
const at = (fields: object) => send({ ...tool, at: { ...tool.at, ...fields } });
const left = (fields: object) => send({ ...ask, left: { ...ask.left, ...fields } });

/** Frames that no interpreter sends. */
const IMPOSSIBLE: readonly Attack[] = [
  both('a value nested without end', broke('nests deeper'), send(json(emit('', '$')).replace('"$"', nested)), {
    limit: 'valueDepth',
  }),
  both('a negative number of a call', broke('seq'), send({ ...tool, seq: -1 })),
  both('half a number of a call', broke('seq'), send({ ...tool, seq: 1.5 })),
  both('the number of an earlier call', broke('came after call 1'), [{ frame: tool, times: 2, read: true }]),
  both('a call of another fork', broke('came from a fork'), at({ fork: 'admin' })),
  both('a call of a fork that cannot be', broke('came from a fork'), at({ fork: 'f.2' })),
  both('no branches', broke('calls'), send(branches())),
  both('two branches of one number', broke('came after call 1'), send(branches(1, 1))),
  both('branches against their order', broke('came after call 2'), send(branches(2, 1))),
  both('two branches of one fork', broke('came from a fork'), send({ ...together, calls: [branch(1), branch(2, 'f.1')] })),
  both('a branch in the fork of the program', broke('came from a fork'), send({ ...together, calls: [branch(1, 'f')] })),
  both('a branch of a fork that cannot be', broke('came from a fork'), send({ ...together, calls: [branch(1, 'f.2')] })),
  both('a branch of an earlier block', broke('came from a fork'), [
    { frame: branches(1), read: true },
    { frame: { ...together, calls: [branch(2, 'f.1')] } },
  ]),
  both('a prompt among branches', broke('calls'), send({ ...together, calls: [FRAMES.prompt] })),
  both('branches of branches', broke('calls'), send({ ...together, calls: [together] })),
  guest('answers a branch that asked nothing', refused, [{ frame: branches(1, 2), read: true }, { frame: FRAMES.var }]),
  worker('calls while branches are open', broke('came out of turn'), [{ frame: branches(1, 2) }, { frame: branches(3) }], {
    unanswered: true,
  }),
  worker('answers branches that asked nothing', broke('came out of turn'), [{ frame: branches(1, 2) }, { frame: FRAMES.var }], {
    unanswered: true,
  }),
  both('a call at line 0', broke('at.line'), at({ line: 0 })),
  both('an ask without what is left', broke('left'), send({ ...ask, left: undefined })),
  both('less than nothing left', broke('left.fuel'), left({ fuel: -1 })),
  both('more left than numbers hold', broke('left.fuel'), send(json(ask).replace('"fuel":1', '"fuel":1e999'))),
  both('half a call left', broke('left.toolCalls'), left({ toolCalls: 0.5 })),
  both('a text left', broke('left.memoryBytes'), left({ memoryBytes: '9' })),
  both('more values than emits', broke('values'), send({ ...said, values: [1, 2] })),
  both('output without whispers', broke('whispers'), send({ t: 'out', emits: [], values: [] })),
  both('a failure without an error', broke('result.error'), end({ ...success, ok: false })),
  both('less than nothing used', broke('fuel'), end({ ...success, fuel: -1 })),
  guest('more used than numbers hold', broke('fuel'), end(json(success).replace('"fuel":1', '"fuel":1e999'))),
  worker('more used than numbers hold', broke('cpuMs'), send(json(result).replaceAll('"cpuMs":1', '"cpuMs":1e999'))),
  both('an error of no kind', broke('result.error.kind'), end(failed({ code: 'X' }))),
  both('an error that only the host gives', broke('only the host reports'), end(failed({ ...failure, code: 'ERR_WORKER' }))),
  both('a quota of another kind', broke("of kind 'internal'"), end(failed({ ...failure, code: 'ERR_QUOTA' }))),
  both('an error at line 0', broke('line'), end(failed({ ...failure, line: 0 }))),
  both(
    'a stack without end',
    broke('at most 1024'),
    end(failed({ ...failure, stack: Array(frames).fill({ name: 'p', source: 's', line: 1, column: 1 }) })),
  ),
];

/** More values than the host takes in one frame, and a limit of bytes that would admit them. */
const VALUES: readonly [string, number] = ['0,', 1_000_001];
const WIDE: Rest = { limits: { toolBytes: 2 ** 20 } };

const OF_THE_GUEST: ReadonlySet<string> = new Set(['out', 'tool', 'together', 'prompt', 'ask', 'var']);
const { probe } = FRAMES;
const part = { ...probe, marks: [], nodes: [], spent: [], end: undefined };
const told = (what: string, frame: object): Attack =>
  both(
    `tells more ${what} of a measured run than the limit`,
    broke(`more than 16 ${what}`),
    [{ frame: part }, { frame, times: 17 }],
    {
      ...{ limit: 'traceEvents', limits: { traceEvents: 16 }, measured: true },
    },
  );
/** What the report of a measured run grows by, in many frames. */
const TOLD: readonly Attack[] = [
  told('frames', part),
  told('nodes', { ...part, frames: [], nodes: [0, 0, 1, 1, 1] }),
  told('events', { ...part, frames: [], marks: [0, 1, 1, -1, 1, 1] }),
];

/** Frames of the worker that the guest forges, and other texts that the bridge must not let through. */
const FORGED: readonly Attack[] = [
  ...TYPES.filter((type) => !OF_THE_GUEST.has(type)).map((type) => guest(`forges '${type}'`, refused, send(FRAMES[type]))),
  guest("answers with 'var' what nobody asked", refused, send(FRAMES.var)),
  guest('hides the type behind another', refused, send(json(said).replace('}', ',"t":"result"}'))),
  guest('hides the type in escapes', refused, send(json(said).replace('}', ',"\\u0074":"result"}'))),
  ...['[', '', '[]', 'null'].map((text) => guest(`sends no frame: '${text}'`, refused, send(text))),
  guest('sends two frames as one', refused, send(`${json(said)},${json(result)}`)),
  guest('sends more than a frame', broke('not'), send(`${json(said)},5`)),
  guest('calls with more than fits into a frame', { ...stopped('ERR_QUOTA', 'toolBytes'), spared: true }, [
    { frame: { ...tool, args: ['$fill'] }, fill: ['x', 2_000_000] },
  ]),
  guest(
    'calls with more values than fit into a frame',
    { ...stopped('ERR_QUOTA', 'toolBytes'), spared: true },
    [{ frame: json({ ...tool, args: ['$'] }).replace('"$"', '$fill'), fill: VALUES }],
    WIDE,
  ),
];

const hex = (text: string): string => Buffer.from(text).toString('hex');
/** What only a process can do. */
const BYTES: readonly Attack[] = [
  worker('no JSON', broke('not JSON'), send('{"t":')),
  worker('no UTF-8', broke('not UTF-8'), [{ bytes: '00000002c328' }]),
  worker('an empty frame', broke('empty'), [{ bytes: '00000000' }]),
  worker('a frame that is larger than any', broke('larger than'), [{ bytes: 'ffffffff' }]),
  worker('more values than a frame may have', broke('more than 1000000 values'), [{ frame: '[$fill]', fill: VALUES }], WIDE),
  worker('more keys in one map than a frame may have', broke('more than 16384 keys'), [
    { frame: '{"a":0$fill}', fill: [',"k":0', 16_384] },
  ]),
  worker('a report of more values', broke('more than 1000000 values'), [{ frame: '[$fill]', fill: VALUES }], { query: 'check' }),
  worker('a report larger than any', broke('larger than'), [{ frame: '"$fill"', fill: ['x', 2 ** 24] }], { query: 'format' }),
  worker('a frame larger than the limits allow', broke('larger than'), [{ frame: emit('$fill'), fill: ['x', 2_000_000] }]),
  worker('a type that does not exist', broke('unknown type'), send({ t: 'root' })),
  worker('a list without frames', broke('empty'), send('[]')),
  worker('a list of lists', broke('not an object'), send('[[]]')),
  worker('a frame after its result in one list', { code: null, breach: true }, send([result, said])),
  worker('brackets without end', broke('nests deeper'), [{ frame: '$fill', fill: ['[', 1_000_000] }]),
  worker('a frame that is cut off', broke('cut off'), [{ bytes: `000000ff${hex('{"t":')}` }, { exit: 0 }]),
  worker('the start of another run', broke("'started' came out of turn"), send({ ...FRAMES.started, id: MANY }), {
    unstarted: true,
  }),
  worker('a time below zero', broke('usage.wallMs'), send({ ...result, usage: { ...result.usage, wallMs: -1 } })),
  worker('the result of another run', broke("'result' came out of turn"), send({ ...result, id: MANY })),
  worker('a success before the start', broke('before'), send(result), { unstarted: true }),
  worker('part of a frame after its result', { code: null, breach: true }, [{ frame: result }, { bytes: '000000ff7b' }]),
  worker('exits', died('exit code 3'), [{ exit: 3 }]),
  worker('crashes', died('SIGSEGV'), [{ signal: 'SIGSEGV' }]),
  worker('kills itself during a call', died('SIGKILL'), [{ frame: tool }, { signal: 'SIGKILL' }]),
  worker('floods its standard error', died('exit code 1'), [{ stderr: 'x'.repeat(1 << 20) }, { exit: 1 }]),
  worker('says that it has no memory left', stopped('ERR_QUOTA', 'memoryBytes'), [
    { stderr: 'FATAL ERROR: JavaScript heap out of memory\n' },
    { signal: 'SIGABRT' },
  ]),
];

/** The types of frames that may come at a moment of a worker's life; every other type is an attack. */
const MOMENTS = {
  'before the start': ['started', 'result'],
  'while it runs': ['out', 'tool', 'together', 'prompt', 'ask', 'result'],
  'while a call is open': [],
  'while a question is open': ['var'],
  'after the result': [],
  'while it parses': ['parsed'],
  'while it checks': ['checked'],
  'while it foresees': ['foreseen'],
  'while it formats': ['formatted'],
} as const satisfies Readonly<Record<string, readonly WorkerFrame['t'][]>>;

/** A frame of a type at a moment. */
function outOfTurn(moment: keyof typeof MOMENTS, frame: WorkerFrame): Attack {
  const name = `'${frame.t}' ${moment}`;
  const late = broke(`'${frame.t}' came out of turn`);
  const next = 'seq' in frame ? { ...frame, seq: 2 } : frame;
  switch (moment) {
    case 'before the start':
      return worker(name, late, send(next), { unstarted: true });
    case 'while it runs':
      return worker(name, late, send(next));
    case 'while a call is open':
      return worker(name, late, [{ frame: tool }, { frame: next }], { unanswered: true });
    case 'while a question is open':
      return worker(name, late, [{ frame: tool, read: true }, { frame: next }], { asked: true });
    case 'after the result':
      return worker(name, { code: null, breach: true }, [{ frame: result }, { frame: next }]);
    case 'while it parses':
      return worker(name, late, send(next), { query: 'parse' });
    case 'while it checks':
      return worker(name, late, send(next), { query: 'check' });
    case 'while it foresees':
      return worker(name, late, send(next), { query: 'foresee' });
    case 'while it formats':
      return worker(name, late, send(next), { query: 'format' });
  }
}

const OUT_OF_TURN: readonly Attack[] = Object.entries<readonly string[]>(MOMENTS).flatMap(([moment, allowed]) =>
  TYPES.filter((type) => !allowed.includes(type)).map((type) => outOfTurn(moment as keyof typeof MOMENTS, FRAMES[type])),
);

/** Every attack of the two harnesses: one row each. */
export const ATTACKS: readonly Attack[] = [
  ...COUNTED,
  ...CLAIMS,
  ...KEPT,
  ...HELD,
  ...IMPOSSIBLE,
  ...TOLD,
  ...FORGED,
  ...BYTES,
  ...OUT_OF_TURN,
];

/** The limits that neither guest nor worker can exceed, and why. */
export const NOT_THEIRS: ReadonlyMap<LimitKey, string> = new Map<LimitKey, string>([
  ['sourceBytes', 'the host sends the sources'],
  ['eventCount', 'the host sends the events'],
  ['journalBytes', 'the dispatcher on the host keeps the journal'],
  ['cost', 'the dispatcher on the host counts what calls cost'],
]);
