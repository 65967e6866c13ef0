import type { FailedAttempt, UnsealedRecord } from './record.ts';

/** A part of a record by its name, such as `output`, `inputs.nonce`, `journal.3`, `attempts.1.reply` or `attempts.1.journal.2`. */
export type RecordPart = readonly [name: string, value: unknown];

/** The parts of a record: its fields, those of its inputs and of its attempts, and each call. A field that is undefined is no part. */
export function splitRecord({ inputs, journal, attempts = [], ...fields }: UnsealedRecord): readonly RecordPart[] {
  return [
    ...named('', fields),
    ...named('inputs.', inputs),
    ...calls('', journal),
    ...attempts.flatMap((attempt, index) => attemptParts(`attempts.${index + 1}.`, attempt)),
  ];
}

/** The record whose parts these are. Parts may be missing, and the values may have any form. */
export function joinRecord(parts: readonly RecordPart[]): object {
  const { fields, inputs, journal, attempts } = sorted(parts);
  const tries = inOrder(Map.groupBy(attempts, ([name]) => headOf(name))).map((own) => {
    const { fields: facts, journal: answered } = sorted(own.map(([name, value]) => [tailOf(name), value]));
    return { ...Object.fromEntries(facts), journal: answered };
  });
  return {
    ...Object.fromEntries(fields),
    inputs: Object.fromEntries(inputs),
    journal,
    ...(tries.length === 0 ? {} : { attempts: tries }),
  };
}

function attemptParts(prefix: string, { journal, ...fields }: FailedAttempt): readonly RecordPart[] {
  return [...named(prefix, fields), ...calls(prefix, journal)];
}

function named(prefix: string, fields: object): readonly RecordPart[] {
  return Object.entries(fields).flatMap(([name, value]): readonly RecordPart[] =>
    value === undefined ? [] : [[`${prefix}${name}`, value]],
  );
}

function calls(prefix: string, journal: UnsealedRecord['journal']): readonly RecordPart[] {
  return journal.map((entry, index) => [`${prefix}journal.${index + 1}`, entry]);
}

/** Parts by the group to which their names belong. */
function sorted(parts: readonly RecordPart[]) {
  const [fields, inputs, attempts]: [RecordPart[], RecordPart[], RecordPart[]] = [[], [], []];
  const journal: [number, unknown][] = [];
  for (const [name, value] of parts)
    if (name.startsWith('inputs.')) inputs.push([tailOf(name), value]);
    else if (name.startsWith('attempts.')) attempts.push([tailOf(name), value]);
    else if (name.startsWith('journal.')) journal.push([Number(tailOf(name)), value]);
    else fields.push([name, value]);
  return { fields, inputs, attempts, journal: journal.sort(([a], [b]) => a - b).map(([, entry]) => entry) };
}

function inOrder<T>(groups: ReadonlyMap<string, T>): readonly T[] {
  return [...groups].sort(([a], [b]) => Number(a) - Number(b)).map(([, group]) => group);
}

function headOf(name: string): string {
  return name.split('.', 1)[0] ?? '';
}

function tailOf(name: string): string {
  return name.slice(name.indexOf('.') + 1);
}
