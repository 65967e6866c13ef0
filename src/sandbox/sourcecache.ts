import type { HostFrame, SentSource, Source } from '../wire/protocol.ts';

/** Shorter sources are sent again each time: that costs less than the book-keeping. */
const MIN_CHARS = 2048;
/** Most characters of sources that one worker keeps; the ones not used the longest go. */
const MAX_CHARS = 4 * 1024 * 1024;

/** Whether a source is one to be kept: only frozen ones are sure to be the same when they come again. */
export function isKept(source: Source): boolean {
  return source.text.length >= MIN_CHARS && source.text.length <= MAX_CHARS / 4 && Object.isFrozen(source);
}

/**
 * The sources that one worker keeps: a library of 60 KB took longer to travel than to run a procedure of it. From
 * the second time on, because most come once.
 */
export class KeptSources {
  /** Numbers, by source; null: seen once. */
  readonly #numbers = new WeakMap<Source, number | null>();
  /** What the worker keeps, the least recently used first. */
  readonly #held = new Map<number, { readonly source: WeakRef<Source>; readonly chars: number }>();
  /** For before the next run: this one may still need what is dropped. */
  readonly #drops: HostFrame[] = [];
  #chars = 0;
  #next = 1;

  /** The sources as they are to be sent, and the frames to be sent before. */
  refer(sources: readonly Source[]): { readonly ahead: readonly HostFrame[]; readonly sources: readonly SentSource[] } {
    const ahead: HostFrame[] = this.#drops.splice(0);
    const sent = sources.map((source): SentSource => {
      if (!isKept(source)) return source;
      const number = this.#numbers.get(source);
      if (number === undefined) {
        this.#numbers.set(source, null);
        return source;
      }
      return { kept: number === null ? this.#keep(source, ahead) : this.#used(number) };
    });
    return { ahead, sources: sent };
  }

  #keep(source: Source, ahead: HostFrame[]): number {
    const number = this.#next++;
    this.#numbers.set(source, number);
    this.#held.set(number, { source: new WeakRef(source), chars: source.text.length });
    this.#chars += source.text.length;
    ahead.push({ t: 'keep', number, source });
    for (const [oldest, held] of this.#held) {
      if (this.#chars <= MAX_CHARS) break;
      this.#held.delete(oldest);
      this.#chars -= held.chars;
      const gone = held.source.deref();
      if (gone !== undefined) this.#numbers.delete(gone);
      this.#drops.push({ t: 'drop', number: oldest });
    }
    return number;
  }

  #used(number: number): number {
    const held = this.#held.get(number);
    if (held !== undefined) {
      this.#held.delete(number);
      this.#held.set(number, held);
    }
    return number;
  }
}
