import { SELF } from '../../grammar/vocabulary/builtins.ts';
import type { ErrorInfo } from '../wire/errors.ts';
import type { EventError, GuestInput, GuestResult, Phase } from '../wire/protocol.ts';
import { decode } from './codec.ts';
import { COMPILERS } from './compile.ts';
import type { Compilers } from './context.ts';
import { Failure, InternalError, internal, isStackOverflow, Stop } from './errors.ts';
import type * as flowPart from './flow/index.ts';
import { stackOverflow } from './invoke.ts';
import { Machine, type Ports } from './machine.ts';
import type * as probePart from './probe.ts';
import { Program } from './program.ts';
import type * as purePart from './pure/index.ts';
import type * as togetherPart from './together.ts';
import { defineConstant, defineGlobal } from './variables.ts';

const { parse, stringify } = JSON;

/** Value of the global `self`: the target of a whisper to oneself. */
const DEFAULT_BUFFER = 'default_self_buffer';

/**
 * The only entry of the interpreter.
 *
 * - `clock()` returns 0 to go on, 1 when the CPU limit is reached, 2 when the wall limit is; `clock(true)` returns the microseconds
 *   since the start of the program.
 * - `host(frame, follows)` takes the JSON of a `GuestFrame` and returns the JSON of a `GuestReply`, or '' for an `out` frame. With `follows`
 *   the next frame comes at once, and the `out` frame may be sent together with it.
 * - `tree(file, part)` returns the JSON of a part that the input only numbers.
 *
 * - `kit` goes to the scripts of the parts that only some programs need (`worker/parts.ts`): what they use of this one.
 *
 * The returned function runs one program after another. It takes the JSON of a `GuestInput` and what loads the parts that this and earlier
 * programs need; it calls each once. It returns the JSON of a `GuestResult` and never throws.
 */
export function boot(
  clock: (measured?: boolean) => number,
  host: (frame: string, follows?: boolean) => string,
  tree: (file: number, part: number) => string,
  kit: unknown = null,
): (input: string, ...loads: Loads) => string {
  let [pure, flow, probe, together]: Parts = [];
  return (input, ...[loadPure, loadFlow, loadProbe, loadTogether]) => {
    try {
      const request: GuestInput = parse(input);
      pure ??= loadPure?.(kit);
      flow ??= loadFlow?.(kit);
      probe ??= loadProbe?.(kit);
      together ??= loadTogether?.(kit);
      return new GuestRun(request, { clock, host, tree }, [pure, flow, probe, together]).execute();
    } catch (thrown) {
      return stringify(failed(internal(thrown, null)));
    }
  };
}

/** What the loaded parts export, in the order of `PART_NAMES`. */
type Parts = [
  pure?: typeof purePart | undefined,
  flow?: typeof flowPart | undefined,
  probe?: typeof probePart | undefined,
  together?: typeof togetherPart | undefined,
];
type Loads<All extends unknown[] = Parts> = { [Index in keyof All]: ((kit: unknown) => NonNullable<All[Index]>) | undefined };

function needed<Part>(part: Part | undefined, name: string): Part {
  if (part === undefined) throw new InternalError(`the part '${name}' of the interpreter is not loaded`);
  return part;
}

function failed(error: ErrorInfo): GuestResult {
  const none = { fuel: 0, peakMemoryBytes: 0, toolCalls: 0, outputBytes: 0 };
  return { ok: false, phase: 'request', result: null, eventErrors: [], error, ...none };
}

/** One run from load to result. */
class GuestRun {
  readonly #request: GuestInput;
  readonly #machine: Machine;
  readonly #compilers: Compilers;
  readonly #formOf: ((program: Program) => flowPart.UnlabelledForm) | undefined;
  #phase: Phase = 'load';
  #result = 'null';
  readonly #eventErrors: EventError[] = [];
  /** The JSON of the variables after the command blocks, if the host asks for them. */
  #variables: string | null = null;

  constructor(request: GuestInput, ports: Ports, [pure, flow, probe, together]: Parts) {
    this.#request = request;
    const machine = new Machine(request, ports);
    this.#machine = machine;
    if (request.probe !== undefined) machine.probe = new (needed(probe, 'probe').Probe)(machine, request.probe);
    if (request.flow !== undefined) {
      const { Flow, UnlabelledForm } = needed(flow, 'flow');
      const labels = new Flow(request.flow);
      machine.flow = labels;
      this.#formOf = (program) => new UnlabelledForm(labels, program);
    }
    for (const name of request.pure ?? []) {
      const tool = pure?.tools.get(name);
      if (tool !== undefined) machine.pure.set(name, tool);
    }
    this.#compilers = {
      ...(machine.flow === null ? COMPILERS : needed(flow, 'flow').FLOW_COMPILERS),
      together: together ?? null,
    };
  }

  execute(): string {
    const machine = this.#machine;
    let error: ErrorInfo | null = null;
    try {
      this.#phases();
    } catch (thrown) {
      error = this.#explain(thrown);
      machine.flow?.failed();
    }
    machine.output.flush(true);
    machine.probe?.finish();
    const head = stringify({
      ok: error === null,
      phase: this.#phase,
      eventErrors: this.#eventErrors,
      error,
      labels: machine.flow?.said(),
    });
    const usage = stringify({
      fuel: machine.fuel,
      peakMemoryBytes: Math.max(machine.peakBytes, machine.usedBytes) + (machine.flow?.memory.peak ?? 0),
      toolCalls: machine.toolCalls,
      outputBytes: machine.output.bytes,
    });
    const variables = this.#variables === null ? '' : `"variables":${this.#variables},`;
    return `${head.slice(0, -1)},"result":${error === null ? this.#result : 'null'},${variables}${usage.slice(1)}`;
  }

  #phases(): void {
    const { globals, constants = {}, files, call, events, variables, redefine } = this.#request;
    const machine = this.#machine;
    defineGlobal(machine, SELF, DEFAULT_BUFFER);
    for (const name of Object.keys(globals)) defineGlobal(machine, name, decode(machine, globals[name] ?? null));
    for (const [name, value] of Object.entries(constants)) defineConstant(machine, name, decode(machine, value));
    machine.flow?.given(machine.globals);
    const program = new Program(machine, this.#compilers, redefine, this.#formOf);
    program.load(files);
    this.#phase = 'exec';
    this.#variables = program.commands(variables);
    if (call !== null) {
      this.#phase = 'call';
      this.#result = program.call(call);
    }
    if (events.length > 0) {
      this.#phase = 'events';
      program.deliver(events, this.#eventErrors);
    }
    machine.checkClocks();
  }

  #explain(thrown: unknown): ErrorInfo {
    if (thrown instanceof Failure) return thrown.info();
    if (thrown instanceof Stop) return thrown.info;
    const machine = this.#machine;
    return isStackOverflow(thrown) ? stackOverflow(machine).info() : internal(thrown, machine.place());
  }
}
