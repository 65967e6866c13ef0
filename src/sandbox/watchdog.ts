import type { ProcessMeter } from './processstats.ts';

/** A run on a worker, as far as its process is watched. */
export interface Watched {
  readonly meter: ProcessMeter;
  readonly maxRssBytes: number;
  maxCpuMs(): number;
  /** Called once, with what was exceeded and the reading. */
  exceeded(what: 'rss' | 'cpu', reading: number): void;
}

const TICK_MS = 5;

/**
 * Looks at the processes of all running programs every few milliseconds. It is the last resort: the interpreter refuses first,
 * the isolate second; what comes here is wedged in native code or has outgrown V8.
 */
export class Watchdog {
  readonly #watched = new Set<Watched>();
  #timer: NodeJS.Timeout | null = null;

  add(watched: Watched): void {
    this.#watched.add(watched);
    this.#timer ??= setInterval(() => this.#look(), TICK_MS).unref();
  }

  remove(watched: Watched): void {
    this.#watched.delete(watched);
    if (this.#watched.size > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }

  #look(): void {
    for (const watched of this.#watched) {
      const rss = watched.meter.rssBytes() ?? 0;
      const cpu = watched.meter.cpuMs() ?? 0;
      const what = rss > watched.maxRssBytes ? 'rss' : cpu > watched.maxCpuMs() ? 'cpu' : null;
      if (what === null) continue;
      this.remove(watched);
      watched.exceeded(what, what === 'rss' ? rss : cpu);
    }
  }
}
