import { clip, counted, plainPalette, quantity, renderDiagnostic, SYNTAX } from '../../report/index.ts';
import { toPublicCheck } from '../../wire/findings.ts';
import type { Source } from '../../wire/protocol.ts';
import type { CheckReport } from '../../wire/sourcereports.ts';
import { cost, examine, SOURCE_BYTES, strangers, summary } from '../commands/check.ts';
import { holdsPrivate } from './keys.ts';
import { type Flaw, type Found, type Kind, lineCount, listed } from './kind.ts';

/** A word that every program or part of one contains. */
const HINT =
  /^[ \t]*(?:(?:endcommand|endfunc|endon)\b|command[ \t]*(?:[#/-].*)?\r?$|func[ \t]+[a-z_]\w*[ \t]*(?:\(|means\b|needs\b|returns\b|optional\b)|on[ \t]+event\b)/im;

/** A NeuroScript source. A worker parses it, as for `check`, and never runs it. */
export const PROGRAM: Kind = {
  kind: 'program',
  what: 'a NeuroScript program',
  async recognize({ name, text }) {
    if (text === null) return 'it is no text';
    if (!HINT.test(text)) return "no line begins with 'func', 'command' or 'on event'";
    const bytes = Buffer.byteLength(text);
    if (bytes > SOURCE_BYTES) return `it is larger than ${quantity('bytes', SOURCE_BYTES)}, as no program is`;
    const { reports, standard } = await examine([[{ name, text }]]);
    const report = reports[0];
    return report === undefined ? 'it cannot be parsed' : found({ name, text }, report, standard ?? []);
  },
};

function found(source: Source, report: CheckReport, standard: readonly string[]): Found {
  const { diagnostics } = report;
  return {
    title: diagnostics.length === 0 ? 'a NeuroScript program' : 'a NeuroScript program with syntax errors',
    sure: diagnostics.length === 0 ? 'certain' : 'likely',
    error: syntaxFlaw(report),
    facts: { lines: lineCount(source.text), ...programFacts(report, standard) },
    lines: programLines(source, report, standard),
    next:
      diagnostics.length === 0
        ? '"neuroscript check" shows likely mistakes with what to write instead; "neuroscript run" runs it, sandboxed.'
        : '"neuroscript check" shows every error.',
  };
}

/** The first syntax error; null when there is none. */
export function syntaxFlaw({ diagnostics: [first] }: CheckReport): Flaw | null {
  return first === undefined ? null : { code: SYNTAX, message: first.message, line: first.line };
}

/** The contents of a program, for `--json`; only findings when it has syntax errors. */
export function programFacts(report: CheckReport, standard: readonly string[]): object {
  const [file] = report.files;
  return {
    metadata: Object.fromEntries(file?.metadata ?? []),
    procedures: file?.signatures ?? [],
    commandBlocks: file?.commandBlocks ?? 0,
    eventHandlers: file?.events ?? 0,
    tools: file?.tools ?? [],
    otherTools: file === undefined ? [] : strangers(file, standard).map(({ tool }) => tool),
    ...toPublicCheck(report),
  };
}

/** The contents of a program as lines; source lines appear only with a finding. */
export function programLines(source: Source, report: CheckReport, standard: readonly string[]): readonly string[] {
  const { diagnostics, files, findings, estimates } = report;
  // The source line could hold part of a key.
  const texts = holdsPrivate(source.text) ? new Map<string, string>() : new Map([[source.name, source.text]]);
  if (diagnostics.length > 0)
    return [
      counted(diagnostics.length, 'syntax error'),
      ...listed(diagnostics, (one) => renderDiagnostic(one, SYNTAX, texts, plainPalette)),
    ];
  return files.flatMap((file) => [
    summary(file, findings),
    ...listed(file.metadata, ([key, value]) => [clip(`:: ${key}: ${value}`, 200)]),
    ...listed(file.signatures, (signature) => [clip(`func ${signature}`, 200)]),
    ...listed(strangers(file, standard), ({ message }) => [message]),
    ...listed(estimates, (one) => [cost(one)]),
  ]);
}
