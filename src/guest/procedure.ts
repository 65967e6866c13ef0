import type { Block } from '../../grammar/index.ts';
import type { FramePlace } from './errors.ts';
import type { Exec, Frame, Layout, Slot } from './frame.ts';

export interface Compiled extends Layout {
  readonly body: Exec;
  /** The slots of a new frame: unset variables. */
  readonly blank: readonly Slot[];
  /** Fuel of a call and of the first statement, which always runs. */
  readonly entryFuel: number;
  /** Greatest static evaluation depth in it. */
  readonly deepest: number;
}

export interface Callee extends Compiled {
  readonly procedure: Procedure;
  /** Frames of ended calls, for the next ones; linked by `parent`. */
  spare: Frame | null;
}

/** What a procedure or an event handler is compiled from. */
export interface Source {
  readonly place: FramePlace;
  readonly kind: 'procedure' | 'event';
  readonly needs: readonly string[];
  readonly optional: readonly string[];
  readonly block: () => Block;
}

/** A procedure, compiled at its first call. */
export class Procedure {
  readonly name: string;
  readonly place: FramePlace;
  readonly needs: readonly string[];
  readonly optional: readonly string[];
  readonly source: Source;
  readonly #compile: (source: Source, checked: boolean) => Compiled;
  #code: Callee | undefined;
  #checked: Callee | undefined;

  constructor(source: Source, compile: (source: Source, checked: boolean) => Compiled) {
    this.source = source;
    this.name = source.place.name;
    this.place = source.place;
    this.needs = source.needs;
    this.optional = source.optional;
    this.#compile = compile;
  }

  get code(): Callee {
    this.#code ??= { ...this.#compile(this.source, false), procedure: this, spare: null };
    return this.#code;
  }

  /** With a check of the evaluation depth at every statement. */
  get checked(): Callee {
    this.#checked ??= { ...this.#compile(this.source, true), procedure: this, spare: null };
    return this.#checked;
  }

  /** Whether it takes this number of arguments. */
  accepts(count: number): boolean {
    return count >= this.needs.length && count <= this.needs.length + this.optional.length;
  }

  /** The message of code 4. */
  countMessage(given: number): string {
    const most = this.needs.length + this.optional.length;
    const range = most === this.needs.length ? `${most}` : `${this.needs.length} to ${most}`;
    const names = [list('needs', this.needs), list('optional', this.optional)].filter((part) => part !== '').join('; ');
    return `procedure '${this.name}' takes ${range} argument${range === '1' ? '' : 's'}${names === '' ? '' : ` (${names})`}, got ${given}`;
  }
}

function list(clause: string, names: readonly string[]): string {
  return names.length === 0 ? '' : `${clause} ${names.join(', ')}`;
}
