import type { EventError, EventInput, GuestFile, GuestInput, GuestProcedure, Variable } from '../wire/protocol.ts';
import { decode, encode } from './codec.ts';
import { type Body, compileAlone, compileBodies, compileUnit } from './compile.ts';
import type { Compilers, Linkage } from './context.ts';
import { excess } from './describe.ts';
import { codeOf, Failure, type FramePlace } from './errors.ts';
import { Events, eventObject, type Registration } from './events.ts';
import type { Label } from './flow/origins.ts';
import type { UnlabelledForm } from './flow/unlabelled.ts';
import { Frame, rareOf, type Slot, variablesOf } from './frame.ts';
import { checkDepth, checkEvalDepth, invoke, newFrame } from './invoke.ts';
import { LoadedFile } from './loadedfile.ts';
import type { Machine } from './machine.ts';
import { COMMAND_FRAME } from './onerror.ts';
import { within } from './probed.ts';
import { type Compiled, Procedure, type Source } from './procedure.ts';
import { toText } from './text.ts';
import { utf8Bytes } from './utf8.ts';
import type { Value } from './values.ts';
import { WORK } from './work.ts';

type EventHandler = GuestFile['events'][number];

/** A procedure that was not called yet: its file, and its place among the procedures there. */
interface Unseen {
  readonly file: LoadedFile;
  readonly place: number;
}

/** A program and its phases: load, commands, call, events. Each phase throws what ends the run. */
export class Program implements Linkage {
  readonly machine: Machine;
  readonly linkage: Linkage = this;
  readonly compilers: Compilers;
  readonly unlabelled: UnlabelledForm | null;
  readonly #procedures = new Map<string, Procedure | Unseen>();
  readonly #redefine: boolean;
  readonly #events = new Events();
  #files: readonly LoadedFile[] = [];
  #byLowerCase: Map<string, string> | undefined;
  #deliveries = 0;

  /** `redefine`: a procedure may take the place of an earlier one. `formOf` makes the form of a program under flow rules that keeps no labels. */
  constructor(machine: Machine, compilers: Compilers, redefine = false, formOf?: (program: Program) => UnlabelledForm) {
    this.machine = machine;
    this.compilers = compilers;
    this.unlabelled = formOf?.(this) ?? null;
    this.#redefine = redefine;
  }

  /** Registers the procedures and then the event handlers of all files. Only the names of events are evaluated. */
  load(trees: readonly GuestFile[]): void {
    const files = trees.map((tree, index) => new LoadedFile(tree, (part) => this.machine.ports.tree(index, part)));
    for (const file of files)
      for (const [place, procedure] of file.tree.procedures.entries()) this.#define(file, place, procedure);
    for (const file of files) for (const handler of file.tree.events) this.#register(file, handler);
    this.#files = files;
  }

  /**
   * Runs all command blocks of the loaded files in one fork, so that later blocks see the variables of earlier ones. They start with the
   * `given` variables. Returns the JSON of the final `Variables`, or null when none were given or there is no block.
   */
  commands(given: readonly Variable[] | undefined): string | null {
    const { machine } = this;
    const bodies: Body[] = this.#files.flatMap((file) =>
      file.tree.commands.map(({ s, body }) => {
        // Under flow rules, a block is looked through before it is compiled.
        const block = machine.flow === null ? body : file.whole(body);
        return { block, place: { name: COMMAND_FRAME, file, at: s } };
      }),
    );
    const [first] = bodies;
    if (first === undefined) return null;
    const names = (given ?? []).map(({ name }) => name);
    const labels = machine.flow?.variables(given ?? []) ?? [];
    const form = this.unlabelled?.forCommands(bodies, labels) ?? this;
    let code = compileBodies(form, bodies, 'command', names, false);
    if (code.deepest > machine.limits.evalDepth) code = compileBodies(form, bodies, 'command', names, true);
    const values = (given ?? []).map(({ value }): Slot => decode(machine, value));
    const frame = new Frame(null, first.place, code, [...values, ...code.blank.slice(values.length)], 1, 0);
    rareOf(frame).id = machine.forkId;
    machine.flow?.enter(frame, labels);
    machine.enter(frame, first.place.at);
    for (const [index, run] of code.bodies.entries()) {
      frame.place = bodies[index]?.place ?? first.place;
      run(frame);
    }
    const left = given === undefined ? null : finalVariables(machine, frame);
    machine.leave(frame);
    return left;
  }

  /** Calls a procedure for the host and returns its value as JSON. A wrong number of arguments is code 4. */
  call({ name, args }: NonNullable<GuestInput['call']>): string {
    const { machine } = this;
    const procedure = this.procedure(name);
    if (procedure === undefined) return machine.fail('ProcNotFound', `procedure '${name}' not found`, this.#hint(name));
    return forHost(machine, procedure.place, `call ${name}`, () => {
      const values: Slot[] = args.map((arg) => decode(machine, arg));
      if (!procedure.accepts(values.length)) machine.fail('ArgMismatch', procedure.countMessage(values.length));
      const result = this.#enter(procedure, values);
      machine.flow?.returned(result);
      return encode(machine, result, 'public');
    });
  }

  /**
   * Delivers events in order. An error of a handler is added to `errors`, which keeps it even if a later handler breaches a limit, and the
   * next handler still runs.
   */
  deliver(events: readonly EventInput[], errors: EventError[]): void {
    const { machine } = this;
    for (const [index, event] of events.entries()) {
      const { eventCount } = machine.limits;
      if (index >= eventCount)
        machine.breach('eventCount', events.length, excess('the host delivered', events.length, 'events', eventCount));
      const handlers = this.#events.of(event.name);
      const [first] = handlers;
      if (first === undefined) continue;
      forHost(machine, first.handler.place, `event ${event.name}`, () => {
        const object = eventObject(machine, event, `${machine.forkId}.event.${index + 1}`);
        const label = machine.flow?.event(index, event.name) ?? 0;
        for (const registration of handlers) if (!registration.cleared) this.#handle(registration, object, label, errors);
      });
    }
    machine.flow?.delivered();
  }

  procedure(name: string): Procedure | undefined {
    const known = this.#procedures.get(name);
    if (known === undefined || known instanceof Procedure) return known;
    const seen = this.#made(known.file, known.file.procedure(known.place));
    this.#procedures.set(name, seen);
    return seen;
  }

  similar(name: string): string | undefined {
    this.#byLowerCase ??= new Map([...this.#procedures.keys()].map((known) => [known.toLowerCase(), known]));
    return this.#byLowerCase.get(name.toLowerCase());
  }

  clearEvent(name: string): void {
    this.#events.clearEvent(name);
  }

  clearNamed(handler: string): void {
    this.#events.clearNamed(handler);
  }

  #define(file: LoadedFile, place: number, procedure: GuestProcedure | string): void {
    const { machine } = this;
    const name = typeof procedure === 'string' ? procedure : procedure.name.name;
    const at = (): number => (typeof procedure === 'string' ? file.procedure(place) : procedure).name.s;
    const known = this.#procedures.get(name);
    if (known !== undefined && !this.#redefine) {
      const other = known instanceof Procedure ? known.place.file : known.file;
      const message = `procedure '${name}' is defined twice, in ${other.name} and in ${file.name}`;
      throw new Failure(codeOf('Duplicate'), message, 'rename one of them', { file, at: at() }, []);
    }
    if (machine.constants.get(name) !== undefined) {
      const message = `procedure '${name}' has the name of a global constant`;
      throw new Failure(codeOf('Duplicate'), message, 'rename the procedure', { file, at: at() }, []);
    }
    machine.constants.reserve(name, 'procedure');
    this.#procedures.set(name, typeof procedure === 'string' ? { file, place } : this.#made(file, procedure));
  }

  #made(file: LoadedFile, tree: GuestProcedure): Procedure {
    const place = { name: tree.name.name, file, at: tree.s };
    const needs = tree.needs.map((parameter) => parameter.name);
    const optional = tree.optional.map((parameter) => parameter.name);
    return new Procedure({ place, kind: 'procedure', needs, optional, block: () => tree.body }, this.#compile);
  }

  readonly #compile = (source: Source, checked: boolean): Compiled =>
    this.unlabelled === null ? compileUnit(this, source, checked) : this.unlabelled.compile(this, source, checked);

  /** Registers an event handler. Its name is evaluated in a fork without variables, which can call procedures and tools. */
  #register(file: LoadedFile, tree: EventHandler): void {
    const { machine } = this;
    const alone = compileAlone(this, file, tree.event);
    const place = { name: 'Event Name', file, at: tree.s };
    const frame = new Frame(null, place, alone, alone.blank.slice(), 1, 0);
    machine.flow?.enter(frame);
    machine.enter(frame, tree.s);
    machine.at = tree.event.s;
    const event = forHost(machine, place, place.name, () => {
      machine.pay(WORK.eventName, alone.fuel);
      checkEvalDepth(machine, alone.deepest);
      const value = alone.eval(frame);
      machine.at = tree.event.s;
      return toText(machine, value);
    });
    machine.flow?.registered();
    machine.leave(frame);
    machine.constants.reserve(event, 'event');
    const parameters = tree.as === undefined ? [] : [tree.as.name];
    const handling = { name: `Event: ${event}`, file, at: tree.s };
    const block = () => file.block(tree.body);
    const handler = new Procedure({ place: handling, kind: 'event', needs: parameters, optional: [], block }, this.#compile);
    this.#events.register({ event, named: tree.named, handler, cleared: false });
  }

  #handle({ event, handler }: Registration, object: Value, label: Label, errors: EventError[]): void {
    const { deliveries } = this.machine.limits;
    if (++this.#deliveries > deliveries)
      this.machine.breach('deliveries', this.#deliveries, excess('events ran', this.#deliveries, 'handlers', deliveries));
    try {
      this.#enter(handler, handler.needs.length === 0 ? [] : [object], label);
    } catch (thrown) {
      if (!(thrown instanceof Failure)) throw thrown;
      this.machine.unwind(null);
      this.machine.flow?.failed();
      errors.push({ event, error: thrown.info() });
    }
  }

  /** Runs a procedure as the outermost frame. */
  #enter(procedure: Procedure, values: readonly Slot[], label: Label = 0): Value {
    const { machine } = this;
    machine.flow?.begin(procedure.source.kind === 'event');
    const { code } = this.unlabelled?.forHost(procedure, values.length === 0 ? 0 : label) ?? procedure;
    checkDepth(machine, procedure.name, 1, 0);
    const frame = newFrame(machine, code);
    machine.flow?.enter(
      frame,
      values.map(() => label),
    );
    for (const [slot, value] of values.entries()) frame.slots[slot] = value;
    return invoke(machine, code, frame, procedure.place.at, 0);
  }

  #hint(name: string): string {
    const similar = this.similar(name);
    return similar === undefined
      ? 'give the name of a procedure of the loaded files'
      : `did you mean '${similar}'? Names are case-sensitive`;
  }
}

/** Runs what the host has asked for. In a measured run it counts for the line where its procedure or handler is defined. */
function forHost<T>(machine: Machine, place: FramePlace, name: string, run: () => T): T {
  return within(machine, machine.probe?.spot('host', { ...place, name }) ?? null, run);
}

const { stringify } = JSON;

/**
 * The variables of a frame as the JSON of `Variables`. Together they may have as many bytes as one answer of a tool (`toolBytes`),
 * because they are sent in one frame. A variable that does not fit, or nests too deep to be sent, is only named.
 */
function finalVariables(machine: Machine, frame: Frame): string {
  const kept: string[] = [];
  const lost: string[] = [];
  let room = machine.limits.toolBytes;
  for (const [name, value] of variablesOf(frame)) {
    // The JSON of a text is no shorter than the text, so a text that cannot fit is not encoded.
    const json = typeof value === 'string' && value.length > room ? null : written(machine, value);
    const text = json === null ? null : `{"name":${stringify(name)},"value":${json}${labelled(machine, frame, name, value)}}`;
    const bytes = text === null ? 0 : utf8Bytes(machine, text);
    if (text === null || bytes > room) lost.push(name);
    else {
      kept.push(text);
      room -= bytes;
    }
  }
  return `{"kept":[${kept.join(',')}],"lost":${stringify(lost)}}`;
}

/** The labels of a variable; empty for none. */
function labelled({ flow }: Machine, frame: Frame, name: string, value: Value): string {
  const labels = flow?.namesOf(frame, name, value) ?? [];
  return labels.length === 0 ? '' : `,"labels":${stringify(labels)}`;
}

/** Null for a value that cannot be sent. */
function written(machine: Machine, value: Value): string | null {
  try {
    return encode(machine, value, 'host');
  } catch (thrown) {
    if (thrown instanceof Failure) return null;
    throw thrown;
  }
}
