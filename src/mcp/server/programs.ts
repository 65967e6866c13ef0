import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { FIRST_ISSUE } from '../../files/check.ts';
import type { WaitingRun } from '../../runtime/index.ts';
import { StoreError } from '../../sqlite/error.ts';

/** Seconds in which a question can be answered. */
export const ANSWER_SECONDS = 3600;

/** Bounds of all programs that wait: the one that has waited longest is given up. */
export const MOST_WAITING = 256;
export const MOST_BYTES = 64 * 1024 * 1024;

/** A program that waits for an answer, as plain data. */
export interface KeptProgram extends WaitingRun {
  /** The questions that it has asked. */
  readonly asked: number;
  /** The calls that count for its call limits, by tool. */
  readonly callsMade: Readonly<Record<string, number>>;
}

/** Stores the programs of a server that wait for answers of users. */
export interface ProgramStore {
  /** 32 bytes that sign the state that clients return. They must not change while programs are kept. */
  readonly key: Uint8Array;
  /** Stores a program. `now` is in Unix milliseconds. */
  put(id: string, program: string, now: number): void | Promise<void>;
  /** Removes and returns a program; null when there is none. */
  take(id: string, now: number): string | null | Promise<string | null>;
}

/** Keeps programs for the life of this process. */
export class MemoryPrograms implements ProgramStore {
  readonly key: Uint8Array = randomBytes(32);
  /** From the program that has waited longest to the last. */
  readonly #waiting = new Map<string, string>();
  #size = 0;

  put(id: string, program: string): void {
    this.#waiting.set(id, program);
    this.#size += program.length;
    while (this.#waiting.size > MOST_WAITING || this.#size > MOST_BYTES) {
      const [oldest = id] = this.#waiting.keys();
      this.take(oldest);
    }
  }

  take(id: string): string | null {
    const program = this.#waiting.get(id) ?? null;
    this.#size -= program?.length ?? 0;
    this.#waiting.delete(id);
    return program;
  }
}

const object = z.looseObject({});
const HEAD = z.object({
  asked: z.int().min(1),
  callsMade: z.record(z.string(), z.int().min(0)),
  run: z.looseObject({ forkId: z.string(), sources: z.array(object), limits: object, globals: object }),
  journal: z.array(z.looseObject({ seq: z.int().min(1), kind: z.enum(['tool', 'prompt', 'ask']), outcome: object })),
  waiting: z.looseObject({ seq: z.int().min(1), tool: z.string(), args: z.array(z.unknown()), reason: z.string() }),
  alsoWaiting: z.array(z.looseObject({ seq: z.int().min(1), tool: z.string() })).optional(),
});
const KEPT = z.custom<KeptProgram>((value) => HEAD.validate(value));

/** Reads a program that was kept. Throws {@link StoreError} (`damaged`). */
export function readProgram(text: string): KeptProgram {
  try {
    return KEPT.parse(JSON.parse(text), FIRST_ISSUE);
  } catch (cause) {
    throw new StoreError('damaged', 'a program that waits cannot be read', { cause });
  }
}
