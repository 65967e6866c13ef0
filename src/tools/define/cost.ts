import type { ForeseenScalar, ForeseenValue } from '../../../grammar/index.ts';
import { characterCount } from '../../wire/clip.ts';
import { ConfigError } from '../../wire/errors.ts';
import { type Nanos, nanosOf, priceOf, usdOf, usdProblem } from '../../wire/money.ts';
import { readNumber } from '../../wire/numbers.ts';
import { checker, checkText, required } from '../../wire/options.ts';
import { trimSpace } from '../../wire/whitespace.ts';
import type { Parameter } from './parameters.ts';

/** What a call of a tool costs, in US dollars with at most nine decimals. */
export interface ToolCost {
  /** The price of every call; or `each` for each unit of the argument `of`: the number itself, or the length of a list or a text. */
  readonly usd: number | { readonly each: number; readonly of: string };
}

export type CallPrice = { readonly each: Nanos; readonly of: null } | { readonly each: Nanos; readonly of: Parameter };

/** The least and the most that one call costs; infinite where nothing bounds it. */
export interface PriceRange {
  readonly least: Nanos;
  readonly most: Nanos;
}

const checkCost = checker<ToolCost>({ usd: required(() => {}) });
const checkEach = checker<{ readonly each: number; readonly of: string }>({ each: required(checkUsd), of: required(checkText) });

/** As a check of an option: an amount of US dollars. */
export function checkUsd(what: string, value: unknown): void {
  const problem = usdProblem(value);
  if (problem !== null) throw new ConfigError(`${what} ${problem}`);
}

/** The price that a declaration sets; null without one. Throws {@link ConfigError} that names the tool and the field. */
export function priceFrom(tool: string, cost: ToolCost | undefined, parameters: readonly Parameter[]): CallPrice | null {
  if (cost === undefined) return null;
  checkCost(`${tool}: cost`, cost);
  const { usd } = cost;
  if (typeof usd !== 'object' || usd === null) {
    checkUsd(`${tool}: cost.usd`, usd);
    return Object.freeze({ each: nanosOf(usd), of: null });
  }
  checkEach(`${tool}: cost.usd`, usd);
  const of = parameters.find(({ name }) => name === usd.of);
  if (of === undefined) throw new ConfigError(`${tool}: cost.usd.of names '${usd.of}', which is not an argument of the tool`);
  // A program may give a text, whose size in bytes nobody foresees.
  if ('type' in of.kind && of.kind.type === 'blob')
    throw new ConfigError(`${tool}: cost.usd.of names '${of.name}', a blob; name a number, a list or a text`);
  return Object.freeze({ each: nanosOf(usd.each), of });
}

/** What a call costs, with its arguments as the tool gets them. */
export function callPrice({ each, of }: CallPrice, args: Readonly<Record<string, unknown>>): Nanos {
  return of === null ? each : priceOf(each, unitsOf(args[of.name]));
}

/** A number counts itself, a list its items, a text its characters, bytes their number, and anything else nothing. */
function unitsOf(value: unknown): number {
  if (typeof value === 'number') return value;
  if (typeof value === 'string') return characterCount(value);
  if (value instanceof Uint8Array) return value.byteLength;
  return Array.isArray(value) ? value.length : 0;
}

/** What one call can cost, by what is known of its arguments before the run; null stands for nothing known. */
export function priceRange(
  { each, of }: CallPrice,
  args: readonly ForeseenValue[] | null,
  parameters: readonly Parameter[],
): PriceRange {
  if (of === null) return { least: each, most: each };
  const known = args === null ? {} : (args[parameters.indexOf(of)] ?? { value: null });
  const { least, most } = unitRange(known, of);
  return { least: priceOf(each, least), most: most === Number.POSITIVE_INFINITY && each > 0 ? most : priceOf(each, most) };
}

interface Units {
  readonly least: number;
  readonly most: number;
}

const UNKNOWN: Units = { least: 0, most: Number.POSITIVE_INFINITY };

/** The units of an argument before it is converted. A schema may make anything of it. */
function unitRange(known: ForeseenValue, parameter: Parameter): Units {
  if (!('type' in parameter.kind)) return UNKNOWN;
  const { value, oneOf, items, each, types, least, most } = known;
  const scalars = value === undefined ? oneOf : [value];
  if (scalars !== undefined) return joined(scalars.map((scalar) => scalarUnits(scalar, parameter)));
  if (items !== undefined) return exactly(items.length);
  if (each !== undefined || types?.length !== 1 || types[0] !== 'number') return UNKNOWN;
  return { least: Math.max(0, least ?? 0), most: most ?? Number.POSITIVE_INFINITY };
}

function scalarUnits(scalar: ForeseenScalar, parameter: Parameter): Units {
  if (scalar === null) {
    const { default: fallback } = parameter;
    return typeof fallback === 'object' && fallback !== null ? UNKNOWN : exactly(textOrNumber(fallback, parameter));
  }
  return typeof scalar === 'object' ? exactly(Number(scalar.$num)) : exactly(textOrNumber(scalar, parameter));
}

/** The units of a value that has the type of its parameter, or that is converted to it. */
function textOrNumber(value: unknown, { kind }: Parameter): number {
  const isNumber = 'type' in kind && ['int', 'float', 'number'].includes(kind.type);
  return isNumber && typeof value === 'string' ? (readNumber(trimSpace(value)) ?? 0) : unitsOf(value);
}

function exactly(units: number): Units {
  const counted = Number.isNaN(units) ? Number.POSITIVE_INFINITY : Math.max(units, 0);
  return { least: counted, most: counted };
}

function joined(all: readonly Units[]): Units {
  return { least: Math.min(...all.map(({ least }) => least)), most: Math.max(...all.map(({ most }) => most)) };
}

/** The declaration of a price. */
export function costFrom({ each, of }: CallPrice): { readonly usd: number | { readonly each: number; readonly of: string } } {
  return { usd: of === null ? usdOf(each) : { each: usdOf(each), of: of.name } };
}
