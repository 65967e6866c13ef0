import {
  type AnswerLabels,
  type ArgumentLabels,
  type CallLabels,
  type FlowInput,
  labelNames,
  type SaidLabels,
} from '../../wire/labels.ts';
import type { Variable } from '../../wire/protocol.ts';
import type { Frame } from '../frame.ts';
import { isContainer, type Value } from '../values.ts';
import { Effects, type Handlers } from './effects.ts';
import { deepOf, mark, partOf, placeOf } from './held.ts';
import { LabelMemory } from './memory.ts';
import { type Label, Origins } from './origins.ts';

/*
 * Places in `Frame.labels`: three of the frame itself, then those of its variables in the order of their slots. The label of a variable
 * counts for all that is in its value.
 */
/** Of the result of the call. */
export const OUT = 0;
/** Of `last`. */
export const LAST = 1;
/** Of all variables that the source does not mention, which a tool has set. */
export const EXTRA = 2;
/** Of the variable in slot 0. */
export const FIRST = 3;

/**
 * The labels of a run under flow rules. Compiled code keeps them beside the values: reading a value adds its labels to `acc`, and what is
 * written gets the labels that were read since the beginning of its statement, or of its element or argument. So an operator, a built-in
 * or a pure tool needs no rule of its own: its result carries what was read for it. Only what keeps parts apart, such as lists and
 * arguments, begins a new `acc` for each of them.
 */
export class Flow {
  readonly origins = new Origins();
  /** Labels read so far. */
  acc: Label = 0;
  /** Labels that decided that the running code of the frame runs: conditions, counts of loops, early exits, caught errors. */
  pc: Label = 0;
  /** Labels that decided how often the innermost loop went on. */
  decided: Label = 0;
  /** The same for the call of the running frame. What a frame sets ends with it, so only effects outside of the frame carry it. */
  ambient: Label = 0;
  /** Labels that may have decided whether a statement failed, since the beginning of the innermost guarded one. */
  risk: Label = 0;
  /** Labels of the error that a handler is about to get. */
  fault: Label = 0;
  /** `risk` before the statement that failed. */
  before: Label = 0;
  /** Number of active blocks that have a handler. */
  guards = 0;
  /** Labels of the frame that is about to be entered. */
  entry: Label[] | null = null;
  /** Label of the result of the latest call. */
  result: Label = 0;
  /** Labels of the arguments of the call to the host that is about to be made. */
  args: readonly ArgumentLabel[] = [];
  /** Labels of all that was emitted, and of all that was whispered. */
  output: Label = 0;
  scratchpad: Label = 0;
  /** What decided which event handlers there are. */
  cleared: Label = 0;
  readonly memory = new LabelMemory();
  readonly globals = new Map<string, Label>();
  /** Globals that carry a label, or have a part that does. */
  readonly labelled = new Set<string>();
  readonly constants = new Map<string, Label>();
  /** What the handlers of errors may set. */
  readonly handlers: Handlers = new Map();
  /** What the code that is being compiled may set. */
  effects = new Effects();
  readonly #input: FlowInput;
  readonly #program: Label;
  /** Labels of the variables that tools have read during the open call, and the names of those that they have set. */
  #asked: Label = 0;
  #set: string[] = [];
  #defined: string[] = [];

  constructor(input: FlowInput) {
    this.#input = input;
    this.#program = this.origins.of(input.program, 'program', null, null);
  }

  /** Labels the globals, once they are defined. */
  given(globals: ReadonlyMap<string, Value>): void {
    for (const { name, path, labels } of this.#input.globals) {
      const label = this.origins.of(labels, [name, ...path].join('.'), null, null);
      const value = globals.get(name);
      if (value === undefined || label === 0) continue;
      this.labelled.add(name);
      if (!markWithin(value, path, label)) this.globals.set(name, (this.globals.get(name) ?? 0) | label);
    }
  }

  event(index: number, name: string): Label {
    return this.origins.of(this.#input.events[index] ?? [], `event ${name}`, null, null);
  }

  /** Gives a frame its labels. Its first variables have these. A frame that ran before has an array for them. */
  enter(frame: Frame, first: readonly Label[] = []): void {
    const { labels: used }: { readonly labels?: Label[] } = frame;
    const labels = used?.fill(0) ?? new Array<Label>(FIRST + frame.slots.length).fill(0);
    for (let index = 0; index < first.length; index++) labels[FIRST + index] = first[index] ?? 0;
    this.entry = labels;
    frame.labels = labels;
  }

  variables(given: readonly Variable[]): readonly Label[] {
    return given.map(({ name, labels = [] }) => this.origins.of(labels, name, null, null));
  }

  /** Begins a procedure for the host, or the handler of an event: what was cleared decided that it runs. */
  begin(isHandler: boolean): void {
    this.#reset();
    this.result = 0;
    this.ambient = isHandler ? this.cleared : 0;
  }

  /** A handler is registered for an event whose name has been evaluated. */
  registered(): void {
    this.cleared |= this.acc;
  }

  /** All events are delivered. What handlers have said depends on which of them there were. */
  delivered(): void {
    this.output |= this.cleared;
    this.scratchpad |= this.cleared;
  }

  /** The host gets the result of a call: it is shown as output is. */
  returned(value: Value): void {
    this.output |= this.result | deepOf(value);
  }

  /** Names of the labels of a final variable. */
  namesOf(frame: Frame, name: string, value: Value): readonly string[] {
    return labelNames(this.origins.in(labelIn(frame, name) | deepOf(value) | this.#program));
  }

  #reset(): void {
    this.acc = this.pc = this.ambient = this.risk = this.fault = this.before = this.guards = 0;
  }

  /** Adds the labels of an error that ends the run or an event handler. Its text is shown. */
  failed(): void {
    this.output |= this.acc | this.pc | this.ambient | this.risk;
    this.#reset();
  }

  /** What decided that the code runs. Where errors are handled, that nothing failed before in the same statement is a part of it. */
  get deciding(): Label {
    return this.pc | this.ambient | (this.guards > 0 ? this.risk : 0);
  }

  /** Whether no label decided that the code runs, and none came in by a constant. */
  get isClear(): boolean {
    return this.deciding === 0 && this.constants.size === 0;
  }

  /** The labels of a call to the host, as a part of its frame; empty without any. */
  callFields(args: readonly ArgumentLabel[]): string {
    const deciding = this.deciding | this.#program;
    if (deciding === 0 && args.every(({ all }) => all === 0)) return '';
    const { origins } = this;
    const labels: CallLabels = {
      args: args.map((arg) => argumentLabels(origins, arg, this.#program)),
      deciding: origins.in(deciding),
    };
    return `,"labels":${JSON.stringify(labels)}`;
  }

  /** The label of all that a name means in a frame, with its value: of its variable, else of the global or constant. */
  named(frame: Frame, name: string, value: Value | undefined): Label {
    const shared = (this.globals.get(name) ?? 0) | (this.constants.get(name) ?? 0);
    return labelIn(frame, name) | shared | deepOf(value ?? null);
  }

  /** A tool reads what a name means during its call. */
  reads(frame: Frame, name: string, value: Value | undefined): void {
    this.#asked |= this.named(frame, name, value);
  }

  /** A tool sets a variable, or defines a constant, during its call. */
  sets(name: string): void {
    this.#set.push(name);
  }

  defines(name: string): void {
    this.#defined.push(name);
  }

  /** The label of the answer to a call whose arguments had these labels. `from` and the place are those of the call. */
  answered(args: Label, labels: AnswerLabels | undefined, from: string, source: string, line: number): Label {
    const { adds = [], drops = [] } = labels ?? {};
    const label = this.origins.without(args | this.#asked, drops) | this.origins.of(adds, from, source, line);
    this.risk |= label;
    return label;
  }

  /** Labels what tools have set during calls whose answers have this label. */
  settle(frame: Frame, label: Label): void {
    this.#asked = 0;
    for (const name of this.#set.splice(0)) {
      const slot = frame.layout.scope.find(name);
      const place = slot === undefined ? EXTRA : FIRST + slot;
      frame.labels[place] = (frame.labels[place] ?? 0) | label | this.pc;
    }
    const constant = label | this.pc | this.ambient;
    for (const name of this.#defined.splice(0))
      if (constant !== 0) this.constants.set(name, (this.constants.get(name) ?? 0) | constant);
  }

  /** A label decides whether a loop goes on. */
  decides(label: Label): void {
    this.risk |= label;
    this.pc |= label;
    this.decided |= label;
  }

  /** What the run has said, for its result. */
  said(): SaidLabels {
    const { origins } = this;
    const [output, scratchpad] = [this.output | this.#program, this.scratchpad | this.#program];
    return { output: origins.in(output), scratchpad: origins.in(scratchpad) };
  }

  /** Compiles something, and says what it may set. `isLoop`: a `break` in it stays in it. */
  collect<T>(compile: () => T, isLoop = false): { readonly compiled: T; readonly effects: Effects } {
    const outer = this.effects;
    const effects = new Effects();
    this.effects = effects;
    const compiled = compile();
    this.effects = outer;
    if (isLoop) effects.breaks = false;
    outer.add(effects);
    return { compiled, effects };
  }
}

/** The labels of an argument of a call to the host. */
export interface ArgumentLabel {
  /** Of the whole value with all its parts. */
  readonly all: Label;
  /** Of the entries of a map; null for other values. */
  readonly entries: ReadonlyMap<string, Label> | null;
}

function argumentLabels(origins: Origins, { all, entries }: ArgumentLabel, program: Label): ArgumentLabels {
  const whole = { all: origins.in(all | program) };
  if (entries === null) return whole;
  return { ...whole, entries: Object.fromEntries([...entries].map(([key, label]) => [key, origins.in(label | program)])) };
}

/** Entries of a map whose labels are told apart. */
const MOST_ENTRIES = 64;

/** The label of the argument with this value, whose place has this label. */
export function argumentLabel(place: Label, value: Value): ArgumentLabel {
  const all = place | deepOf(value);
  if (all === 0 || !isContainer(value) || 'items' in value || value.entries.size > MOST_ENTRIES) return { all, entries: null };
  const entries = [...value.entries].map(([key, entry]) => [key, place | partOf(value, key) | deepOf(entry)] as const);
  return { all, entries: new Map(entries) };
}

/** Labels the part of a value to which keys lead, or the deepest container on the way. False when that is the value itself. */
function markWithin(value: Value, path: readonly string[], label: Label): boolean {
  const [key, ...rest] = path;
  if (key === undefined || !isContainer(value)) return false;
  const place = placeOf(value, key);
  if (place === undefined) return false;
  const child = elementAt(value, place);
  if (child === undefined) return true;
  if (markWithin(child, rest, label)) mark(value, place, 0, label);
  else mark(value, place, label, 0);
  return true;
}

/** The element at a place; undefined when there is none. */
export function elementAt(container: Value, place: number | string): Value | undefined {
  if (!isContainer(container)) return undefined;
  if ('items' in container) return typeof place === 'number' ? container.items[place] : undefined;
  return container.entries.get(String(place));
}

/** The label of a variable, without those of its parts. */
export function labelIn(frame: Frame, name: string): Label {
  const slot = frame.layout.scope.find(name);
  return frame.labels[slot === undefined ? EXTRA : FIRST + slot] ?? 0;
}

/** Adds a label to all that code may set and say: it decided whether the code ran. */
export function spread(flow: Flow, frame: Frame, { places, emits, whispers, clears }: Effects, label: Label): void {
  const { labels } = frame;
  for (const place of places) labels[place] = (labels[place] ?? 0) | label;
  if (emits) flow.output |= label | flow.ambient;
  if (whispers) flow.scratchpad |= label | flow.ambient;
  if (clears) flow.cleared |= label | flow.ambient;
}

/** For each element in the order of a loop, its label. */
export function* partsOf(value: Value): Generator<Label, void> {
  if (!isContainer(value)) return;
  if ('items' in value) for (const index of value.items.keys()) yield partOf(value, index);
  else for (const key of [...value.entries.keys()]) yield partOf(value, key);
}
