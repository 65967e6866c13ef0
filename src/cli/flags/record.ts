import { open, rm, stat } from 'node:fs/promises';
import { makeOrdinary } from '../../files/ordinary.ts';
import { counted, printable } from '../../report/index.ts';
import { RECORDING_MARK, recordTools, type ToolDefinition } from '../../tools/index.ts';
import type { JournalEntry } from '../../wire/journal.ts';
import { UsageError } from '../terminal/failure.ts';
import { fileTrouble } from '../terminal/input.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { replaceFile } from '../terminal/write.ts';

/** The help of `--record`, for every command that has it. */
export const RECORD_HELP = 'write the calls that were made, with their results, to a tools file that answers them again';

/** Collects calls and writes them as a tools file. */
export class Recorder {
  readonly #file: string;
  readonly #journal: JournalEntry[] = [];

  private constructor(file: string) {
    this.#file = file;
  }

  /**
   * A recorder for `--record`, or null without it. Throws {@link UsageError}, before anything runs, for a place that cannot
   * be written, and for a file that is no recording, so that it never overwrites a file written by hand.
   */
  static async open(file: string | undefined): Promise<Recorder | null> {
    if (file === undefined) return null;
    try {
      makeOrdinary(file);
      await using handle = await open(file);
      const start = Buffer.alloc(Buffer.byteLength(RECORDING_MARK));
      const { bytesRead } = await handle.read(start, 0, start.length, 0);
      if (bytesRead > 0 && start.toString('utf8') !== RECORDING_MARK)
        throw new UsageError(`${printable(file)} exists already and is not a recording; name another file, or remove it`);
    } catch (error) {
      if (error instanceof UsageError) throw error;
      throw new UsageError(`cannot record to ${printable(file)}: ${fileTrouble(error, 'make')}`);
    }
    return new Recorder(file);
  }

  /** Leaves the file unchanged; an earlier recording is worth more than an empty one. */
  async discard(terminal: Terminal): Promise<void> {
    await this.#removeEmpty();
    terminal.err.prose(`nothing was executed, so nothing is recorded in ${printable(this.#file)}`);
  }

  /** Removes the file that {@link open} made, unless it was there before. */
  async #removeEmpty(): Promise<void> {
    const { size } = await stat(this.#file);
    if (size === 0) await rm(this.#file);
  }

  /** Adds calls in their order. */
  add(entries: readonly JournalEntry[]): void {
    for (const entry of entries) this.#journal.push(entry);
  }

  /** Writes the file atomically, readable for its owner only, and prints a summary to standard error. */
  async save(tools: readonly ToolDefinition[], terminal: Terminal): Promise<void> {
    const { text, calls, redacted, unanswered } = recordTools(this.#journal, tools);
    try {
      await replaceFile(this.#file, text, 'record to');
    } catch (error) {
      await this.#removeEmpty();
      throw error;
    }
    const notes = [
      ...(redacted === 0 ? [] : [`${counted(redacted, 'secret')} left out`]),
      ...(unanswered === 0 ? [] : [`${counted(unanswered, 'call')} without an answer left out`]),
    ];
    const more = notes.length === 0 ? '' : ` (${notes.join(', ')})`;
    terminal.err.prose(`recorded ${counted(calls, 'call')} in ${printable(this.#file)}${more}`);
  }
}
