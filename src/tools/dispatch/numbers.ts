import { hash } from 'node:crypto';
import { inOrder, type JournalEntry } from '../../wire/journal.ts';
import type { TaggedJson } from '../../wire/protocol.ts';

/** Characters of a digest. */
const LENGTH = 22;

/** The digest of a call's subject and arguments. */
export function callDigest(subject: string, args: readonly TaggedJson[]): string {
  return hash('sha256', JSON.stringify([subject, args]), 'base64url').slice(0, LENGTH);
}

/** The digest of a recorded call; null for a prompt. */
export function entryDigest(entry: JournalEntry): string | null {
  if (entry.kind === 'prompt') return null;
  return entry.kind === 'tool' ? callDigest(entry.name, entry.args) : askDigest(entry);
}

/** The digest of a call of `ask`. */
export function askDigest({ model, prompt, options }: Asked): string {
  return callDigest('ask', [model, prompt, options]);
}

/** The subject of an `ask`. */
interface Asked {
  readonly model: string;
  readonly prompt: TaggedJson;
  readonly options: TaggedJson;
}

/**
 * Numbers each call of an attempt among those of the same tool with the same arguments. So a call has the same number in every execution of
 * the turn, whatever the program does before it and whichever attempt makes it. Numbers of calls that earlier attempts made and that were
 * answered are not given again, because a call that has an answer is not made again; that of a call that failed is.
 */
export class CallNumbers {
  readonly #answered = new Map<string, Set<number>>();
  #last = new Map<string, number>();

  /** `journals` are those of the earlier attempts, the first attempt first. */
  constructor(journals: readonly (readonly JournalEntry[])[] = []) {
    for (const journal of journals) {
      const made = inOrder(journal).flatMap((entry) => {
        const digest = entry.from === undefined ? entryDigest(entry) : null;
        return digest === null ? [] : [{ digest, number: this.next(digest), isAnswered: entry.outcome.ok }];
      });
      for (const { digest, number, isAnswered } of made) if (isAnswered) this.#answer(digest, number);
      this.#last = new Map();
    }
  }

  /** The number of the next call with this digest. */
  next(digest: string): number {
    const answered = this.#answered.get(digest);
    let number = 1 + (this.#last.get(digest) ?? 0);
    while (answered?.has(number)) number += 1;
    this.#last.set(digest, number);
    return number;
  }

  #answer(digest: string, number: number): void {
    this.#answered.set(digest, (this.#answered.get(digest) ?? new Set()).add(number));
  }
}
