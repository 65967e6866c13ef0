import { counted, Dict, describe, entry, List, share, shortQuote, WORK } from '../kit.ts';
import type { Meter } from '../meter.ts';
import type { Value } from '../values.ts';

/** One step of a path: the key of a map, or the index of a list. */
type PathKey = string | number;

const MAX_STEPS = 128;
const MAX_KEY = 256;
const STEP = /(?:^|\.)([A-Za-z0-9_-]+)|\[(\d+)\]/y;

/** Parses a path such as `a.b[0].c`. Returns undefined if the text is not a path. */
export function parsePath(meter: Meter, path: string): readonly PathKey[] | undefined {
  meter.pay(WORK.scan, path.length);
  const steps: PathKey[] = [];
  STEP.lastIndex = 0;
  while (STEP.lastIndex < path.length) {
    const [, key, index] = STEP.exec(path) ?? [];
    const step = key ?? (index === undefined || steps.length === 0 ? undefined : Number(index));
    const tooLong = (key ?? index ?? '').length > MAX_KEY || steps.length === MAX_STEPS;
    if (step === undefined || tooLong) return undefined;
    steps.push(step);
  }
  return steps.length === 0 ? undefined : steps;
}

/** The steps of a path given as a list of keys and indexes. Such keys may contain dots and brackets. */
export function listedPath(path: List): readonly PathKey[] | undefined {
  const steps: PathKey[] = [];
  for (const step of path.items) {
    const valid = typeof step === 'string' ? step !== '' && step.length <= MAX_KEY : typeof step === 'number';
    if (!valid || steps.length === MAX_STEPS) return undefined;
    if (typeof step === 'number' || typeof step === 'string') steps.push(step);
  }
  return steps.length === 0 ? undefined : steps;
}

/** Why there is no value at a path; `missing` if a key or an item does not exist. */
export interface NoValue {
  readonly problem: string;
  readonly missing: boolean;
}

export function follow(
  meter: Meter,
  from: Value,
  steps: readonly PathKey[],
  sameKey?: (a: string, b: string) => boolean,
): { readonly value: Value } | NoValue {
  let value = from;
  for (const [index, step] of steps.entries()) {
    meter.pay(WORK.visit);
    const where = (): string => (index === 0 ? 'the value' : shortQuote(shown(steps.slice(0, index))));
    if (value === null) return { problem: `${where()} is nil`, missing: true };
    if (typeof step === 'string') {
      if (!(value instanceof Dict))
        return { problem: `${where()} must be a map to have ${shortQuote(step)}, got ${describe(value)}`, missing: false };
      const found = entryOf(meter, value, step, sameKey);
      if (found === undefined) return { problem: `there is no key ${shortQuote(step)} in ${where()}`, missing: true };
      value = found;
    } else {
      if (!(value instanceof List))
        return { problem: `${where()} must be a list to have [${step}], got ${describe(value)}`, missing: false };
      const found = value.items[step];
      if (found === undefined)
        return {
          problem: `there is no [${step}] in ${where()}, which has ${counted(value.items.length, 'item', 'items')}`,
          missing: true,
        };
      value = found;
    }
  }
  return { value: share(value) };
}

/** The value of a key, or else of the first key that `sameKey` accepts. */
export function entryOf(meter: Meter, map: Dict, key: string, sameKey?: (a: string, b: string) => boolean): Value | undefined {
  const exact = entry(meter, map, key);
  if (exact !== undefined || sameKey === undefined) return exact;
  meter.pay(WORK.visit, map.entries.size);
  for (const [each, value] of map.entries) if (sameKey(each, key)) return value;
  return undefined;
}

function shown(steps: readonly PathKey[]): string {
  return steps.map((step, index) => (typeof step === 'number' ? `[${step}]` : index === 0 ? step : `.${step}`)).join('');
}
