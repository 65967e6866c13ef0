import { excess } from '../describe.ts';
import { countLive, type Roots } from '../memory.ts';
import type { Meter } from '../meter.ts';
import { type Container, Fault, isContainer, List, type Value } from '../values.ts';
import type { Label } from './origins.ts';

/** Bytes of the labels of a container, of those of one part, and of that of one variable. */
const HELD = 48;
const PART = 32;
const VARIABLE = 8;

/** The values beside the labels. */
interface Holder extends Roots, Pick<Meter, 'limits' | 'breach'> {
  /** Upper bound of the bytes of the values. */
  readonly usedBytes: number;
}

/** Bytes of new labels from which on they are counted anew. */
const FLOOR = 65_536;

/**
 * The memory of labels. It counts for `memoryBytes` beside that of the values, and is worked out apart, so that labels change no fuel: they
 * are walked when the values are, and when many new ones were made.
 */
export class LabelMemory {
  /** Upper bound of the bytes alive. */
  #bytes = 0;
  #due = FLOOR;
  peak = 0;

  /** Counts labels of so many parts about to be kept. Ends the run when they do not fit beside its values. */
  hold(machine: Holder, parts: number): void {
    this.#bytes += HELD + PART * parts;
    if (this.#bytes <= this.#due || machine.usedBytes + this.#bytes <= machine.limits.memoryBytes) return;
    const labels = this.live(machine);
    const { globals, constants, frame, output, statementBytes } = machine;
    const nextCensus = () => machine.nextCensus();
    const used = labels + countLive({ globals, constants, frame, output, statementBytes, nextCensus, pay() {} });
    if (used > machine.limits.memoryBytes)
      machine.breach(
        'memoryBytes',
        used,
        excess("the program's values and their labels need", used, 'bytes', machine.limits.memoryBytes),
      );
  }

  /** The bytes of all labels that the program can still reach. */
  live(machine: Holder): number {
    this.#bytes = labelBytes(machine);
    this.#due = Math.max(FLOOR, 2 * this.#bytes);
    this.peak = Math.max(this.peak, this.#bytes);
    return this.#bytes;
  }
}

function labelBytes(machine: Holder): number {
  const census = machine.nextCensus();
  const pending: Container[] = [];
  const visit = (value: Value | undefined): void => {
    const inner = value instanceof Fault ? value.fields : value;
    if (!isContainer(inner) || inner.census === census) return;
    inner.census = census;
    pending.push(inner);
  };
  let bytes = 0;
  for (const value of machine.globals.values()) visit(value);
  for (const value of machine.constants.values()) visit(value);
  for (let { frame } = machine; frame !== null; frame = frame.parent) {
    const { labels }: { readonly labels?: readonly Label[] } = frame;
    if (labels !== undefined) bytes += VARIABLE * labels.length;
    for (const value of frame.slots) visit(value);
    for (const value of frame.keep ?? []) visit(value);
    for (const value of frame.rare?.extra?.values() ?? []) visit(value);
    visit(frame.last);
    visit(frame.out);
  }
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (next.held !== undefined) bytes += HELD + PART * next.held.parts.size;
    if (next.depth === 1) continue;
    for (const part of next instanceof List ? next.items : next.entries.values()) visit(part);
  }
  return bytes;
}
