import { plainPalette, quantity, SYNTAX } from '../../report/index.ts';
import { toPublicCheck } from '../../wire/findings.ts';
import type { Source } from '../../wire/protocol.ts';
import type { CheckReport } from '../../wire/sourcereports.ts';
import { checkLines, examine, SOURCE_BYTES } from '../commands/check.ts';
import { holdsPrivate } from './keys.ts';
import { type Flaw, type Kind, listed } from './kind.ts';

/** A word that every program or part of one contains. */
const HINT =
  /^[ \t]*(?:(?:endcommand|endfunc|endon)\b|command[ \t]*(?:[#/-].*)?\r?$|func[ \t]+[a-z_]\w*[ \t]*(?:\(|means\b|needs\b|returns\b|optional\b)|on[ \t]+event\b)/im;

/** A NeuroScript source. A worker parses it, as for `check`, and never runs it. */
export const PROGRAM: Kind = {
  kind: 'program',
  what: 'a NeuroScript program',
  async recognize({ name, text }) {
    if (text === null) return 'it is not text';
    if (!HINT.test(text)) return "no line begins with 'func', 'command' or 'on event'";
    const bytes = Buffer.byteLength(text);
    if (bytes > SOURCE_BYTES) return `it is larger than ${quantity('bytes', SOURCE_BYTES)}, the limit of a program`;
    const { reports, standard } = await examine([[{ name, text }]]);
    const [report] = reports;
    if (report === undefined) return 'it cannot be parsed';
    const error = syntaxFlaw(report);
    return {
      title: error === null ? 'a NeuroScript program' : 'a NeuroScript program with syntax errors',
      sure: error === null ? 'certain' : 'likely',
      error,
      report: toPublicCheck(report),
      lines: programLines({ name, text }, report, standard ?? []),
      next: error === null ? '"neuroscript run" runs it, sandboxed.' : null,
    };
  },
};

/** The first syntax error; null when there is none. */
export function syntaxFlaw({ diagnostics: [first] }: CheckReport): Flaw | null {
  return first === undefined ? null : { code: SYNTAX, message: first.message, line: first.line };
}

/** What `check` says of a program. */
export function programLines(source: Source, report: CheckReport, standard: readonly string[]): readonly string[] {
  // The source line could hold part of a key.
  const texts = holdsPrivate(source.text) ? new Map<string, string>() : new Map([[source.name, source.text]]);
  const { findings, files } = checkLines(report, texts, standard, plainPalette);
  return listed([...findings, ...files], (line) => [line], { most: MOST_LINES });
}

/** Maximum lines about a program. */
const MOST_LINES = 200;
