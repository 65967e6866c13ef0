/** A run: definitions, then command blocks, then a call, then events. */
import type { Block, CallExpr, EventHandler, Procedure, SourceFile } from '../../../grammar/index.ts';
import { Activation, type World } from './activation.ts';
import { fromJson, type Json, jsonOf } from './json.ts';
import { Origin, type Sources } from './labels.ts';
import { Machine, placeIn, shared } from './machine.ts';
import { Breach, Failure, type Limits, Meter, NOWHERE, type Place, PRICE } from './meter.ts';
import type { Labels } from './parts.ts';
import { costOf, stepsOf } from './statements.ts';
import { type AnswerCall, Tools } from './tools.ts';
import { Dict, List, type Value } from './values.ts';

/** What a run gets. */
export interface Request {
  readonly files: readonly SourceFile[];
  readonly limits: Limits;
  readonly globals?: Readonly<Record<string, Json>>;
  readonly constants?: Readonly<Record<string, Json>>;
  /** Answers calls of tools; without it every tool is unknown. */
  readonly tools?: AnswerCall;
  readonly stdin?: readonly string[] | null;
  /** The labels that the run begins with; without them, nothing has labels. */
  readonly origin?: Sources;
  readonly call?: { readonly name: string; readonly args: readonly Json[] } | null;
  readonly events?: readonly {
    readonly name: string;
    readonly source: string;
    readonly payload: Json;
    readonly id: string;
    readonly ts: number;
  }[];
}

/** An error of a run, or a limit that it would have exceeded. */
export interface RunError {
  /** `NS7`, or `ERR_QUOTA`. */
  readonly code: string;
  readonly line: number | null;
  readonly column: number | null;
  readonly limit?: string | undefined;
  readonly used?: number | undefined;
}

/** What a run did. `values` and `result` are JSON texts. */
export interface Outcome {
  readonly emits: readonly string[];
  readonly values: readonly string[];
  readonly whispers: readonly { readonly to: string; readonly text: string }[];
  readonly result: string;
  /** The calls of tools, as `name(arguments)`. */
  readonly calls: readonly string[];
  readonly eventErrors: readonly { readonly event: string; readonly error: RunError }[];
  readonly error: RunError | null;
  readonly fuel: number;
  /** Whether the fuel is exact: false when the run looked through long texts, which may cost less the next time. */
  readonly isExact: boolean;
  /** Whether the fuel is that of the product, although it looked through long texts. */
  readonly isFollowed: boolean;
  /** Labels of what was said. */
  readonly labels: { readonly output: readonly string[]; readonly scratchpad: readonly string[] };
}

/** Runs files together. */
export function run(request: Request): Outcome {
  return new Run(request).outcome();
}

interface Registered {
  readonly file: SourceFile;
  readonly name: string;
  readonly handler: EventHandler;
}

const NOWHENCE: Sources = { program: [], globals: [], events: [] };

/** Bytes of a whisper's target that are free. */
const FREE_TARGET_BYTES = 64;
/** Levels of depth that a call adds to those of the expression it stands in. */
const CALL_LEVELS = 3;

class Run implements World {
  readonly machine: Machine;
  readonly globals: ReadonlyMap<string, Value>;
  readonly constants: ReadonlyMap<string, Value>;
  readonly tools: Tools;
  readonly stdin: string[] | null;
  readonly #request: Request;
  readonly #meter: Meter;
  readonly #procedures = new Map<string, { readonly file: SourceFile; readonly procedure: Procedure }>();
  #handlers: Registered[] = [];
  readonly #emits: string[] = [];
  readonly #values: string[] = [];
  readonly #whispers: { readonly to: string; readonly text: string }[] = [];
  readonly #eventErrors: { readonly event: string; readonly error: RunError }[] = [];
  #outputBytes = 0;
  #scratchBytes = 0;
  #result: Value = null;

  constructor(request: Request) {
    this.#request = request;
    this.#meter = new Meter(request.limits);
    this.stdin = request.stdin === undefined || request.stdin === null ? null : [...request.stdin];
    const given = Object.entries(request.globals ?? {}).map(([name, json]) => [name, fromJson(json)] as const);
    this.globals = new Map([['self', 'default_self_buffer'], ...given]);
    this.constants = new Map(Object.entries(request.constants ?? {}).map(([name, json]) => [name, shared(fromJson(json))]));
    this.machine = new Machine(this.#meter, new Origin(request.origin ?? NOWHENCE, this.globals));
    this.tools = new Tools(this.machine, request.tools);
  }

  outcome(): Outcome {
    const error = this.#attempt();
    const { output, scratchpad } = this.machine.origin;
    return {
      emits: this.#emits,
      values: this.#values,
      whispers: this.#whispers,
      result: error === null ? jsonOf(this.#result) : 'null',
      calls: this.tools.made,
      eventErrors: this.#eventErrors,
      error,
      fuel: this.#meter.fuel,
      isExact: this.machine.isExact,
      isFollowed: this.machine.isFollowed,
      labels: { output: [...output].sort(), scratchpad: [...scratchpad].sort() },
    };
  }

  #attempt(): RunError | null {
    try {
      this.#load();
      this.#commands();
      this.#start();
      this.#deliver();
      if (this.#request.events?.length) this.machine.origin.delivered();
      return null;
    } catch (error) {
      this.machine.origin.failed();
      return describe(error);
    }
  }

  #load(): void {
    for (const [name, value] of this.globals) if (name !== 'self') this.machine.import(value, null);
    for (const value of this.constants.values()) this.machine.import(value, null);
    for (const file of this.#request.files) {
      for (const procedure of file.procedures) {
        const at = placeIn(file, procedure.name.s);
        if (this.#procedures.has(procedure.name.name) || this.constants.has(procedure.name.name))
          throw this.machine.failure(42, 'the procedure is defined twice', at);
        this.#procedures.set(procedure.name.name, { file, procedure });
      }
    }
    for (const file of this.#request.files)
      for (const handler of file.events) {
        const activation = new Activation(this, file, 0, { result: false, last: false });
        const name = activation.nameOf(handler.event, (work) => this.#framed('Event Name', placeIn(file, handler.s), work));
        this.machine.origin.registered();
        this.#handlers.push({ file, name, handler });
      }
  }

  #commands(): void {
    const [first] = this.#request.files;
    if (first === undefined) return;
    const bodies = this.#request.files.flatMap(({ commands }) => commands.map(({ body }) => body));
    const activation = new Activation(this, first, 0, { result: false, last: mentionsLast(bodies) });
    for (const file of this.#request.files)
      for (const command of file.commands) {
        activation.file = file;
        this.#framed('Command Block', placeIn(file, command.s), () => activation.run(command.body, false));
      }
  }

  #start(): void {
    const { call } = this.#request;
    if (call === undefined || call === null) return;
    const found = this.#procedures.get(call.name);
    if (found === undefined) throw new Failure(2, `procedure '${call.name}' not found`, NOWHERE, []);
    const args = call.args.map(fromJson);
    for (const arg of args) this.machine.import(arg, null);
    this.#result = this.#enter(found, args, [], 0, null);
    this.machine.origin.said('output', this.#result);
    this.machine.export(this.#result, null);
  }

  #deliver(): void {
    const events = this.#request.events ?? [];
    let deliveries = 0;
    for (const [index, { name, source, payload, id, ts }] of events.entries()) {
      if (index >= (this.#meter.limits.eventCount ?? events.length)) this.#meter.bound('eventCount', events.length, null);
      const handlers = this.#handlers.filter((handler) => handler.name === name);
      const labels = new Set(this.#request.origin?.events[index]);
      if (handlers.length === 0) continue;
      const data = fromJson(payload);
      this.machine.import(data, null);
      const entry = { ID: id, Kind: name, AgentID: source, TS: ts, Payload: data };
      for (const registered of handlers) {
        if (!this.#handlers.includes(registered)) continue;
        deliveries += 1;
        this.#meter.bound('deliveries', deliveries, null);
        const { file, handler } = registered;
        const activation = new Activation(this, file, 0, { result: false, last: mentionsLast([handler.body]) });
        if (handler.as !== undefined)
          activation.bind(handler.as.name, new Dict([['payload', new List([new Dict(Object.entries(entry))])]]), labels);
        activation.labels.ambient = this.machine.origin.cleared;
        const [first] = stepsOf(handler.body);
        this.#meter.spend(PRICE.call + (first === undefined ? 0 : costOf(first)), null);
        try {
          this.#framed(`Event: ${name}`, placeIn(file, handler.s), () => activation.run(handler.body, true));
        } catch (error) {
          if (!(error instanceof Failure)) throw error;
          this.machine.origin.failed();
          this.#eventErrors.push({ event: name, error: describe(error) });
        }
      }
    }
  }

  call({ name: { name } }: CallExpr, args: readonly Value[], labels: readonly Labels[], depth: number, at: Place): Value {
    const found = this.#procedures.get(name);
    if (found === undefined) throw this.machine.failure(2, `procedure '${name}' not found`, at);
    const { needs, optional } = found.procedure;
    if (args.length < needs.length || args.length > needs.length + optional.length)
      throw this.machine.failure(4, `'${name}' takes ${needs.length} to ${needs.length + optional.length} arguments`, at);
    return this.#enter(found, args, labels, depth + CALL_LEVELS, at);
  }

  #enter(
    { file, procedure }: { readonly file: SourceFile; readonly procedure: Procedure },
    args: readonly Value[],
    labels: readonly Labels[],
    depth: number,
    at: Place | null,
  ): Value {
    const { callDepth, evalDepth } = this.#meter.limits;
    const [first] = stepsOf(procedure.body);
    this.#meter.spend(PRICE.call + (first === undefined ? 0 : costOf(first)), at);
    if (this.machine.frames.length >= callDepth) throw this.machine.failure(37, 'calls nest too deep', at ?? NOWHERE);
    if (depth > evalDepth) throw this.machine.failure(37, 'nested too deep', at ?? NOWHERE);
    const activation = new Activation(this, file, depth, { result: true, last: mentionsLast([procedure.body]) });
    for (const [index, { name }] of [...procedure.needs, ...procedure.optional].entries())
      activation.bind(name, args[index] ?? null, labels[index]);
    return this.#framed(procedure.name.name, placeIn(file, procedure.s), () => activation.run(procedure.body, true));
  }

  #framed<T>(name: string, place: Place, work: () => T): T {
    this.machine.frames.push({ name, ...place });
    try {
      return work();
    } finally {
      this.machine.frames.pop();
    }
  }

  emit(value: Value, at: Place): Value {
    this.#meter.spend(PRICE.said, at);
    this.#meter.bound('emits', this.#emits.length + 1, at);
    const text = this.machine.print(value, at);
    const lines = text.split('\n');
    for (const line of lines) {
      this.#meter.spendFor(line.length, 'text', at);
      this.#meter.bound('lineBytes', bytesOf(line), at);
    }
    this.#meter.spendFor(lines.length - 1, 'line', at);
    const bytes = this.#outputBytes + bytesOf(text) + 1;
    this.#meter.bound('outputBytes', bytes, at);
    this.#meter.spendFor(JSON.stringify(text).length, 'json', at);
    if (typeof value !== 'string') this.machine.export(value, at);
    this.#outputBytes = bytes;
    this.#emits.push(text);
    this.machine.origin.said('output', value);
    this.#values.push(jsonOf(value));
    return value;
  }

  whisper(target: Value, value: Value, label: Labels, at: Place): void {
    this.#meter.spend(PRICE.said, at);
    this.#meter.bound('emits', this.#whispers.length + 1, at);
    const to = this.machine.print(target, at);
    const text = this.machine.print(value, at);
    for (const part of [to, text]) this.#meter.spendFor(part.length, 'text', at);
    const bytes = this.#scratchBytes + Math.max(0, bytesOf(to) - FREE_TARGET_BYTES) + bytesOf(text) + 1;
    this.#meter.bound('scratchBytes', bytes, at);
    for (const part of [to, text]) this.#meter.spendFor(JSON.stringify(part).length, 'json', at);
    this.#scratchBytes = bytes;
    this.#whispers.push({ to, text });
    this.machine.origin.said('scratchpad', value, this.machine.origin.parts.deep(target, label));
  }

  clearEvent(remove: { readonly event: string } | { readonly named: string }): void {
    this.#handlers = this.#handlers.filter(({ name, handler }) =>
      'event' in remove ? name !== remove.event : handler.named !== remove.named,
    );
    this.machine.origin.clears('event' in remove);
  }
}

/** Whether a statement of the bodies reads `last`. The values of a `return` in a handler of errors are never read. */
function mentionsLast(bodies: readonly Block[]): boolean {
  return bodies.some((body) => {
    const known = NAMES_LAST.get(body) ?? namesLast(body);
    NAMES_LAST.set(body, known);
    return known;
  });
}

const NAMES_LAST = new WeakMap<Block, boolean>();

function namesLast(node: unknown, inHandler = false): boolean {
  if (typeof node !== 'object' || node === null) return false;
  if ('k' in node && node.k === 'last') return true;
  if (inHandler && 'k' in node && node.k === 'return') return false;
  return Object.entries(node).some(([key, part]) => namesLast(part, inHandler || key === 'onError'));
}

function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length;
}

function describe(error: unknown): RunError {
  if (error instanceof Failure) {
    const nowhere = error.at === NOWHERE;
    return { code: `NS${error.code}`, line: nowhere ? null : error.at.line, column: nowhere ? null : error.at.column };
  }
  if (!(error instanceof Breach)) throw error;
  const { limit, used, at } = error;
  return { code: 'ERR_QUOTA', line: at?.line ?? null, column: at?.column ?? null, limit, used };
}
