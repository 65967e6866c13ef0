import { NS_CODES, nsCodeName } from './codes.ts';
import type { ErrorInfo, ErrorKind } from './errors.ts';
import type { CallSite } from './protocol.ts';

/** Longest message kept, in UTF-16 units: a tool's error text may be anything. */
const MAX_MESSAGE = 4000;

/** Where a failure belongs; without it, it has no place in a source. */
type Site = Pick<CallSite, 'source' | 'line' | 'column'>;

/** The description of a failure with a code of the language's own table. */
export function languageError(nsCode: number, message: string, at?: Site, hint?: string): ErrorInfo {
  return {
    kind: kindOf(nsCode),
    code: `NS${nsCode}`,
    nsCode,
    name: nsCodeName(nsCode),
    message: shorten(message),
    source: at?.source ?? null,
    line: at?.line ?? null,
    column: at?.column ?? null,
    ...(hint === undefined ? {} : { hint: shorten(hint) }),
    stack: [],
  };
}

function kindOf(nsCode: number): ErrorKind {
  if (nsCode === NS_CODES.Policy) return 'policy';
  return nsCode === NS_CODES.Syntax ? 'syntax' : 'runtime';
}

/** At most {@link MAX_MESSAGE} units, with a sign that something is missing. */
export function shorten(text: string): string {
  return text.length <= MAX_MESSAGE ? text : `${text.slice(0, MAX_MESSAGE)}…`;
}

/** `ERR_USAGE`: a request or a command line that was not understood. Nothing was executed. */
export function usageError(message: string): ErrorInfo {
  const nowhere = { source: null, line: null, column: null, stack: [] };
  return { kind: 'usage', code: 'ERR_USAGE', nsCode: null, name: 'Usage', message: shorten(message), ...nowhere };
}
