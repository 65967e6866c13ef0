/** Labels of values: where they come from. Written from `docs/origin.md` and `docs/policy.md` alone. */
import type { Block, Expr, Stmt } from '../../../grammar/index.ts';
import { BUILTINS } from './builtins.ts';
import { CALL, callsProcedure, type Effects, type Exit, effectsOf, effectsOfBody, LAST, RESULT } from './effects.ts';
import type { Step } from './elements.ts';
import { Frame } from './frame.ts';
import { elementOf, join, keyOf, type Labelled, type Labels, NONE, names, Parts } from './parts.ts';
import { Dict, List, type Value } from './values.ts';

/** What a run begins with. */
export interface Sources {
  readonly program: readonly string[];
  readonly globals: readonly { readonly name: string; readonly path: readonly string[]; readonly labels: readonly string[] }[];
  /** By event. */
  readonly events: readonly (readonly string[])[];
}

/** Labels of a call: of each argument with all its parts, of the entries of a map, and of what decides that it is made. */
export interface CallLabels {
  readonly args: readonly { readonly all: readonly string[]; readonly entries?: Readonly<Record<string, readonly string[]>> }[];
  readonly deciding: readonly string[];
}

/** Follows the labels of a run. The interpreter tells what it does. */
export class Origin {
  readonly program: Labels;
  output = NONE;
  scratchpad = NONE;
  /** Of the value that was evaluated last. */
  latest = NONE;
  frame = new Frame();
  readonly #globals = new Map<string, Labels>();
  readonly parts = new Parts();
  /** What each expression that is under way has looked at. */
  readonly #looking: Labelled[][] = [];
  /** What may have made the running statements fail. */
  #faults = NONE;
  /** The same of those before and around them. */
  #earlier = NONE;
  /** What may have made the handler of the running statement fail. */
  #handling = NONE;
  /** How many handlers stand around the running statements. */
  #guards = 0;
  /** What decided which handlers of events are left. */
  cleared = NONE;
  readonly #seen = new WeakSet<object>();

  constructor(sources: Sources, globals: ReadonlyMap<string, Value>) {
    this.program = new Set(sources.program);
    this.output = this.scratchpad = this.program;
    for (const { name, path, labels } of sources.globals) {
      const given = new Set(labels);
      const value = globals.get(name) ?? null;
      if (path.length === 0) this.#globals.set(name, join(this.#globals.get(name), given));
      else
        this.parts.written(
          value,
          path.map((key) => ({ key })),
          (part, isLast) => (isLast ? join(part, given) : part),
        );
    }
  }

  // Expressions

  /** Evaluates an expression, and works out its labels from those of its parts. */
  of(expr: Expr, work: () => Value): Value {
    const parts: Labelled[] = [];
    this.#looking.push(parts);
    let value: Value;
    try {
      value = work();
    } catch (error) {
      if (error instanceof Object && !this.#seen.has(error)) {
        this.#seen.add(error);
        // An access and a call of a procedure look at the values, not into them.
        const isOutside = expr.k === 'access' || (expr.k === 'call' && !BUILTINS.has(expr.name.name.toLowerCase()));
        this.faulty(...parts.map((part) => (isOutside ? part.label : this.parts.deep(part.value, part.label))));
      }
      throw error;
    } finally {
      this.#looking.pop();
    }
    const label = this.#labelOf(expr, value, parts);
    // Whether a statement fails may depend on all that it reads.
    this.faulty(label);
    this.#looking.at(-1)?.push({ value, label });
    this.latest = label;
    return value;
  }

  /** Notes labels that the current expression depends on. */
  sees(label: Labels): void {
    this.#looking.at(-1)?.push({ value: null, label });
  }

  #labelOf(expr: Expr, value: Value, parts: readonly Labelled[]): Labels {
    const own = parts.map(({ label }) => label);
    const whole = (): readonly Labels[] => parts.map((part) => this.parts.deep(part.value, part.label));
    switch (expr.k) {
      case 'num':
      case 'str':
      case 'bool':
      case 'nil':
        return NONE;
      case 'name':
        return this.named(expr.name);
      case 'last':
        return this.named(LAST);
      case 'group':
        return own[0] ?? NONE;
      case 'list':
        if (value instanceof List) this.parts.listed(value, own);
        return NONE;
      case 'map': {
        const keys = whole().filter((_, index) => index % 2 === 0);
        if (value instanceof Dict) this.parts.entered(value, parts);
        return join(...keys);
      }
      case 'call':
      case 'tool':
        return expr.k === 'call' && BUILTINS.has(expr.name.name.toLowerCase()) ? join(...own) : this.latest;
      default: {
        // The truth and the type of a list or map carry what decided about it, not what is in it.
        if (
          LOOKS_OUTSIDE.test(expr.k === 'unary' ? expr.op : '') ||
          (expr.k === 'binary' && (expr.rest.every(({ op }) => op === 'and' || op === 'or') || value instanceof List))
        )
          return join(...own);
        return expr.k === 'access' ? join(own[0], ...whole().slice(1)) : join(...whole());
      }
    }
  }

  /** What decides whether the right side of `and` or `or` is evaluated. */
  lefts(): Labels {
    return join(this.frame.control, ...(this.#looking.at(-1) ?? []).map(({ label }) => label));
  }

  /** Evaluates the right side, which `lefts` decided. */
  right(lefts: Labels, work: () => Value): Value {
    const { control } = this.frame;
    this.frame.control = lefts;
    try {
      return work();
    } finally {
      this.frame.control = control;
    }
  }

  /** Notes that a right side was evaluated or not. */
  sided(right: Expr, lefts: Labels): void {
    if (callsProcedure(right)) this.#spread(CALL, lefts);
  }

  // Variables

  named(name: string): Labels {
    return this.frame.variables.get(name) ?? this.#globals.get(name) ?? NONE;
  }

  /** Sets a variable. */
  set(name: string, label: Labels): void {
    this.frame.variables.set(name, join(label, this.control()));
  }

  /** The value that was evaluated last is that of a statement. */
  valued(isResult: boolean, latest = this.latest): void {
    for (const name of isResult ? [LAST, RESULT] : [LAST]) this.set(name, latest);
  }

  /** Before a write of an element, which fails when a container is none, or the key does not fit. */
  writing(own: Labels, base: Value, steps: readonly Step[]): void {
    if (steps.length > 0) this.faulty(own);
    let from = base;
    for (const step of steps) {
      this.faulty(step.label, this.parts.of(from, keyOf(from, step)));
      from = elementOf(from, keyOf(from, step));
    }
    this.parts.overwrites(base, steps);
  }

  /** After a write of an element of a variable, which carried `before`. */
  written(name: string, before: Labels, base: Value, steps: readonly Step[], label: Labels): void {
    this.set(name, steps.length === 0 ? label : join(before, steps[0]?.label));
    const control = this.control();
    this.parts.written(base, steps, (part, isLast, next) => join(isLast ? label : join(part, next), control));
  }

  // Control

  /** What decides on what the current statement sets. */
  control(): Labels {
    return join(this.frame.control, ...this.frame.ends.values());
  }

  /** What decides that, and how often, something is called or said. */
  deciding(): Labels {
    return join(this.program, this.control(), this.frame.ambient, ...(this.#guards > 0 ? [this.#earlier, this.#faults] : []));
  }

  /** Notes what an operation looked at that may fail. */
  faulty(...labels: readonly (Labels | undefined)[]): void {
    this.#faults = join(this.#faults, ...labels);
  }

  /** Notes that blocks begin. No handler inside of them gets an error from before them. */
  #begins(): void {
    if (this.#guards === 0) this.#faults = NONE;
  }

  /** Runs a body in a frame. Its result is the latest value. */
  running<T>(frame: Frame, body: Block, work: () => T): T {
    const effects = effectsOfBody(body);
    const outer = this.frame;
    frame.ambient = join(frame.ambient, this.deciding());
    const looking = this.#looking.splice(0);
    this.#begins();
    this.frame = frame;
    try {
      const done = work();
      this.#arrive(effects, 'body');
      return done;
    } finally {
      this.latest = this.named(RESULT);
      frame.ends.clear();
      this.frame = outer;
      this.#looking.splice(0, Number.POSITIVE_INFINITY, ...looking);
    }
  }

  /** Runs a statement of a block, and the handler of its error. */
  statement<T>(block: Block, stmt: Stmt, work: () => T): T {
    const { frame } = this;
    const { all, handled, inPlace } = effectsOf(stmt);
    const [earlier, before, guards, control] = [this.#earlier, this.#faults, this.#guards, frame.control];
    const handling = this.#handling;
    this.#handling = NONE;
    this.#earlier = join(earlier, before);
    this.#faults = NONE;
    this.#guards += block.onError === undefined ? 0 : 1;
    const others = this.#guards - (inPlace ? 1 : 0);
    let isDone = false;
    try {
      const done = work();
      isDone = true;
      return done;
    } finally {
      const faults = isDone ? this.#faults : join(this.#faults, this.control());
      frame.control = control;
      // An error that nothing handles ends the run, so that what follows shows nothing of it.
      if (handled !== undefined && (isDone || others > 0)) {
        // Where the program goes on elsewhere after an error, nothing reads here what was not set.
        if (inPlace) this.#spread(all, faults);
        this.#spread(handled, faults);
        this.#leave(handled.exits, faults);
      }
      this.#faults = others > 0 || !isDone ? join(before, faults, this.#handling) : before;
      this.#handling = handling;
      this.#guards = guards;
      this.#earlier = earlier;
      if (block.onError !== undefined) this.#arrive(all, block.onError);
    }
  }

  /** Runs the blocks of a statement on which conditions decide. */
  compound<T>(stmt: Stmt & { readonly k: 'if' | 'while' | 'for' }, work: () => T): T {
    const { frame } = this;
    const { decided: effects } = effectsOf(stmt);
    const { control: before, decided } = frame;
    frame.decided = NONE;
    let isDone = false;
    try {
      const done = work();
      isDone = true;
      if (stmt.k !== 'if') this.#arrive(effects, stmt.body);
      if (frame.decided.size > 0) {
        this.#spread(effects, frame.control);
        this.#leave(effects.exits, frame.control);
      }
      return done;
    } finally {
      if (!isDone && stmt.k !== 'if') frame.ends.delete(stmt.body);
      frame.control = before;
      frame.decided = decided;
    }
  }

  /** Notes that what was evaluated last decides on the blocks of the current statement. */
  decides(): void {
    this.frame.control = join(this.frame.control, this.latest);
    this.frame.decided = join(this.frame.decided, this.latest);
    this.#begins();
  }

  /** Runs a handler of an error. */
  handling<T>(work: () => T): T {
    const { frame } = this;
    const { control } = frame;
    const faults = this.#faults;
    frame.control = join(control, faults);
    this.#guards -= 1;
    try {
      this.set('system_error', NONE);
      this.set('system_error_message', NONE);
      return work();
    } finally {
      // An error of a handler leads to another one, not on from here.
      this.#handling = join(this.#handling, this.#faults);
      this.#faults = faults;
      this.#guards += 1;
      frame.control = control;
    }
  }

  #leave(exits: ReadonlySet<Exit>, label: Labels): void {
    if (label.size > 0) for (const exit of exits) this.frame.ends.set(exit, join(this.frame.ends.get(exit), label));
  }

  /** Where an exit ends: what may have been left out depends on it. */
  #arrive(effects: Effects, exit: Exit): void {
    this.#spread(effects, this.frame.ends.get(exit) ?? NONE);
    this.frame.ends.delete(exit);
  }

  /** Has all that may have happened depend on labels. */
  #spread(effects: Effects, label: Labels): void {
    if (label.size === 0) return;
    const { variables } = this.frame;
    for (const name of effects.names) variables.set(name, join(variables.get(name) ?? this.#globals.get(name), label));
    const { says } = effects;
    if (says.has('emit')) this.output = join(this.output, label);
    if (says.has('whisper')) this.scratchpad = join(this.scratchpad, label);
    if (says.has('clear_event')) this.cleared = join(this.cleared, label);
  }

  // What leaves the interpreter

  /** The labels of a call whose arguments carry `args`. */
  call(args: readonly Value[], labels: readonly Labels[]): CallLabels {
    return {
      args: args.map((arg, index) => {
        const own = join(labels[index], this.program);
        const all = names(this.parts.deep(arg, own));
        if (!(arg instanceof Dict)) return { all };
        const entries = [...arg.entries].map(([key, item]) => [
          key,
          names(join(own, this.parts.deep(item, this.parts.of(arg, key)))),
        ]);
        return { all, entries: Object.fromEntries(entries) };
      }),
      deciding: names(this.deciding()),
    };
  }

  /** Notes the labels of an answer to a call, and of an error that it may be. */
  answered(args: readonly Value[], labels: readonly Labels[], { adds, drops } = ADDS_NOTHING): void {
    const carried = join(...args.map((arg, index) => this.parts.deep(arg, labels[index] ?? NONE)));
    this.latest = new Set([...[...carried].filter((label) => !drops.includes(label)), ...adds]);
    this.faulty(this.latest);
  }

  /** Notes a handler of events whose name was evaluated. */
  registered(): void {
    this.cleared = join(this.cleared, this.latest);
    this.#faults = NONE;
  }

  /** Notes that handlers of events are cleared; the name of the event was evaluated last, unless they are cleared by their own. */
  clears(byEvent: boolean): void {
    this.cleared = join(this.cleared, this.deciding(), byEvent ? this.latest : NONE);
  }

  /** Notes that all events were delivered: what handlers have said depends on which of them there were. */
  delivered(): void {
    this.output = join(this.output, this.cleared);
    this.scratchpad = join(this.scratchpad, this.cleared);
  }

  /** Notes an error that ends the run, or the handler of an event. */
  failed(): void {
    this.output = join(this.output, this.#faults);
    this.#faults = NONE;
  }

  /** Notes that the value that was evaluated last is said, with other labels. */
  said(to: 'output' | 'scratchpad', value: Value, label = NONE): void {
    this[to] = join(this[to], this.deciding(), label, this.parts.deep(value, this.latest));
  }
}

const ADDS_NOTHING: { readonly adds: readonly string[]; readonly drops: readonly string[] } = { adds: [], drops: [] };

const LOOKS_OUTSIDE = /^(not|no|some|typeof)$/;
