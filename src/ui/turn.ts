import { decodeToken } from '../aeiou/index.ts';
import {
  type CandidateRecord,
  type SessionAbove,
  type SessionStore,
  type Spent,
  spentAfter,
  type TurnRecord,
} from '../loop/index.ts';
import { CHECKS, describeToken, printable } from '../report/index.ts';
import { elapsedMs, type JournalEntry } from '../wire/journal.ts';
import { type CarriedLabel, sourcesText } from '../wire/labels.ts';
import { type LimitKey, type LimitValues, limitOf } from '../wire/limits.ts';
import type { Usage } from '../wire/protocol.ts';
import { attemptText, attemptViews } from './attempts.ts';
import { argsOf, callViews, type NestedSids, nameOf } from './calls.ts';
import { envelopeOf, errorView, MESSAGE } from './envelope.ts';
import { type FoundTurn, recordView, sceneOf } from './record.ts';
import { RequestError } from './request.ts';
import { jsonOf, type Texts } from './texts.ts';
import type { EnvelopeView, Measure, TokenView, TurnRow, TurnSide, TurnView, VerifyView } from './views.ts';

/** Most tokens, lints and whispers of a view. A program chooses how many it makes. */
const MOST = 200;

/** What a turn uses and which limit bounds it, in the order in which a page shows them. */
const MEASURED: readonly (readonly [LimitKey, (usage: Usage) => number])[] = [
  ['fuel', ({ fuel }) => fuel],
  ['cpuMs', ({ cpuMs }) => cpuMs],
  ['wallMs', ({ wallMs }) => wallMs],
  ['memoryBytes', ({ peakMemoryBytes }) => peakMemoryBytes],
  ['outputBytes', ({ outputBytes }) => outputBytes],
  ['toolCalls', ({ toolCalls }) => toolCalls],
];

/** A turn on a timeline. */
export function turnRow(record: TurnRecord): TurnRow {
  const { turn, startedAt, latencyMs, phases, decision, reason, overridden, agent = null, journal, usage, error } = record;
  return {
    turn,
    startedAt,
    latencyMs,
    phases,
    callsMs: elapsedMs(journal),
    decision,
    reason,
    overridden,
    agent,
    cost: spentBy(record).cost ?? 0,
    calls: journal.length,
    failed: journal.filter(({ outcome }) => !outcome.ok).length,
    slowest: slowestOf(journal),
    measures: measuresOf(usage, record.inputs.limits),
    error: error === null ? null : { code: error.code, message: error.message.slice(0, MESSAGE) },
  };
}

/** What a turn adds to the usage of its session. */
export function spentBy(record: TurnRecord): Spent {
  return spentAfter({ fuel: 0, tokens: 0 }, record);
}

function slowestOf(journal: TurnRecord['journal']): TurnRow['slowest'] {
  const [first, ...rest] = journal;
  if (first === undefined) return null;
  const entry = rest.reduce((most, each) => (each.ms > most.ms ? each : most), first);
  return { seq: entry.seq, name: nameOf(entry), ms: entry.ms };
}

function measuresOf(usage: Usage, limits: Partial<LimitValues>): readonly Measure[] {
  return MEASURED.map(([limit, used]) => ({
    limit,
    unit: limitOf(limit).unit,
    used: used(usage),
    allowed: limits[limit] ?? null,
  }));
}

/** What a turn, or a trial of it, did. */
export function turnSide(record: TurnRecord, texts: Texts, nested?: NestedSids): TurnSide {
  const { output, scratchpad, whispers, lints, usage, error } = record;
  const envelope = envelopeOf(record.inputs.envelope);
  const actions = typeof envelope === 'string' ? null : envelope.actions;
  return {
    ...turnRow(record),
    program: actions === null ? null : texts.text(actions, 'actions'),
    failure: error === null ? null : errorView(error, actions, sceneOf(record)?.run?.sources ?? []),
    output: texts.text(output, 'output'),
    scratchpad: texts.text(scratchpad, 'scratchpad'),
    carries: { output: carriesText(record.labels?.output), scratchpad: carriesText(record.labels?.scratchpad) },
    ...callViews(record, texts, nested),
    whispers: whispers
      .slice(0, MOST)
      .map(({ to, text }, index) => ({ to: to.slice(0, MESSAGE), text: texts.text(text, `whisper.${index}`) })),
    lints: lints.slice(0, MOST).map(({ code, line }) => ({ code, line })),
    usage,
  };
}

function carriesText(labels: readonly CarriedLabel[] = []): string | null {
  return labels.length === 0 ? null : printable(sourcesText(labels));
}

/** Everything about a decided turn of a session that stands below those `above`. */
export function turnView(
  { record, before, after, prev }: FoundTurn,
  texts: Texts,
  above: readonly SessionAbove[] = [],
  nested?: NestedSids,
): TurnView {
  const side = turnSide(record, texts, nested);
  return {
    ...side,
    sid: record.sid,
    above,
    before,
    after,
    record: recordView(record, prev),
    ...attemptViews(record, texts),
    envelope: envelopeView(record, texts, side),
    tokens: tokenViews(record),
    verify: verifyView(record),
    host: sceneOf(record)?.host ?? null,
  };
}

/** The whole of a text of a turn, by the name of its part. Throws {@link RequestError} (404). */
export function partOf(record: TurnRecord, part: string): string {
  const text = textOf(record, part.split('.'));
  if (typeof text === 'string') return text;
  throw new RequestError(404, 'the turn has no such part');
}

/** The names of parts are those that the views of a turn give to their texts. */
function textOf(record: TurnRecord, [kind = '', name = '', ...rest]: readonly string[]): string | null | undefined {
  if (kind === 'call') {
    const entry = record.journal.find(({ seq }) => String(seq) === name);
    return entry === undefined ? null : callText(entry, rest);
  }
  if (kind === 'attempt') return attemptText(record, [name, ...rest]);
  if (kind === 'whisper') return record.whispers[Number(name)]?.text;
  if (kind === 'output' || kind === 'scratchpad') return record[kind];
  const { envelope: text } = record.inputs;
  if (kind === 'envelope' && name === '') return text;
  const envelope = envelopeOf(text);
  if (typeof envelope === 'string') return null;
  if (kind === 'actions') return envelope.actions;
  return kind === 'envelope' && (name === 'userdata' || name === 'scratchpad' || name === 'output') ? envelope[name] : null;
}

function callText(entry: JournalEntry, [what, index]: readonly string[]): string | null {
  if (what === 'result') return entry.outcome.ok ? jsonOf(entry.outcome.value) : null;
  const value = argsOf(entry)[Number(index)];
  return value === undefined ? null : jsonOf(value);
}

/** The sids of the sessions that the asks of a turn opened. */
export async function nestedSids(store: SessionStore, sid: string, turn: number): Promise<NestedSids> {
  const nested = await store.list({ parent: sid, limit: 500 });
  return new Map(nested.flatMap((each) => (each.parent?.turn === turn ? [[each.parent.seq, each.sid]] : [])));
}

function envelopeView(record: TurnRecord, texts: Texts, { program }: TurnSide): EnvelopeView {
  const { envelope: text } = record.inputs;
  const envelope = envelopeOf(text);
  if (typeof envelope === 'string') return { sections: null, text: texts.text(text, 'envelope'), problem: envelope };
  const { userdata, scratchpad, output, actions } = envelope;
  const section = (body: string | null, name: string) => (body === null ? null : texts.text(body, `envelope.${name}`));
  return {
    sections: {
      userdata: texts.text(userdata, 'envelope.userdata'),
      scratchpad: section(scratchpad, 'scratchpad'),
      output: section(output, 'output'),
      actions: program ?? texts.text(actions, 'actions'),
    },
    text: null,
    problem: null,
  };
}

function tokenViews(record: TurnRecord): readonly TokenView[] {
  const lines = record.output.split('\n');
  return record.candidates.slice(0, MOST).map((candidate) => tokenView(candidate, lines[candidate.line - 1] ?? '', record));
}

function tokenView(candidate: CandidateRecord, token: string, record: TurnRecord): TokenView {
  const { line, ok, code, detail, message, jti } = candidate;
  const failed = ok ? -1 : CHECKS.findIndex(({ details }) => detail !== null && details.includes(detail));
  const verdict = (index: number) => (ok || index < failed ? 'passed' : index === failed ? 'failed' : 'not reached');
  return {
    line,
    token,
    ok,
    decides: ok && jti !== null && jti === record.jti,
    code,
    message,
    checks: CHECKS.map(({ name }, index) => ({ name, verdict: verdict(index) })),
    claims: decodeToken(token).ok ? describeToken(token, ok).map(printable) : [],
  };
}

function verifyView(record: TurnRecord): VerifyView | null {
  const scene = sceneOf(record);
  if (scene === null) return null;
  const { nonce, clock } = record.inputs;
  const { keys, clockSkew, fresh } = scene.judged;
  return { nonce, keys, now: clock.at(-1) ?? record.startedAt, clockSkew, fresh: fresh.slice(0, MOST) };
}
