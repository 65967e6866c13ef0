import { chained, type DecisionLog, GENESIS, type LogEntry } from '../../loop/index.ts';
import type { Process } from './process.ts';
import type { Watch } from './watch.ts';

/** The lines of a log, which all processes share. */
export class Lines {
  readonly entries: LogEntry[] = [];
  head = GENESIS;
}

export class DiskLog implements DecisionLog {
  readonly #process: Process;
  readonly #lines: Lines;
  readonly #watch: Watch;

  constructor(process: Process, lines: Lines, watch: Watch) {
    this.#process = process;
    this.#lines = lines;
    this.#watch = watch;
  }

  append(entry: LogEntry): Promise<void> {
    return this.#process.write('log.append', async () => {
      const link = chained(entry, this.#lines.head);
      this.#lines.head = link.hash;
      this.#lines.entries.push(entry);
      this.#watch.line(link.text);
    });
  }

  has(sid: string, turn: number): Promise<boolean> {
    return this.#process.write('log.has', async () =>
      this.#lines.entries.some(({ SID, turn_index }) => SID === sid && turn_index === turn),
    );
  }
}
