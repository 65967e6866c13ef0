import { readdirSync, readFileSync } from 'node:fs';
import { z } from 'zod';

/** The version of the vectors' format and of the protocol that carries them. */
export const KIT_FORMAT = 1;

/**
 * The notation of byte strings in the files: text for its UTF-8, `hex` for other bytes, `repeat` for long strings, a list for the
 * concatenation of its parts.
 */
export type ByteNotation =
  | string
  | { readonly hex: string }
  | { readonly repeat: ByteNotation; readonly times: number }
  | readonly ByteNotation[];

const notation: z.ZodType<ByteNotation> = z.lazy(() =>
  z.union([
    z.string(),
    z.strictObject({ hex: z.string() }),
    z.strictObject({ repeat: notation, times: z.int().nonnegative() }),
    z.array(notation),
  ]),
);

const expectation = z.union([
  z.strictObject({ ok: z.record(z.string(), z.unknown()) }),
  z.strictObject({ accepted: z.literal(true) }),
  z.strictObject({ error: z.union([z.string(), z.array(z.string())]) }),
]);

const file = z.strictObject({
  format: z.literal(KIT_FORMAT),
  title: z.string(),
  op: z.string(),
  keys: z.array(z.record(z.string(), z.string())).optional(),
  common: z.record(z.string(), z.unknown()).optional(),
  vectors: z.array(
    z.strictObject({
      id: z.string(),
      about: z.string(),
      requirements: z.array(z.string()),
      input: z.record(z.string(), z.unknown()),
      expect: expectation,
    }),
  ),
});

/** {@link expectation}: exactly these values, any values, or one of these error codes (`any`: any code). */
export type Expectation = z.infer<typeof expectation>;

/** One case of the kit, ready to be sent. */
export interface Vector {
  readonly file: string;
  readonly id: string;
  readonly about: string;
  readonly op: string;
  /** Byte strings are base64. */
  readonly input: Readonly<Record<string, unknown>>;
  readonly expect: Expectation;
}

/** Members of a request or an answer that are byte strings, by operation. */
const BYTE_MEMBERS: ReadonlyMap<string, readonly string[]> = new Map([
  ['envelope.parse', ['bytes', 'userdata', 'scratchpad', 'output', 'actions']],
  ['envelope.extract', ['bytes', 'userdata', 'scratchpad', 'output', 'actions']],
  ['envelope.compose', ['bytes', 'userdata', 'scratchpad', 'output', 'actions']],
  ['userdata.validate', ['bytes']],
  ['output.select', ['output']],
  ['progress.digest', ['output', 'scratchpad']],
  ['json.canonicalize', ['bytes', 'text']],
]);

/** Reads all files of vectors in a folder, in the order of their names. Throws for a malformed file. */
export function readVectors(folder: URL): readonly Vector[] {
  const names = readdirSync(folder).filter((name) => name.endsWith('.json'));
  return names.sort().flatMap((name) => {
    const { op, keys, common, vectors } = file.parse(JSON.parse(readFileSync(new URL(name, folder), 'utf8')));
    return vectors.map(({ id, about, input, expect }) => ({
      file: name,
      id,
      about,
      op,
      input: encoded(op, { keys, ...common, ...input }),
      expect: 'ok' in expect ? { ok: encoded(op, expect.ok) } : expect,
    }));
  });
}

function encoded(op: string, members: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const bytes = BYTE_MEMBERS.get(op) ?? [];
  return Object.fromEntries(
    Object.entries(members).map(([name, value]) => [
      name,
      bytes.includes(name) && value !== null ? bytesOf(notation.parse(value)).toString('base64') : value,
    ]),
  );
}

export function bytesOf(value: ByteNotation): Buffer {
  if (typeof value === 'string') return Buffer.from(value, 'utf8');
  if ('hex' in value) return Buffer.from(value.hex, 'hex');
  if ('repeat' in value) {
    const unit = bytesOf(value.repeat);
    // A list of all units takes most of a second for the vectors of AEIOU.
    return Buffer.alloc(unit.length * value.times, unit);
  }
  return Buffer.concat(value.map(bytesOf));
}
