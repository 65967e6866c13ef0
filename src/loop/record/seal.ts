import { hash } from 'node:crypto';
import type { TurnRecord, UnsealedRecord } from './record.ts';
import { splitRecord } from './split.ts';

/** A part of a record that is not as it was sealed. */
export interface SealFault {
  /** A part such as `output`, `inputs.nonce`, `journal.3` or `attempts.1.output`; `seal` when the seal itself does not match. */
  readonly part: string;
  /** What happened to the part since it was sealed. */
  readonly problem: 'changed' | 'missing' | 'added' | 'moved';
}

/** Seals a record and chains it to the record whose hash is `prev`. */
export function sealRecord(record: UnsealedRecord, prev: string | null): TurnRecord {
  const parts = digestsOf(record);
  return { ...record, seal: { prev, hash: hashOf(prev, parts), parts } };
}

/**
 * The parts that hold content and may be erased, besides the calls. The other parts say what was decided, when and by whom; `erased` cannot
 * excuse a change there.
 */
const ERASABLE: ReadonlySet<string> = new Set([
  'output',
  'scratchpad',
  'whispers',
  'digest',
  'candidates',
  'lints',
  'error',
  'inputs.envelope',
  'inputs.scene',
]);

/** The parts of an attempt that hold content and may be erased, besides its calls. */
const ERASABLE_OF_ATTEMPT: ReadonlySet<string> = new Set([
  'reply',
  'envelope',
  'problems',
  'error',
  'unreadable',
  'denied',
  'names',
  'run',
  'output',
  'scratchpad',
  'whispers',
]);

function isErasable(part: string): boolean {
  const [first = '', , field = ''] = part.split('.');
  if (first === 'attempts') return field === 'journal' || ERASABLE_OF_ATTEMPT.has(field);
  return first === 'journal' || ERASABLE.has(part);
}

/** Lists every part that is not as it was sealed, and reports when the record does not follow `prev`. Empty for an intact record. */
export function sealFaults(record: TurnRecord, prev: string | null): readonly SealFault[] {
  const { seal, erased = [], ...rest } = record;
  const actual = digestsOf(rest);
  const faults: SealFault[] = [];
  const gone = new Set(erased);
  const isErased = (part: string): boolean => isErasable(part) && gone.has(part);
  for (const part of Object.keys(seal.parts))
    if (isErased(part)) continue;
    else if (actual[part] === undefined) faults.push({ part, problem: 'missing' });
    else if (actual[part] !== seal.parts[part]) faults.push({ part, problem: 'changed' });
  for (const part of Object.keys(actual)) if (seal.parts[part] === undefined) faults.push({ part, problem: 'added' });
  if (hashOf(seal.prev, seal.parts) !== seal.hash) faults.push({ part: 'seal', problem: 'changed' });
  if (seal.prev !== prev) faults.push({ part: 'seal', problem: 'moved' });
  return faults;
}

function digestsOf(record: UnsealedRecord): Readonly<Record<string, string>> {
  return Object.fromEntries(splitRecord(record).map(([name, value]) => [name, digest(JSON.stringify(value))]));
}

function hashOf(prev: string | null, parts: Readonly<Record<string, string>>): string {
  const lines = Object.entries(parts).map(([part, text]) => `${part} ${text}`);
  return digest([prev ?? '-', ...lines].join('\n'));
}

function digest(text: string): string {
  return hash('sha256', text, 'base64url');
}
