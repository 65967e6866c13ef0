import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';

/** One requirement that an implementation has to meet. */
export interface ContractCase {
  /** The requirement in words, for the title of a test. */
  readonly name: string;
  /** Rejects with `AssertionError` of `node:assert`, or an error of the implementation, unless the requirement is met. */
  run(): Promise<void>;
}

/** Compares a value with what is expected. */
export function check(actual: unknown) {
  return {
    /** They are the same in every part. */
    equals: (expected: unknown): void => assert.deepStrictEqual(actual, expected),
    /** An object may have more fields than are expected; a list may not have more items. */
    matches: (expected: unknown): void => {
      if (!matching(actual, expected)) assert.deepStrictEqual(actual, expected);
    },
    hasLength: (length: number): void => assert.equal(Array.isArray(actual) ? actual.length : null, length),
  };
}

/** The call must reject with an error that has these fields. */
export async function refused(call: Promise<unknown>, fields: object): Promise<void> {
  let result: unknown;
  try {
    result = await call;
  } catch (error) {
    return check(error).matches(fields);
  }
  assert.fail(`the call was not refused, and resolved with ${JSON.stringify(result)}`);
}

/** Waits for a condition. */
export async function eventually(what: string, ms: number, holds: () => boolean): Promise<void> {
  for (const until = performance.now() + ms; !holds(); await sleep(5))
    if (performance.now() > until) assert.fail(`${what}: not in ${ms} ms`);
}

function matching(actual: unknown, expected: unknown): boolean {
  if (Array.isArray(expected))
    return (
      Array.isArray(actual) && actual.length === expected.length && expected.every((each, index) => matching(actual[index], each))
    );
  if (typeof expected !== 'object' || expected === null) return Object.is(actual, expected);
  if (typeof actual !== 'object' || actual === null) return false;
  return Object.entries(expected).every(([key, value]) => matching(Reflect.get(actual, key), value));
}
