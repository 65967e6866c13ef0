import type { SourceFile } from '../../grammar/syntax/ast.ts';
import { parse } from '../../grammar/syntax/parse.ts';
import { type Question as Asked, type CallEnd, endsOf, Gathered, runInRealm } from '../../src/engine/realm.ts';
import { tools as PURE } from '../../src/guest/pure/index.ts';
import type { LimitOptions } from '../../src/sandbox/limits.ts';
import { Measuring } from '../../src/sandbox/measuring.ts';
import { readWorkerFrame } from '../../src/sandbox/workerframes.ts';
import type { ErrorInfo } from '../../src/wire/errors.ts';
import type { Probe, RunProfile } from '../../src/wire/heat.ts';
import type { AnswerLabels, FlowInput } from '../../src/wire/labels.ts';
import { defaultLimits } from '../../src/wire/limits.ts';
import type {
  EventInput,
  GuestCall,
  GuestFile,
  GuestInput,
  GuestReply,
  GuestResult,
  OutFrame,
  TaggedJson,
  Whisper,
} from '../../src/wire/protocol.ts';

/** A variable of the calling fork, as the guest answers `var.get`, `var.set` and `const`. */
export interface VarAnswer {
  readonly found: boolean;
  readonly value: TaggedJson;
  readonly error: string | null;
}

/** What a test tool may do while its call is open. */
export interface ToolIo {
  readonly call: GuestCall;
  getVar(name: string): VarAnswer;
  setVar(name: string, value: TaggedJson): VarAnswer;
  defineConst(name: string, value: TaggedJson, redefine?: boolean): VarAnswer;
}

/** A test tool: gives tagged JSON, or throws {@link Raise} or {@link Halt}. */
export type TestTool = (args: readonly TaggedJson[], io: ToolIo) => TaggedJson;

/** What a test tool throws to raise an error that the script may catch. */
export class Raise extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** What a test tool throws to end the run. */
export class Halt extends Error {
  readonly error: ErrorInfo;
  constructor(error: ErrorInfo) {
    super(error.message);
    this.error = error;
  }
}

/** How a test runs a program; all parts have defaults. */
export interface DriveOptions {
  /** Procedure called after the commands. */
  readonly call?: string | null;
  readonly args?: readonly TaggedJson[];
  readonly globals?: Readonly<Record<string, TaggedJson>>;
  readonly constants?: Readonly<Record<string, TaggedJson>>;
  readonly events?: readonly EventInput[];
  readonly limits?: LimitOptions | undefined;
  readonly turn?: boolean;
  readonly forkId?: string;
  /** By canonical name, e.g. `tool.t.echo`; an unknown tool is code 3. */
  readonly tools?: Readonly<Record<string, TestTool>>;
  /** Pure tools that the program may call, by canonical name; true: all of them. */
  readonly pure?: readonly string[] | true;
  /** Lines for `promptuser`; null: there is no standard input. */
  readonly stdin?: readonly string[] | null;
  /** Answers `ask`. */
  readonly ask?: TestTool | undefined;
  /** Why a call fails with code 1003 before it is made; null for one that is made. */
  readonly refusal?: (call: GuestCall) => string | null;
  /** Hears the result of every call that does not fail. */
  readonly onAnswer?: (call: GuestCall, value: TaggedJson) => void;
  readonly clock?: (measured?: boolean) => number;
  /** Labels that the run begins with: it runs under rules about origin. */
  readonly flow?: FlowInput | undefined;
  /** Labels of the answers of tools, by canonical name. */
  readonly answers?: Readonly<Record<string, AnswerLabels>>;
  /** Measures the run; {@link Driven.profile} has what it says. */
  readonly probe?: Probe | undefined;
}

export interface Driven extends GuestResult {
  readonly emits: readonly string[];
  readonly values: readonly TaggedJson[];
  readonly whispers: readonly Whisper[];
  readonly calls: readonly GuestCall[];
  /** The `out` frames as they came, and where calls came in between. */
  readonly frames: readonly ('call' | OutFrame)[];
  /** Of each `out` frame: whether the guest said that its next frame, or its end, comes at once. */
  readonly follows: readonly boolean[];
  /** Of a measured run. */
  readonly profile: RunProfile | null;
  /** Syntax errors; the guest was not started then. */
  readonly errors: readonly {
    readonly line: number;
    readonly column: number;
    readonly message: string;
    readonly hint?: string;
  }[];
}

/**
 * Parses sources and runs them in the guest, in this process, as the worker would in an isolate. Commands run, then
 * `call`, then `events`. With a syntax error the result has phase `parse` and code NS15.
 */
export function drive(sources: string | readonly string[], options: DriveOptions = {}): Driven {
  const files: SourceFile[] = [];
  for (const [index, text] of (typeof sources === 'string' ? [sources] : sources).entries()) {
    const parsed = parse(text, { name: index === 0 ? 'test.ns' : `test${index + 1}.ns` });
    if (!parsed.ok) return unparsed(parsed.errors);
    files.push(parsed.file);
  }
  return driveFiles(files, options);
}

/** As {@link drive}, for trees. */
export function driveFiles(files: readonly SourceFile[], options: DriveOptions): Driven {
  const host = new FakeHost(options);
  const input: GuestInput = {
    files,
    globals: options.globals ?? {},
    constants: options.constants,
    pure: options.pure === undefined ? undefined : options.pure === true ? [...PURE.keys()] : options.pure,
    call: options.call === undefined || options.call === null ? null : { name: options.call, args: options.args ?? [] },
    events: options.events ?? [],
    limits: { ...defaultLimits('run'), ...options.limits },
    forkId: options.forkId ?? 'fork',
    turn: options.turn ?? false,
    stdin: options.stdin !== undefined && options.stdin !== null,
    flow: options.flow,
    probe: options.probe,
  };
  const sources = files.map(({ name }) => ({ name, text: '' }));
  const measuring = options.probe === undefined ? null : new Measuring({ ...input, sources });
  const result = runInRealm(inputText(input), {
    onOut: (out, follows) => host.onOut(out, follows),
    answer: (question) => host.answer(question),
    onReport: (report) => {
      const read = readWorkerFrame(report);
      if (read.t === 'probe') measuring?.add(read);
    },
    clock: options.clock,
  });
  measuring?.check(result.fuel);
  const profile = measuring?.profile(result.fuel) ?? null;
  const { emits, values, whispers } = host.out;
  return { ...result, emits, values, whispers, ...host.seen, profile, errors: [] };
}

/** The JSON of trees that were run before: many tests run the same trees again, with other tools. */
const TREES = new WeakMap<GuestFile, string>();

function inputText({ files, ...others }: GuestInput): string {
  const trees = files.map((file) => {
    const known = TREES.get(file) ?? JSON.stringify(file);
    TREES.set(file, known);
    return known;
  });
  return `{"files":[${trees.join()}],${JSON.stringify(others).slice(1)}`;
}

function unparsed(errors: Driven['errors']): Driven {
  const [first] = errors;
  const error: ErrorInfo = {
    kind: 'syntax',
    code: 'NS15',
    nsCode: 15,
    name: 'Syntax',
    message: first?.message ?? '',
    source: 'test.ns',
    line: first?.line ?? null,
    column: first?.column ?? null,
    stack: [],
  };
  return {
    ok: false,
    phase: 'parse',
    result: null,
    eventErrors: [],
    error,
    fuel: 0,
    peakMemoryBytes: 0,
    toolCalls: 0,
    outputBytes: 0,
    emits: [],
    values: [],
    whispers: [],
    calls: [],
    frames: [],
    follows: [],
    profile: null,
    errors,
  };
}

type Answer = Extract<Asked, { readonly t: 'var' }>;

/** Stands in for the worker and the host: gathers output, answers calls at once. */
class FakeHost {
  readonly out = new Gathered();
  readonly seen = { calls: [] as GuestCall[], frames: [] as ('call' | OutFrame)[], follows: [] as boolean[] };
  readonly #options: DriveOptions;
  readonly #lines: string[];
  #running: Dialogue | undefined;

  constructor(options: DriveOptions) {
    this.#options = options;
    this.#lines = [...(options.stdin ?? [])];
  }

  onOut(frame: OutFrame, follows: boolean): void {
    this.out.add(frame);
    this.seen.frames.push(frame);
    this.seen.follows.push(follows);
  }

  answer(question: Asked): GuestReply {
    if (question.t === 'var') {
      if (this.#running === undefined) throw new Error('an answer without a question');
      return this.#answered(this.#running, this.#running.resume(question));
    }
    this.seen.frames.push('call');
    if (question.t === 'together') return endsOf(question, (call) => this.#end(call));
    this.seen.calls.push(question);
    const labels = this.#labelsOf(question);
    const refusal = this.#options.refusal?.(question) ?? null;
    if (refusal !== null) return { t: 'error', code: 1003, message: refusal };
    this.#running = new Dialogue((io) => this.#answer(question, io), question, labels);
    return this.#answered(this.#running, this.#running.start());
  }

  #answered<Reply extends GuestReply>({ call }: Dialogue, reply: Reply): Reply {
    if (reply.t === 'ok') this.#options.onAnswer?.(call, reply.value);
    return reply;
  }

  /** The end of a call that runs together with others. Its tool has no access to the fork. */
  #end(call: GuestCall): CallEnd {
    this.seen.calls.push(call);
    const refusal = this.#options.refusal?.(call) ?? null;
    if (refusal !== null) return { t: 'error', code: 1003, message: refusal };
    const dialogue = new Dialogue((io) => this.#answer(call, io), call, this.#labelsOf(call));
    let reply = dialogue.start();
    while (reply.t === 'var.set' || reply.t === 'const')
      reply = dialogue.resume({
        t: 'var',
        found: true,
        value: null,
        error: 'a call that runs together with others sets nothing',
      });
    if (reply.t === 'ok' || reply.t === 'error') return this.#answered(dialogue, reply);
    throw new Error('a test tool among others can only give a value or raise an error');
  }

  #labelsOf(call: GuestCall): AnswerLabels | undefined {
    return this.#options.answers?.[call.t === 'tool' ? call.name : call.t];
  }

  #answer(call: GuestCall, io: ToolIo): TaggedJson {
    if (call.t === 'prompt') {
      const line = this.#lines.shift();
      if (line === undefined) throw new Raise(26, 'failed to get user input: end of input');
      return line;
    }
    if (call.t === 'ask') {
      if (this.#options.ask === undefined) throw new Raise(9, `AgentModel '${call.model}' is not registered`);
      return this.#options.ask([call.model, call.prompt, call.options], io);
    }
    const tool = this.#options.tools?.[call.name];
    if (tool === undefined) throw new Raise(3, `tool '${call.name}' not found`);
    return tool(call.args, io);
  }
}

/** Thrown inside a tool to ask the guest something; the tool is then run again, with the answers so far. */
class Question extends Error {
  readonly ask: GuestReply;
  constructor(ask: GuestReply) {
    super('question');
    this.ask = ask;
  }
}

/**
 * A tool is a plain function, yet its questions must be answered by returning from the host port. So it is run again from
 * the start for every question, with the earlier answers at hand: test tools must do nothing else that matters before.
 */
class Dialogue {
  readonly call: GuestCall;
  readonly #tool: (io: ToolIo) => TaggedJson;
  readonly #labels: AnswerLabels | undefined;
  readonly #answers: VarAnswer[] = [];

  constructor(tool: (io: ToolIo) => TaggedJson, call: GuestCall, labels: AnswerLabels | undefined) {
    this.#tool = tool;
    this.call = call;
    this.#labels = labels;
  }

  start(): GuestReply {
    let next = 0;
    const question = (ask: GuestReply): VarAnswer => {
      const answer = this.#answers[next++];
      if (answer === undefined) throw new Question(ask);
      return answer;
    };
    try {
      const value = this.#tool({
        call: this.call,
        getVar: (name) => question({ t: 'var.get', name }),
        setVar: (name, value) => question({ t: 'var.set', name, value }),
        defineConst: (name, value, redefine = false) => question({ t: 'const', name, value, redefine }),
      });
      return { t: 'ok', value, labels: this.#labels };
    } catch (thrown) {
      if (thrown instanceof Question) return thrown.ask;
      if (thrown instanceof Raise) return { t: 'error', code: thrown.code, message: thrown.message, labels: this.#labels };
      if (thrown instanceof Halt) return { t: 'halt', error: thrown.error };
      throw thrown;
    }
  }

  resume({ found, value, error }: Answer): GuestReply {
    this.#answers.push({ found, value, error });
    return this.start();
  }
}
