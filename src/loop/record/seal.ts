import { hash } from 'node:crypto';
import type { TurnRecord, UnsealedRecord } from './record.ts';

/** A part of a record that is not as it was sealed. */
export interface SealFault {
  /** A part such as `output`, `inputs.nonce` or `journal.3`; `seal` when the seal itself does not match. */
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
 * The parts that hold content and may be erased. The other parts say what was decided, when and by whom; `erased` cannot excuse a change
 * there.
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

/** Lists every part that is not as it was sealed, and reports when the record does not follow `prev`. Empty for an intact record. */
export function sealFaults(record: TurnRecord, prev: string | null): readonly SealFault[] {
  const { seal, erased = [], ...rest } = record;
  const actual = digestsOf(rest);
  const faults: SealFault[] = [];
  const isErased = (part: string): boolean => (ERASABLE.has(part) || part.startsWith('journal.')) && erased.includes(part);
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
  const { inputs, journal, ...fields } = record;
  const parts: Record<string, string> = {};
  const add = (name: string, value: unknown): void => {
    const text = JSON.stringify(value);
    if (text !== undefined) parts[name] = digest(text);
  };
  for (const [name, value] of Object.entries(fields)) add(name, value);
  for (const [name, value] of Object.entries(inputs)) add(`inputs.${name}`, value);
  for (const [index, entry] of journal.entries()) add(`journal.${index + 1}`, entry);
  return parts;
}

function hashOf(prev: string | null, parts: Readonly<Record<string, string>>): string {
  const lines = Object.entries(parts).map(([part, text]) => `${part} ${text}`);
  return digest([prev ?? '-', ...lines].join('\n'));
}

function digest(text: string): string {
  return hash('sha256', text, 'base64url');
}
