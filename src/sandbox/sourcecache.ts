import type { HostFrame, SentSource } from '../wire/hostframes.ts';
import type { Source } from '../wire/protocol.ts';

/** Shorter sources are sent with every run, which costs less than the bookkeeping. */
const MIN_CHARS = 2048;
/** Most characters of sources in the cache of one worker. */
const MAX_CHARS = 4 * 1024 * 1024;

/** Whether a worker may keep a source. It must be frozen, so that it cannot change between two uses. */
export function isCacheable(source: Source): boolean {
  return source.text.length >= MIN_CHARS && source.text.length <= MAX_CHARS / 4 && Object.isFrozen(source);
}

/**
 * The host's view of the sources that one worker keeps. Sending a library of 60 KB takes longer than running one of its
 * procedures. A source is cached when it is used for the second time, because most are used once. The least recently used
 * sources are dropped first.
 */
export class SourceCache {
  /** The number of each source; null for a source that was used once. */
  readonly #numbers = new WeakMap<Source, number | null>();
  /** The sources that the worker keeps, the least recently used first. */
  readonly #held = new Map<number, { readonly source: WeakRef<Source>; readonly chars: number }>();
  /** Sent before the next run, because the present run may still use the sources. */
  readonly #drops: HostFrame[] = [];
  #chars = 0;
  #next = 1;

  /** The sources in the form to send, and the frames to send before them. */
  refer(sources: readonly Source[]): { readonly ahead: readonly HostFrame[]; readonly sources: readonly SentSource[] } {
    const ahead: HostFrame[] = this.#drops.splice(0);
    const sent = sources.map((source): SentSource => {
      if (!isCacheable(source)) return source;
      const number = this.#numbers.get(source);
      if (number === undefined) {
        this.#numbers.set(source, null);
        return source;
      }
      return { kept: number === null ? this.#keep(source, ahead) : this.#touch(number) };
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
      const dropped = held.source.deref();
      if (dropped !== undefined) this.#numbers.delete(dropped);
      this.#drops.push({ t: 'drop', number: oldest });
    }
    return number;
  }

  #touch(number: number): number {
    const held = this.#held.get(number);
    if (held !== undefined) {
      this.#held.delete(number);
      this.#held.set(number, held);
    }
    return number;
  }
}
