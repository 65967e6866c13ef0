import {
  argumentMessage,
  argumentProblem,
  badItem,
  countProblems,
  expected,
  formHint,
  MUST_NOT_BE_NIL,
  WANTED,
} from '../../wire/arguments.ts';
import { readNumber } from '../../wire/numbers.ts';
import type { PureArg, PureArgType } from '../../wire/pure/declaration.ts';
import { Dict, Fault, Fuzzy, List, newList, payRound, toNumeric, typeName, WORK } from '../kit.ts';
import type { Meter } from '../meter.ts';
import type { Value } from '../values.ts';
import { newItems } from './results.ts';

/** An argument that its parameter does not accept, with the reason. */
class Mismatch {
  readonly problem: string;
  constructor(problem: string) {
    this.problem = problem;
  }
}

type Fit = (meter: Meter, value: Exclude<Value, null>) => Value | Mismatch;

/** A parameter with the function that converts arguments to its type. */
export interface Parameter extends PureArg {
  readonly fit: Fit;
}

export function parameterOf(arg: PureArg): Parameter {
  return { ...arg, fit: FITS[arg.type] };
}

/**
 * Matches arguments to parameters by position and converts each to its type, exactly as the host does for its own tools. One
 * error of code 4 lists all problems. The function overwrites `given` and returns it.
 */
export function matched(meter: Meter, tool: string, parameters: readonly Parameter[], given: Value[]): Value[] {
  const count = given.length;
  if (count > parameters.length) return refuse(meter, tool, parameters, given, count);
  for (let index = 0; index < parameters.length; index++) {
    const parameter = parameters[index];
    if (parameter === undefined) break;
    const value = given[index] ?? parameter.default;
    if (value === null) {
      if (parameter.required) return refuse(meter, tool, parameters, given, count);
      given[index] = null;
      continue;
    }
    const fitted = parameter.fit(meter, value);
    if (fitted instanceof Mismatch) return refuse(meter, tool, parameters, given, count);
    given[index] = fitted;
  }
  return given;
}

/** Reports all problems. Arguments that were converted already convert to themselves. */
function refuse(meter: Meter, tool: string, parameters: readonly Parameter[], given: Value[], count: number): never {
  const problems = countProblems(parameters, count);
  for (const [index, parameter] of parameters.entries()) {
    if (index >= count && parameter.required) continue;
    const value = given[index] ?? parameter.default;
    const fitted = value === null ? (parameter.required ? new Mismatch(MUST_NOT_BE_NIL) : null) : parameter.fit(meter, value);
    if (fitted instanceof Mismatch) problems.push(argumentProblem(parameter.name, fitted.problem));
  }
  return meter.fail('ArgMismatch', argumentMessage(tool, problems), formHint(parameters));
}

function mismatch(what: string, value: Value): Mismatch {
  return new Mismatch(expected(what, typeName(value)));
}

const text: Fit = (_meter, value) => (typeof value === 'string' ? value : mismatch(WANTED.string, value));

const list: Fit = (_meter, value) => (value instanceof List ? value : mismatch(WANTED.list, value));

const LOW = -(2 ** 63);
const HIGH = 2 ** 63;

const int: Fit = (meter, value) => {
  const found = toNumeric(meter, value);
  if (found === undefined) return mismatch(WANTED.int, value);
  return Number.isInteger(found) && found >= LOW && found < HIGH ? found : new Mismatch(expected(WANTED.int, String(found)));
};

const bool: Fit = (meter, value) => {
  if (typeof value === 'boolean') return value;
  if (typeof value === 'number') return value !== 0;
  if (value instanceof Fuzzy) return value.degree !== 0;
  if (typeof value === 'string') meter.pay(WORK.scan, value.length);
  const word = typeof value === 'string' && value.length <= 'false'.length ? value.toLowerCase() : '';
  if (word === 'true' || word === '1') return true;
  return word === 'false' || word === '0' ? false : mismatch(WANTED.bool, value);
};

const map: Fit = (_meter, value) => {
  if (value instanceof Fault) return value.fields;
  return value instanceof Dict ? value : mismatch(WANTED.map, value);
};

function listOf(what: string, item: (meter: Meter, value: Value) => Value | Mismatch): Fit {
  return (meter, value) => {
    if (!(value instanceof List)) return mismatch(WANTED.list, value);
    const fitted = newItems(meter, value.items.length);
    for (const [index, each] of value.items.entries()) {
      payRound(meter, index);
      const one = item(meter, each);
      if (one instanceof Mismatch) return new Mismatch(badItem(what, index, one.problem));
      fitted[index] = one;
    }
    return newList(meter, fitted);
  };
}

/** An item must be a number without white space around it, unlike an argument. */
function itemNumber(meter: Meter, value: Value): Value | Mismatch {
  if (typeof value === 'number') return value;
  if (value instanceof Fuzzy) return value.degree;
  if (typeof value !== 'string') return mismatch(WANTED.number, value);
  meter.pay(WORK.scan, value.length);
  return readNumber(value, () => meter.pay(WORK.textPart)) ?? mismatch(WANTED.number, value);
}

const FITS: Readonly<Record<PureArgType, Fit>> = {
  any: (_meter, value) => value,
  string: text,
  int,
  float: (meter, value) => toNumeric(meter, value) ?? mismatch(WANTED.float, value),
  bool,
  map,
  slice_any: list,
  slice_string: listOf('strings', (meter, value) => (value === null ? '' : text(meter, value))),
  slice_float: listOf('numbers', itemNumber),
};
