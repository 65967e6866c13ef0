/** Upper bounds of the buckets, in seconds: from a fast statement to a slow agent. */
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/** Counts durations in buckets, as Prometheus reads them; one series for each value of a label with few values. */
export class Histogram {
  readonly #name: string;
  readonly #help: string;
  readonly #label: string | null;
  readonly #series = new Map<string, { readonly buckets: number[]; sum: number; count: number }>();

  /** `label` is the name of a label whose values are few; null for none. */
  constructor(name: string, help: string, label: string | null = null) {
    this.#name = name;
    this.#help = help;
    this.#label = label;
    if (label === null) this.#of('');
  }

  observe(ms: number, value = ''): void {
    const series = this.#of(value);
    const seconds = ms / 1000;
    const at = SECONDS.findIndex((bound) => seconds <= bound);
    const bucket = at < 0 ? SECONDS.length : at;
    series.buckets[bucket] = (series.buckets[bucket] ?? 0) + 1;
    series.sum += seconds;
    series.count += 1;
  }

  /** The lines in the Prometheus text format. */
  prometheus(): string {
    const lines = [`# HELP ${this.#name} ${this.#help}`, `# TYPE ${this.#name} histogram`];
    for (const [value, { buckets, sum, count }] of this.#series) {
      const own = this.#label === null ? '' : `${this.#label}="${value}"`;
      let below = 0;
      for (const [index, bound] of [...SECONDS, '+Inf'].entries()) {
        below += buckets[index] ?? 0;
        lines.push(`${this.#name}_bucket{${own === '' ? '' : `${own},`}le="${bound}"} ${below}`);
      }
      const labels = own === '' ? '' : `{${own}}`;
      lines.push(`${this.#name}_sum${labels} ${sum}`, `${this.#name}_count${labels} ${count}`);
    }
    return `${lines.join('\n')}\n`;
  }

  #of(value: string): { readonly buckets: number[]; sum: number; count: number } {
    const found = this.#series.get(value) ?? { buckets: new Array<number>(SECONDS.length + 1).fill(0), sum: 0, count: 0 };
    this.#series.set(value, found);
    return found;
  }
}
