import { setTimeout as sleep } from 'node:timers/promises';
import type { ServerContext } from '@modelcontextprotocol/server';
import { clipped } from '../../wire/clip.ts';
import type { JournalEntry } from '../../wire/journal.ts';
import type { OutFrame } from '../../wire/protocol.ts';

/** Milliseconds from one report to the next. */
const GAP_MS = 100;

/** Maximum length of a report, in UTF-16 units. */
const MESSAGE_LENGTH = 200;

/**
 * Tells a client that sent a progress token what its program does: every emit and every call of a tool is one step. One report is
 * under way at a time, and those that come too soon are left out, so that a fast program cannot flood a slow client.
 */
export class Progress implements AsyncDisposable {
  readonly #request: ServerContext['mcpReq'];
  readonly #over = new AbortController();
  #steps = 0;
  #message: string | null = null;
  #sending: Promise<void> | null = null;

  constructor({ mcpReq }: ServerContext) {
    this.#request = mcpReq;
  }

  /** Takes output of a program. */
  readonly onOut = ({ emits }: OutFrame): void => {
    this.#step(emits.length, emits.at(-1));
  };

  /** Takes an ended call of a program. */
  readonly onCall = (entry: JournalEntry): void => {
    this.#step(1, entry.kind === 'tool' ? entry.name : entry.kind);
  };

  /** Ends the reports, because none may follow the answer to the request. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort();
    await this.#sending;
  }

  #step(count: number, message: string | undefined): void {
    if (message === undefined || this.#request._meta?.progressToken === undefined) return;
    this.#steps += count;
    this.#message = clipped(message, MESSAGE_LENGTH).toWellFormed();
    this.#sending ??= this.#send();
  }

  async #send(): Promise<void> {
    const { signal } = this.#over;
    while (this.#message !== null && !signal.aborted) {
      const params = { progressToken: this.#request._meta?.progressToken, progress: this.#steps, message: this.#message };
      this.#message = null;
      // The failure is ignored: when a client disconnects, its request is cancelled, which ends the program.
      await this.#request.notify({ method: 'notifications/progress', params }).catch(() => {});
      await sleep(GAP_MS, undefined, { signal }).catch(() => {});
    }
    this.#sending = null;
  }
}
