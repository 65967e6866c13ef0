import { hash } from 'node:crypto';
import type { TurnRecord, UnsealedRecord } from '../turn/record.ts';

/**
 * What makes a change of a record visible, and tells where it is. Nobody's signature: whoever may write to a store may write
 * a whole new history into it. Keep the last hash elsewhere to notice that.
 */
export interface Seal {
  /** Hash of the record of the turn before; null for the first. */
  readonly prev: string | null;
  /** SHA-256 over `prev` and the parts, base64url. */
  readonly hash: string;
  /** SHA-256 of the JSON of every part, base64url: fields of the record, of its inputs, and its calls one by one. */
  readonly parts: Readonly<Record<string, string>>;
}

/** What is wrong with a record, and where. */
export interface SealFault {
  /** A part such as `output`, `inputs.nonce` or `journal.3`; `seal` when the seal itself does not fit. */
  readonly part: string;
  readonly problem: 'changed' | 'missing' | 'added' | 'moved';
}

/** Seals a record after the one before it. */
export function sealRecord(record: UnsealedRecord, prev: string | null): TurnRecord {
  const parts = digestsOf(record);
  return { ...record, seal: { prev, hash: hashOf(prev, parts), parts } };
}

/** Everything in a record that is not as it was sealed, and whether it follows `prev`; nothing for one that is whole. */
export function sealFaults(record: TurnRecord, prev: string | null): readonly SealFault[] {
  const { seal, ...rest } = record;
  if (seal === null) return [];
  const actual = digestsOf(rest);
  const faults: SealFault[] = [];
  for (const part of Object.keys(seal.parts))
    if (actual[part] === undefined) faults.push({ part, problem: 'missing' });
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
