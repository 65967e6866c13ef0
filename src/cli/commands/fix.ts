import { withEdits } from '../../../grammar/repair/apply.ts';
import { type JsonFinding, SYNTAX, toPublicCheck } from '../../wire/findings.ts';
import type { Source } from '../../wire/protocol.ts';
import type { CheckReport } from '../../wire/sourcereports.ts';

/** Sources with the report about them. */
export interface Checked {
  readonly sources: readonly Source[];
  readonly report: CheckReport;
}

/** Fixes can uncover findings that have fixes themselves: a program that does not parse has no findings of the linter. */
const MAX_ROUNDS = 4;

/**
 * Makes the safe fixes of a report in its sources, with `proposed` the others too, and checks again, until nothing is left to fix.
 * Keeps no round that leaves as many errors as there were.
 */
export async function fix(
  first: Checked,
  check: (sources: readonly Source[]) => Promise<CheckReport>,
  proposed: boolean,
): Promise<Checked & { readonly fixed: readonly JsonFinding[] }> {
  let last = first;
  const fixed: JsonFinding[] = [];
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const { findings } = toPublicCheck(last.report);
    const chosen = findings.filter(
      (found) => found.fix !== undefined && found.fix.edits.length > 0 && (proposed || found.fix.safe),
    );
    if (chosen.length === 0) break;
    const sources = last.sources.map((source) => {
      const edits = chosen.filter(({ file }) => file === source.name).flatMap((found) => found.fix?.edits ?? []);
      return edits.length === 0 ? source : { ...source, text: withEdits(source.text, edits) };
    });
    const report = await check(sources);
    if (!isBetter(findings, toPublicCheck(report).findings)) break;
    fixed.push(...chosen);
    last = { sources, report };
  }
  return { ...last, fixed };
}

/** How many findings of a report have a fix that is only proposed. */
export function proposals(report: CheckReport): number {
  return toPublicCheck(report).findings.filter(({ fix: found }) => found !== undefined && found.edits.length > 0 && !found.safe)
    .length;
}

/** Fewer syntax errors, or as many and fewer errors, or as many of both and fewer findings. */
function isBetter(before: readonly JsonFinding[], after: readonly JsonFinding[]): boolean {
  const counts = (all: readonly JsonFinding[]): readonly number[] => [
    all.filter(({ code }) => code === SYNTAX).length,
    all.filter(({ severity }) => severity === 'error').length,
    all.length,
  ];
  const [now, then] = [counts(after), counts(before)];
  const different = now.findIndex((count, index) => count !== then[index]);
  return different >= 0 && (now[different] ?? 0) < (then[different] ?? 0);
}
