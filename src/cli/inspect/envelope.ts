import {
  EnvelopeError,
  extractEnvelope,
  MAX_ENVELOPE_BYTES,
  MAX_SECTION_BYTES,
  type MarkerLine,
  markerLines,
  type ParsedEnvelope,
  parseEnvelope,
  SECTIONS,
  type SectionName,
  UserdataError,
  validateUserdata,
} from '../../aeiou/index.ts';
import { splitTranscript } from '../../loop/index.ts';
import { amount, clip, counted, quantity } from '../../report/index.ts';
import { shapeProblem } from '../../wire/admission.ts';
import { toPublicCheck } from '../../wire/findings.ts';
import type { CheckReport } from '../../wire/sourcereports.ts';
import { examine } from '../commands/check.ts';
import { type Flaw, type Found, type Kind, listed } from './kind.ts';
import { programLines, syntaxFlaw } from './program.ts';
import { tokensIn } from './token.ts';

/** Maximum number of replies of a transcript that are read. */
const MOST = 20;

const TRANSCRIPT_BYTES = 16 * MAX_ENVELOPE_BYTES;

/** A line that is a marker, apart from its blanks. */
const NEARLY = /^[ \t]*<<<NSENV:V3:START>>>[ \t\r]*$/m;

/** AEIOU v3 envelopes: one that a host composed, one within a model's reply, several in a transcript. */
export const ENVELOPE: Kind = {
  kind: 'envelope',
  what: 'an AEIOU v3 envelope',
  async recognize({ bytes, text }) {
    const marks = marksOf(bytes);
    if (marks.length === 0 && (text === null || !NEARLY.test(text))) return 'no line is a marker such as <<<NSENV:V3:START>>>';
    const starts = marks.filter(({ marker }) => marker === 'START').length;
    const replies = text === null || starts < 2 || bytes.length > TRANSCRIPT_BYTES ? [] : splitTranscript(text);
    const looked = replies.length > 1 ? transcript(replies.slice(0, MOST)) : [single(bytes)];
    const { reports, standard } = await actionsOf(looked);
    const all = looked.map((one, index) => ({ ...one, actions: reports[index] ?? null }));
    return found(all, Math.max(1, replies.length), marks, standard);
  },
};

interface Mark extends MarkerLine {
  /** The version that it names; null for one that has only the form of a marker. */
  readonly version: number | null;
  readonly text: string;
}

function marksOf(bytes: Buffer): readonly Mark[] {
  return markerLines(bytes, 0, bytes.length, 1).map((mark) => {
    const text = bytes.toString('utf8', mark.start, mark.end).replace('\uFEFF', '');
    const version = /^<<<NSENV:V(\d{1,9}):[A-Z]{1,20}>>>$/m.exec(text)?.[1];
    return { ...mark, text, version: version === undefined ? null : Number(version) };
  });
}

/** One envelope, valid or not. */
interface Looked {
  readonly form: 'envelope' | 'reply';
  /** The line of the artefact where it begins. */
  readonly firstLine: number;
  /** Its marker lines, counted from its first line. */
  readonly marks: readonly Mark[];
  readonly envelope: ParsedEnvelope | null;
  readonly error: Flaw | null;
}

type Examined = Looked & { readonly actions: CheckReport | null };

function transcript(replies: readonly string[]): readonly Looked[] {
  let firstLine = 1;
  return replies.map((reply) => {
    const bytes = Buffer.from(reply);
    const marks = marksOf(bytes);
    const looked = { form: 'reply' as const, firstLine, marks, ...read(() => extractEnvelope(bytes), firstLine) };
    firstLine += reply.split('\n').length;
    return looked;
  });
}

function single(bytes: Buffer): Looked {
  const marks = marksOf(bytes);
  const whole = read(() => parseEnvelope(bytes), 1);
  if (whole.envelope !== null) return { form: 'envelope', firstLine: 1, marks, ...whole };
  const within = read(() => extractEnvelope(bytes), 1);
  const [first] = marks;
  const isBare = first?.line === 1 && (first.marker === 'START' || versionOf(marks) !== 3) && within.envelope === null;
  return { form: isBare ? 'envelope' : 'reply', firstLine: 1, marks, ...(isBare ? whole : within) };
}

function read(parse: () => ParsedEnvelope, firstLine: number): Pick<Looked, 'envelope' | 'error'> {
  try {
    return { envelope: parse(), error: null };
  } catch (error) {
    if (!(error instanceof EnvelopeError)) throw error;
    const { code, message, line } = error;
    return { envelope: null, error: { code, message, line: line === null ? null : line + firstLine - 1 } };
  }
}

/** The findings of `check` for each ACTIONS; null for invalid envelopes. */
async function actionsOf(looked: readonly Looked[]): Promise<{
  readonly reports: readonly (CheckReport | null)[];
  readonly standard: readonly string[];
}> {
  const programs = looked.flatMap(({ envelope }) => (envelope === null ? [] : [[{ name: 'ACTIONS', text: envelope.actions }]]));
  if (programs.length === 0) return { reports: looked.map(() => null), standard: [] };
  const { reports, standard } = await examine(programs, { global: ['userdata'] });
  const left = [...reports];
  return { reports: looked.map(({ envelope }) => (envelope === null ? null : (left.shift() ?? null))), standard: standard ?? [] };
}

function found(all: readonly Examined[], count: number, marks: readonly Mark[], standard: readonly string[]): Found {
  const form = count > 1 ? 'transcript' : (all[0]?.form ?? 'envelope');
  const errors = all.map(errorOf);
  const version = versionOf(marks);
  return {
    form,
    title: form === 'transcript' ? `a transcript of ${count} replies with AEIOU v3 envelopes` : TITLES[form](version),
    sure: marks.length === 0 ? 'likely' : 'certain',
    error: errors.find((error) => error !== null) ?? null,
    report: all.map(reportOf),
    lines: listed(
      all,
      (one, index) =>
        count > 1
          ? [`reply ${index + 1}: ${headOf(one, errors[index] ?? null)}`, ...linesOf(one, standard).map(indented)]
          : linesOf(one, standard),
      { all: count },
    ),
    next: version === 3 ? NEXT[form] : null,
  };
}

/** The version of an envelope: that of its first marker that names one. */
function versionOf(marks: readonly Mark[]): number {
  return marks.find(({ version }) => version !== null)?.version ?? 3;
}

const TITLES = {
  envelope: (version: number) => `an AEIOU v${version} envelope`,
  reply: (version: number) => `a reply with an AEIOU v${version} envelope in it`,
} as const;

const NEXT = {
  envelope: '"neuroscript turn FILE" runs it as one turn, if its USERDATA is that of a host.',
  reply: 'Of a reply only ACTIONS counts: "neuroscript loop --agent script:FILE" takes it as the answer of an agent.',
  transcript: '"neuroscript loop --agent script:FILE" plays it.',
} as const;

/** The envelope's own error, or the error that a turn would give for its ACTIONS. */
function errorOf({ error, actions, marks, firstLine }: Examined): Flaw | null {
  if (error !== null || actions === null) return error;
  const start = marks.find(({ marker }) => marker === 'ACTIONS')?.line ?? 0;
  const syntax = syntaxFlaw(actions);
  if (syntax !== null) return { ...syntax, line: (syntax.line ?? 1) + start + firstLine - 1 };
  const problem = shapeProblem(actions.files[0]);
  return problem === null ? null : { code: 'ERR_ACTIONS_INVALID', message: problem, line: start + firstLine - 1 };
}

function headOf({ firstLine }: Looked, error: Flaw | null): string {
  return error === null ? `from line ${firstLine}` : `from line ${firstLine}: ${error.message} (${error.code})`;
}

function reportOf(one: Examined): object {
  const { form, firstLine, marks, envelope, actions } = one;
  return {
    form,
    line: firstLine,
    error: errorOf(one),
    bytes: bytesOf(marks),
    sections: envelope === null ? [] : sectionsOf(envelope).map(({ name, bytes, lines }) => ({ name, bytes, lines })),
    userdata: envelope === null ? null : userdataOf(envelope.userdata).report,
    lints: (envelope?.lints ?? []).map(({ code, line, section }) => ({ code, line: line + firstLine - 1, section })),
    tokens: tokensIn(envelope?.output ?? '').report,
    actions: actions === null ? null : toPublicCheck(actions),
  };
}

function linesOf({ envelope, marks, actions, firstLine }: Examined, standard: readonly string[]): readonly string[] {
  if (envelope === null) return listed(marks, (mark) => [`line ${mark.line + firstLine - 1}: ${described(mark)}`]);
  const bytes = bytesOf(marks);
  return [
    ...(bytes === null ? [] : [`${amount('bytes', bytes)} of ${quantity('bytes', MAX_ENVELOPE_BYTES)}, from START to END`]),
    ...sectionsOf(envelope).flatMap(({ name, body, bytes: size, lines }) => [
      `${name.padEnd(11)}${amount('bytes', size)} of ${quantity('bytes', MAX_SECTION_BYTES)}, ${counted(lines, 'line')}`,
      ...(name === 'USERDATA' ? userdataOf(body).lines : name === 'OUTPUT' ? tokensIn(body).lines : []).map(indented),
      ...(name === 'ACTIONS' && actions !== null
        ? programLines({ name: 'ACTIONS', text: body }, actions, standard).map(indented)
        : []),
    ]),
    ...envelope.lints.map(({ code, line, section }) => `line ${line + firstLine - 1}: ${code} (${section})`),
  ];
}

function described({ marker, version, text }: Mark): string {
  if (marker !== 'unknown') return `marker ${marker}`;
  return version === null || version === 3 ? `no marker of v3: ${text}` : `marker of version ${version}: ${text}`;
}

function indented(line: string): string {
  return `  ${line}`;
}

interface Section {
  readonly name: SectionName;
  readonly body: string;
  readonly bytes: number;
  readonly lines: number;
}

function sectionsOf({ userdata, scratchpad, output, actions }: ParsedEnvelope): readonly Section[] {
  const bodies = { USERDATA: userdata, SCRATCHPAD: scratchpad, OUTPUT: output, ACTIONS: actions };
  return SECTIONS.flatMap((name) => {
    const body = bodies[name];
    if (body === null) return [];
    return [{ name, body, bytes: Buffer.byteLength(body), lines: body === '' ? 0 : body.split('\n').length }];
  });
}

/** Bytes from the first of START to the last of END, as the limit counts them. */
function bytesOf(marks: readonly MarkerLine[]): number | null {
  const start = marks.find(({ marker }) => marker === 'START');
  const end = marks.find(({ marker }) => marker === 'END');
  return start === undefined || end === undefined || end.end < start.start ? null : end.end - start.start;
}

/** The fields of USERDATA that the protocol defines, or the error that a turn would give. */
function userdataOf(text: string): { readonly report: object; readonly lines: readonly string[] } {
  try {
    const { subject, brief, fields, ...others } = validateUserdata(text);
    const names = [Object.keys(fields), Object.keys(others)] as const;
    return {
      report: { ok: true, subject, brief: brief ?? null, fields: names[0], others: names[1] },
      lines: [
        clip(`subject ${JSON.stringify(subject)}`, 200),
        ...(brief === undefined ? [] : [clip(`brief ${JSON.stringify(brief)}`, 200)]),
        clip(`fields ${names[0].join(', ') || '(none)'}`, 200),
        ...(names[1].length === 0 ? [] : [clip(`and ${names[1].join(', ')}`, 200)]),
      ],
    };
  } catch (error) {
    if (!(error instanceof UserdataError)) throw error;
    const { code, detail, message } = error;
    return {
      report: { ok: false, code, detail, message },
      lines: [`${message} (${code}); a turn needs that of its host, in a reply it counts for nothing`],
    };
  }
}
