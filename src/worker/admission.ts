import { environmentOf, isAdmitted, type Rejection, rejectionIn, syntaxError } from '../wire/admission.ts';
import type { RunInput } from '../wire/protocol.ts';
import type { Diagnostic, ParsedFile } from '../wire/sourcereports.ts';
import { checkSources } from './check.ts';

/** The rejection of sources that do not parse. Sources that are checked first get their errors with fixes. */
export function unparsed(input: RunInput, errors: readonly [Diagnostic, ...Diagnostic[]]): Rejection {
  return reasonsIn(input) ?? { phase: 'parse', error: syntaxError(errors[0]), errors };
}

/** Why sources that parse do not run; null when they run. */
export function rejectionOf(
  input: RunInput,
  files: readonly Pick<ParsedFile, 'kind' | 'commandBlocks' | 'tools'>[],
): Rejection | null {
  return input.admission === undefined || isAdmitted(input.admission, files) ? null : reasonsIn(input);
}

/** Only sources that are rejected are read again, for all reasons with their places. */
function reasonsIn({ sources, limits, admission }: RunInput): Rejection | null {
  if (admission === undefined) return null;
  return rejectionIn(checkSources(sources, limits.sourceBytes, environmentOf(admission)), admission);
}
