import type { CarriedLabel } from '../../wire/labels.ts';

/** A set of origins: bit n stands for the nth place from which the values of a run came. Joining two sets is `|`. */
export type Label = number;

/**
 * The labels of what is in a list or map. They belong to the container and follow it wherever it goes. What a container is in, a variable
 * or an element, has a label too: that of its length, its keys and their order, which counts for all that is in it. Only parts with more
 * labels than that are listed here.
 */
export interface Held {
  /** By index or key; a missing one is the empty set. */
  readonly parts: Map<number | string, Label>;
  /** All labels in the container and in all that is in it. May have too many. */
  deep: Label;
}

/** Bits of a small integer of V8 that a set may use. */
const MOST_BITS = 30;
/** Places that one bit remembers for a refusal. Later ones count, and are not named. */
const MOST_PLACES = 8;

/** A place from which a value came, with the labels that it brought. */
interface Origin extends Omit<CarriedLabel, 'label'> {
  /** Sorted. */
  readonly labels: readonly string[];
}

/** Places that brought the same labels. */
interface Bit {
  readonly labels: Set<string>;
  readonly places: Origin[];
}

/**
 * The places from which the values of a run came. Each has a bit of its own as long as there are any, so that a refusal can name the exact
 * place. After that, places share a bit: first with one of the same labels, then the last one. Sharing only adds labels.
 */
export class Origins {
  readonly #bits: Bit[] = [];
  readonly #known = new Map<string, Label>();

  /** Whether no place has brought a label yet. */
  get isEmpty(): boolean {
    return this.#bits.length === 0;
  }

  /** The set of one place. The empty set for a place without labels. */
  of(labels: readonly string[], from: string, source: string | null, line: number | null): Label {
    if (labels.length === 0) return 0;
    const sorted = [...labels].sort();
    const key = [sorted.join(' '), from, source ?? '', line ?? 0].join('\n');
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const label = this.#add({ labels: sorted, from, source, line });
    if (this.#known.size < MOST_BITS * MOST_PLACES) this.#known.set(key, label);
    return label;
  }

  /** The labels in a set, each with its places. */
  in(label: Label): readonly CarriedLabel[] {
    if (label === 0) return [];
    const places = this.#bits.flatMap(({ places }, bit) => ((label & (1 << bit)) === 0 ? [] : places));
    return places.flatMap(({ labels, ...place }) => labels.map((each) => ({ label: each, ...place })));
  }

  /** A set without the places that brought only these labels, and without these labels of the others where none shares their bit. */
  without(label: Label, dropped: readonly string[]): Label {
    if (label === 0 || dropped.length === 0) return label;
    let kept = label;
    for (const [bit, { labels, places }] of this.#bits.entries()) {
      if ((label & (1 << bit)) === 0) continue;
      const left = [...labels].filter((name) => !dropped.includes(name));
      if (left.length === labels.size) continue;
      kept &= ~(1 << bit);
      for (const { from, source, line } of left.length === 0 ? [] : places) kept |= this.of(left, from, source, line);
    }
    return kept;
  }

  #add(origin: Origin): Label {
    const { labels } = origin;
    const bit = this.#bits.length < MOST_BITS - 1 ? this.#bits.length : this.#sharedBy(labels);
    const shared = this.#bits[bit];
    if (shared === undefined) this.#bits[bit] = { labels: new Set(labels), places: [origin] };
    else {
      const isNew = labels.some((name) => !shared.labels.has(name));
      for (const name of labels) shared.labels.add(name);
      // A place that brings a new label is always kept: the labels of a set are those of its places.
      if (isNew || shared.places.length < MOST_PLACES) shared.places.push(origin);
    }
    return 1 << bit;
  }

  /** The bit of places with the same labels, else the last one. */
  #sharedBy(labels: readonly string[]): number {
    const same = this.#bits.findIndex((bit) => bit.labels.size === labels.length && labels.every((name) => bit.labels.has(name)));
    return same < 0 ? MOST_BITS - 1 : same;
  }
}
