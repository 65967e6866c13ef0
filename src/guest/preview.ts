import { type ShownVariable, STEP_SIZES, type StepFork } from '../wire/heat.ts';
import { type Frame, variablesOf } from './frame.ts';
import { isSimple, quote, simpleText } from './text.ts';
import { type Container, Dict, List, typeName, type Value } from './values.ts';

/** Texts of variables that a step may still show, in UTF-16 units. */
export interface Room {
  units: number;
}

/** A fork with its variables, as far as there is room. It costs the program nothing: neither fuel nor memory of its own. */
export function showFork(frame: Frame, line: number, room: Room): StepFork {
  const { name, file } = frame.place;
  const variables: ShownVariable[] = [];
  let more = 0;
  for (const [variable, value] of variablesOf(frame)) {
    if (variables.length === STEP_SIZES.variables || room.units <= 0) more++;
    else variables.push(show(variable, value, room));
  }
  return { name: cutName(name), source: file.name, line, variables, more };
}

/** A name of the program, which may be as long as its source. */
export function cutName(name: string): string {
  return name.slice(0, STEP_SIZES.name).toWellFormed();
}

function show(name: string, value: Value, room: Room): ShownVariable {
  const preview = new Preview(Math.min(STEP_SIZES.text, room.units));
  preview.show(value);
  const { text, cut } = preview;
  room.units -= text.length + name.length;
  return { name: cutName(name), type: typeName(value), text: text.toWellFormed(), cut, size: sizeOf(value) };
}

function sizeOf(value: Value): number | null {
  if (typeof value === 'string') return value.length;
  if (value instanceof List) return value.items.length;
  return value instanceof Dict ? value.entries.size : null;
}

/** Lists and maps within each other that are shown. */
const DEEPEST = 64;

/** The text that `emit` prints, or its beginning. */
class Preview {
  text = '';
  cut = false;
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  show(value: Value): void {
    if (isSimple(value)) this.#add(simpleText(value));
    else this.#container(value, 1);
  }

  #add(piece: string): void {
    if (this.cut) return;
    const room = this.#most - this.text.length;
    this.cut = piece.length > room;
    this.text += this.cut ? piece.slice(0, room) : piece;
  }

  #container(value: Container, depth: number): void {
    if (depth > DEEPEST) {
      this.cut = true;
      return;
    }
    const isList = value instanceof List;
    this.#add(isList ? '[' : '{');
    let separator = '';
    for (const [key, item] of isList ? value.items.entries() : value.entries) {
      if (this.cut) return;
      this.#add(separator);
      if (typeof key === 'string') {
        this.#quoted(key);
        this.#add(': ');
      }
      if (typeof item === 'string') this.#quoted(item);
      else if (isSimple(item)) this.#add(simpleText(item));
      else this.#container(item, depth + 1);
      separator = ', ';
    }
    this.#add(isList ? ']' : '}');
  }

  /** Quotes no more of a text than may be shown. */
  #quoted(text: string): void {
    const room = this.#most - this.text.length;
    if (text.length <= room) {
      this.#add(quote(text));
      return;
    }
    this.#add(quote(text.slice(0, room)));
    this.cut = true;
  }
}
