import { type Dict, describe, List, shortQuote } from '../kit.ts';
import type { Meter } from '../meter.ts';
import { folded } from './casing.ts';
import { listOf } from './charges.ts';
import type { Group } from './define.ts';
import { follow, listedPath, parsePath } from './path.ts';
import { Checker } from './shapecheck.ts';

/** Whether values have the form that a program expects, and values by their path. */
export const SHAPE: Group<'shape'> = {
  'tool.shape.Validate': (machine, value, shape, options) => {
    const [problem] = problems(machine, value, shape, options, 1);
    return problem === undefined || machine.fail('ToolExecutionFailed', `tool 'tool.shape.validate' failed: ${problem}`);
  },
  'tool.shape.Problems': (machine, value, shape, options) =>
    listOf(machine, problems(machine, value, shape, options, MAX_PROBLEMS)),
  'tool.shape.Select': (machine, value, path, options) => {
    const { missing_ok, case_insensitive } = flags(machine, options, ['missing_ok', 'case_insensitive']);
    const steps = typeof path === 'string' ? parsePath(machine, path) : path instanceof List ? listedPath(path) : undefined;
    if (steps === undefined)
      return machine.fail('Syntax', `${describe(path)} is no path`, 'write "a.b[0].c", or a list such as ["a.b", 0]');
    const found = follow(machine, value, steps, case_insensitive ? sameLetters(machine) : undefined);
    if ('value' in found) return found.value;
    return found.missing && missing_ok ? null : machine.fail('KeyNotFound', found.problem);
  },
  'tool.shape.IsValidPath': (machine, path) => parsePath(machine, path) !== undefined,
};

/** Most problems that are reported at once. */
const MAX_PROBLEMS = 100;

function problems(machine: Meter, value: Dict, shape: Dict, options: Dict | null, most: number): readonly string[] {
  const { allow_extra, case_insensitive } = flags(machine, options, ['allow_extra', 'case_insensitive']);
  const checker = new Checker(machine, {
    allowExtra: allow_extra ?? false,
    most,
    ...(case_insensitive ? { sameKey: sameLetters(machine) } : {}),
  });
  return checker.problems(value, shape);
}

function sameLetters(machine: Meter): (a: string, b: string) => boolean {
  return (a, b) => {
    const left = folded(machine, a);
    const right = folded(machine, b);
    machine.releaseText(left.length);
    machine.releaseText(right.length);
    return left === right;
  };
}

/** The options of a call. Code 4 for one that does not exist and for one that is no boolean. */
function flags<K extends string>(machine: Meter, options: Dict | null, known: readonly K[]): Partial<Record<K, boolean>> {
  const found: Partial<Record<K, boolean>> = {};
  for (const [key, value] of options?.entries ?? []) {
    const name = known.find((each) => each === key);
    if (name === undefined) machine.fail('ArgMismatch', `unknown option ${shortQuote(key)}; known are ${known.join(', ')}`);
    if (typeof value !== 'boolean') machine.fail('ArgMismatch', `option ${key} must be true or false, got ${describe(value)}`);
    found[name] = value;
  }
  return found;
}
