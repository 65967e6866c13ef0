import { BUILTIN_ARITY, builtinNamed, ERROR_VARIABLES, SELF } from '../../grammar/vocabulary/builtins.ts';
import { MAGIC_TOOL } from '../../grammar/vocabulary/names.ts';
import { environmentOf, isAdmitted, type Rejection, rejectedFor, rejectionIn, syntaxError } from '../wire/admission.ts';
import type { RunInput } from '../wire/protocol.ts';
import type { CallShape, Diagnostic, ParsedFile, StrictAdmission } from '../wire/sourcereports.ts';
import type { Callees, CountedCall } from './callees.ts';
import { checkSources } from './check.ts';

/** Variables that every program has. */
const GIVEN: ReadonlySet<string> = new Set([SELF, ...ERROR_VARIABLES]);

/** The parts of a parsed source that decide whether it runs. */
export type Judged = Pick<ParsedFile, 'kind' | 'commandBlocks' | 'tools'> & Callees;

/** The rejection of sources that do not parse. Sources that are checked first get their errors with fixes. */
export function unparsed(input: RunInput, errors: readonly [Diagnostic, ...Diagnostic[]]): Rejection {
  return reasonsIn(input) ?? { phase: 'parse', error: syntaxError(errors[0]), errors };
}

/**
 * Why sources that parse do not run; null when they run. The host finds the reasons of a strict rejection: they need all tools, whose names
 * take long to send.
 */
export function rejectionOf(input: RunInput, files: readonly Judged[]): Rejection | null {
  const { admission } = input;
  if (admission === undefined) return null;
  if (!isAdmitted(admission, files)) return reasonsIn(input);
  return admission.strict === undefined || isSound(admission.strict, input, files) ? null : rejectedFor([]);
}

/** Only sources that are rejected are read again, for all reasons with their places. */
function reasonsIn({ sources, limits, admission }: RunInput): Rejection | null {
  if (admission === undefined) return null;
  return rejectionIn(checkSources(sources, limits.sourceBytes, environmentOf(admission)), admission);
}

/**
 * Whether every call of the program has a callee that takes its arguments, no variable is read that may be misspelt, nothing may do something else
 * than what is meant, and some source asks for a control token.
 */
function isSound({ tools }: StrictAdmission, { globals, constants = {} }: RunInput, files: readonly Judged[]): boolean {
  if (!files.some((file) => file.tools.includes(MAGIC_TOOL))) return false;
  const isKnown = (name: string): boolean => name in globals || name in constants || GIVEN.has(name);
  if (![...(files.at(-1)?.unset ?? []), ...(files.at(-1)?.keys ?? [])].every(isKnown)) return false;
  const procedures = files.flatMap((file) => file.procedures);
  return (files.at(-1)?.calls ?? []).every((call) => hasCallee(call, call.kind === 'tool' ? tools : procedures));
}

function hasCallee({ kind, name, args }: CountedCall, callees: readonly CallShape[]): boolean {
  if (kind === 'call' && builtinNamed(name) !== undefined) return args === BUILTIN_ARITY;
  return callees.some((callee) => callee.name === name && callee.least <= args && args <= callee.most);
}
