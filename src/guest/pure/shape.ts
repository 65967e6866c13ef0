import { type Dict, describe, List, shortQuote } from '../kit.ts';
import type { Meter } from '../meter.ts';
import { folded } from './casing.ts';
import type { Group } from './define.ts';
import { follow, listedPath, parsePath } from './path.ts';
import { listOf } from './results.ts';
import { ShapeChecker } from './shapechecker.ts';

/** Shapes of values, and access by path. */
export const SHAPE: Group<'shape'> = {
  'tool.shape.Validate': (meter, value, shape, options) => {
    const [problem] = problems(meter, value, shape, options, 1);
    return problem === undefined || meter.fail('ToolExecutionFailed', `tool 'tool.shape.validate' failed: ${problem}`);
  },
  'tool.shape.Problems': (meter, value, shape, options) => listOf(meter, problems(meter, value, shape, options, MAX_PROBLEMS)),
  'tool.shape.Select': (meter, value, path, options) => {
    const { missing_ok, case_insensitive } = flags(meter, options, ['missing_ok', 'case_insensitive']);
    const steps = typeof path === 'string' ? parsePath(meter, path) : path instanceof List ? listedPath(path) : undefined;
    if (steps === undefined)
      return meter.fail('Syntax', `${describe(path)} is not a path`, 'write "a.b[0].c", or a list such as ["a.b", 0]');
    const found = follow(meter, value, steps, case_insensitive ? sameLetters(meter) : undefined);
    if ('value' in found) return found.value;
    return found.missing && missing_ok ? null : meter.fail('KeyNotFound', found.problem);
  },
  'tool.shape.IsValidPath': (meter, path) => parsePath(meter, path) !== undefined,
};

/** Maximum number of problems in one report. */
const MAX_PROBLEMS = 100;

function problems(meter: Meter, value: Dict, shape: Dict, options: Dict | null, most: number): readonly string[] {
  const { allow_extra, case_insensitive } = flags(meter, options, ['allow_extra', 'case_insensitive']);
  const checker = new ShapeChecker(meter, {
    allowExtra: allow_extra ?? false,
    most,
    ...(case_insensitive ? { sameKey: sameLetters(meter) } : {}),
  });
  return checker.problems(value, shape);
}

function sameLetters(meter: Meter): (a: string, b: string) => boolean {
  return (a, b) => {
    const left = folded(meter, a);
    const right = folded(meter, b);
    meter.releaseText(left.length);
    meter.releaseText(right.length);
    return left === right;
  };
}

/** Reads the options of a call. Fails with code 4 for an unknown option and for a value that is not a boolean. */
function flags<K extends string>(meter: Meter, options: Dict | null, known: readonly K[]): Partial<Record<K, boolean>> {
  const found: Partial<Record<K, boolean>> = {};
  for (const [key, value] of options?.entries ?? []) {
    const name = known.find((each) => each === key);
    if (name === undefined) meter.fail('ArgMismatch', `unknown option ${shortQuote(key)}; known are ${known.join(', ')}`);
    if (typeof value !== 'boolean') meter.fail('ArgMismatch', `option ${key} must be true or false, got ${describe(value)}`);
    found[name] = value;
  }
  return found;
}
