import { z } from 'zod';
import { canonicalize } from '../aeiou/index.ts';
import { FIRST_ISSUE } from '../files/check.ts';
import { isMonstrous } from '../files/json.ts';
import type { ChainReport, ChainWitness } from '../loop/index.ts';
import { otherVersion, STORED_VERSION } from '../wire/forms.ts';
import { checkObject, checkText, listOf } from '../wire/options.ts';
import { counted } from '../wire/text/units.ts';
import { LAST_MS } from '../wire/time.ts';
import { isCanonical } from './canonical.ts';
import { ReceiptError, versionProblem } from './error.ts';
import { checkKey, isSignedFor, type ReceiptKey, signFor } from './key.ts';

/** The `format` of a checkpoint. */
export const CHECKPOINT_FORMAT = 'neuroscript-checkpoint';

/**
 * A signed statement of how long a decision log was and what its last line was. Somebody other than the writer of the log keeps it: a chain
 * alone cannot show that all of it was written anew.
 */
export interface Checkpoint {
  /** What is signed. */
  readonly statement: CheckpointStatement;
  /** Ed25519 over `neuroscript-checkpoint/1`, a line feed, and the canonical JSON of the statement; base64url. */
  readonly signature: string;
}

/** The signed half of a {@link Checkpoint}. */
export interface CheckpointStatement {
  /** Names this format. */
  readonly format: typeof CHECKPOINT_FORMAT;
  readonly version: 1;
  /** Name of the key that signed. */
  readonly kid: string;
  /** Unix milliseconds. */
  readonly at: number;
  /** Hash of the line before the first one. It is the start of an empty log unless earlier files were removed. */
  readonly after: string;
  /** Lines of the log. */
  readonly lines: number;
  /** Hash of the last line. */
  readonly head: string;
}

const HASH = z.string().regex(/^[0-9a-f]{64}$/);
const CHECKPOINT = z.strictObject({
  statement: z.strictObject({
    format: z.literal(CHECKPOINT_FORMAT),
    version: z.literal(STORED_VERSION, { error: ({ input }) => otherVersion('the checkpoint', input) }),
    kid: z.string(),
    at: z.number().min(0).max(LAST_MS),
    after: HASH,
    lines: z.int().min(0),
    head: HASH,
  }),
  signature: z.string(),
});

/** Signs the length and the head of a log that was verified. Throws {@link ReceiptError} for a key without a private half. */
export function issueCheckpoint(
  report: ChainReport & { readonly ok: true },
  after: string,
  key: ReceiptKey,
  at: number,
): Checkpoint {
  checkObject('the report of a log', report);
  checkKey(key);
  const { lines, head } = report;
  const statement = { format: CHECKPOINT_FORMAT, version: STORED_VERSION, kid: key.kid, at, after, lines, head } as const;
  return { statement, signature: signFor('neuroscript-checkpoint', statement, key) };
}

/** The text of a checkpoint: its canonical JSON and a line feed. */
export function formatCheckpoint(checkpoint: Checkpoint): string {
  return `${canonicalize(checkpoint, 'doubles')}\n`;
}

/** Reads a checkpoint and verifies its signature. Throws {@link ReceiptError} (`ERR_RECEIPT`). */
export function readCheckpoint(text: string, key: ReceiptKey): CheckpointStatement {
  checkText('the checkpoint', text);
  checkKey(key);
  if (isMonstrous(text)) throw new ReceiptError('it nests too deep, or has too many values');
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw new ReceiptError('it is not JSON', { cause });
  }
  const { success, data, error } = CHECKPOINT.safeParse(json, FIRST_ISSUE);
  if (!success || !isCanonical(text, json))
    throw new ReceiptError(versionProblem(error) ?? 'it is not a checkpoint, or it was changed');
  const { statement, signature } = data;
  if (statement.kid !== key.kid) throw new ReceiptError(`it was signed by key ${statement.kid}, not by ${key.kid}`);
  if (!isSignedFor('neuroscript-checkpoint', statement, signature, key))
    throw new ReceiptError('its signature does not fit: it was changed, or another key signed it');
  return statement;
}

const checkStatements = listOf(checkObject);

/** Follows a log line by line, and finds the first checkpoint that the log contradicts. */
export class CheckpointWalk implements ChainWitness {
  /** The statements of the line that comes next, and of later ones, by line. */
  readonly #due: Map<number, readonly CheckpointStatement[]>;

  /** `after` is the hash of the line before the first one. Throws {@link ReceiptError} for statements of another part of the log. */
  constructor(statements: readonly CheckpointStatement[], after: string) {
    checkStatements('the statements', statements);
    const stray = statements.find((each) => each.after !== after);
    if (stray !== undefined)
      throw new ReceiptError(
        `the checkpoint of ${utc(stray)} begins after another line: give --after ${stray.after}, or all files of the log`,
      );
    this.#due = Map.groupBy(statements, ({ lines }) => lines);
  }

  /** Takes the hash of the log after `lines` lines. Returns why a checkpoint contradicts it, or null. */
  at(lines: number, head: string): string | null {
    const wrong = this.#due.get(lines)?.find((each) => each.head !== head);
    this.#due.delete(lines);
    return wrong === undefined
      ? null
      : `the checkpoint of ${utc(wrong)} saw another line here: the log was written anew, or its reader was shown another one`;
  }

  /** Returns why the log ended too early, or null. */
  end(): string | null {
    const [missing] = [...this.#due.values()].flat().sort((a, b) => b.lines - a.lines);
    return missing === undefined
      ? null
      : `the checkpoint of ${utc(missing)} saw ${counted(missing.lines, 'line')}: the log was cut off`;
  }
}

function utc({ at }: CheckpointStatement): string {
  return new Date(at).toISOString();
}
