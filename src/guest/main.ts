import { SELF } from '../../grammar/vocabulary/builtins.ts';
import type { ErrorInfo } from '../wire/errors.ts';
import type { EventError, GuestInput, GuestResult, Phase } from '../wire/protocol.ts';
import { decode } from './codec.ts';
import { Failure, internal, isStackOverflow, Stop } from './errors.ts';
import { stackOverflow } from './invoke.ts';
import * as kit from './kit.ts';
import { Machine, type Ports } from './machine.ts';
import { Probe } from './probe.ts';
import { Program } from './program.ts';
import type { Install } from './puretool.ts';
import { defineConstant, defineGlobal } from './variables.ts';

export { kit };

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
 * The returned function runs one program. It takes the JSON of a `GuestInput` and, if that names pure tools, their installer. It returns the
 * JSON of a `GuestResult` and never throws.
 */
export function boot(
  clock: (measured?: boolean) => number,
  host: (frame: string, follows?: boolean) => string,
  tree: (file: number, part: number) => string,
): (input: string, install?: Install) => string {
  return (input, install) => {
    let run: Run | undefined;
    try {
      const request: GuestInput = parse(input);
      run = new Run(request, { clock, host, tree }, install);
      return run.execute();
    } catch (thrown) {
      return stringify(failed(internal(thrown, null)));
    }
  };
}

function failed(error: ErrorInfo): GuestResult {
  const none = { fuel: 0, peakMemoryBytes: 0, toolCalls: 0, outputBytes: 0 };
  return { ok: false, phase: 'request', result: null, eventErrors: [], error, ...none };
}

/** One run from load to result. */
class Run {
  readonly #request: GuestInput;
  readonly #machine: Machine;
  #phase: Phase = 'load';
  #result = 'null';
  readonly #eventErrors: EventError[] = [];
  /** The JSON of the variables after the command blocks, if the host asks for them. */
  #variables: string | null = null;

  constructor(request: GuestInput, ports: Ports, install: Install | undefined) {
    this.#request = request;
    this.#machine = new Machine(request, ports);
    if (request.probe !== undefined) this.#machine.probe = new Probe(this.#machine, request.probe);
    const { pure = [] } = request;
    if (install === undefined || pure.length === 0) return;
    const tools = install(kit);
    for (const name of pure) {
      const tool = tools.get(name);
      if (tool !== undefined) this.#machine.pure.set(name, tool);
    }
  }

  execute(): string {
    let error: ErrorInfo | null = null;
    try {
      this.#phases();
    } catch (thrown) {
      error = this.#explain(thrown);
    }
    const machine = this.#machine;
    machine.output.flush(true);
    machine.probe?.finish();
    const head = stringify({ ok: error === null, phase: this.#phase, eventErrors: this.#eventErrors, error });
    const usage = stringify({
      fuel: machine.fuel,
      peakMemoryBytes: Math.max(machine.peakBytes, machine.usedBytes),
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
    const program = new Program(machine, redefine);
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
