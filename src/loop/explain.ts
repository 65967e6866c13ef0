import { type Envelope, EnvelopeError, parseEnvelope } from '../aeiou/index.ts';
import type { ErrorInfo } from '../wire/errors.ts';
import type { JournalEntry } from '../wire/journal.ts';
import type { LimitValues } from '../wire/limits.ts';
import { mapEntries, plainMaps } from '../wire/maporder.ts';
import type { TaggedJson, Usage } from '../wire/protocol.ts';
import { type Decision, HALT_REASONS } from './record/decision.ts';
import type { AgentUse, CandidateRecord, TurnRecord } from './record/record.ts';
import type { Waiting } from './record/suspension.ts';
import type { LoopResult } from './result.ts';
import { type Palette, printable, WIDTH, wrap } from './text.ts';
import { CHECKS, describeToken, shortenTokens } from './tokens.ts';

/** Columns of the labels on the left. */
const LABEL = 12;
/** Most lines and characters shown of one text; the record has all of it. */
const MAX_LINES = 60;
const MAX_TEXT = 1200;

/**
 * A turn for a reader at a terminal of 80 columns, as lines: what went in, what the program called and said, every token
 * with the checks it passed or failed, the decision and why, remarks, and what it cost. Whatever a program, a tool or an
 * agent wrote is made printable: no control character of theirs reaches the terminal.
 */
export function explainTurn(record: TurnRecord, palette: Palette): string[] {
  const title = `Turn ${record.turn} of session ${printable(record.sid)}`;
  return [
    palette.bold(title),
    ...explainInput(record.inputs.envelope, palette),
    ...explainCalls(record.journal, palette),
    ...section('out', palette),
    ...field('OUTPUT', streamLines(record.output), palette),
    ...field('SCRATCHPAD', streamLines(record.scratchpad), palette),
    ...(record.outputComplete ? [] : field('', ['(the worker was killed: the last lines may be missing)'], palette)),
    ...explainTokens(record, palette),
    ...explainDecision(record, palette),
  ];
}

/** How a session ended, as lines: the decision, why, and what its last turn said to the user. */
export function explainEnd(result: LoopResult, palette: Palette): string[] {
  const { decision, reason, error, turns, waiting } = result;
  const count = turns.length === 1 ? '1 turn' : `${turns.length} turns`;
  const style = styleOf(decision, palette);
  const sentence = reason === null ? [] : [`${reason}: ${HALT_REASONS[reason]}`];
  const said = result.output === null ? [] : textLines(result.output);
  return [
    palette.bold('='.repeat(WIDTH)),
    `Session ${printable(result.sid)}: ${style(palette.bold(decision))} after ${count}`,
    ...(reason === null ? [] : field('reason', sentence, palette)),
    ...(error === null ? [] : field('error', explainError(error), palette)),
    ...(waiting === undefined ? [] : field('waits for', explainWaiting(waiting), palette)),
    ...field('said', said, palette),
  ];
}

/** A whole session, turn by turn, and its end. */
export function explainSession(result: LoopResult, palette: Palette): string[] {
  return [...result.turns.flatMap((record) => [...explainTurn(record, palette), '']), ...explainEnd(result, palette)];
}

function styleOf(decision: LoopResult['decision'] | Decision, palette: Palette): (text: string) => string {
  return decision === 'HALT' ? palette.red : decision === 'ABORT' || decision === 'SUSPENDED' ? palette.yellow : palette.green;
}

function explainInput(text: string, palette: Palette): string[] {
  const envelope = readable(text);
  if (envelope === null)
    return [...section('in', palette), ...field('envelope', textLines(text), palette, { style: palette.red })];
  return [
    ...section('in', palette),
    ...field('USERDATA', textLines(envelope.userdata), palette),
    ...field('SCRATCHPAD', envelope.scratchpad === null ? [] : textLines(envelope.scratchpad), palette),
    ...field('OUTPUT', envelope.output === null ? [] : textLines(envelope.output), palette),
    ...row('ACTIONS', codeLines(envelope.actions, palette), palette),
  ];
}

/** A program with line numbers; a line that is too long goes on further in than it started. */
function codeLines(code: string, palette: Palette): string[] {
  const lines = clipLines(code.split('\n').map((line) => printable(line.replaceAll('\t', '  '))));
  const gutter = String(lines.length).length;
  return lines.flatMap((line, index) => {
    const indent = Math.min(line.length - line.trimStart().length, 20);
    const pieces = wrap(line.slice(indent), WIDTH - LABEL - 2 - gutter - 2 - indent - 4);
    return pieces.map((piece, at) => {
      const number = palette.dim(at === 0 ? String(index + 1).padStart(gutter) : ' '.repeat(gutter));
      return `${number}  ${' '.repeat(at === 0 ? indent : indent + 4)}${piece}`.trimEnd();
    });
  });
}

/** Null for text that is no envelope: then the turn ended before it began, and the reader sees what was received. */
function readable(text: string): Envelope | null {
  try {
    return parseEnvelope(new TextEncoder().encode(text));
  } catch (error) {
    if (error instanceof EnvelopeError) return null;
    throw error;
  }
}

function explainCalls(journal: readonly JournalEntry[], palette: Palette): string[] {
  if (journal.length === 0) return [];
  return [...section('calls', palette), ...journal.flatMap((entry) => explainCall(entry, palette))];
}

function explainCall(entry: JournalEntry, palette: Palette): string[] {
  const { outcome } = entry;
  return [
    ...field(`${entry.seq}`, [callText(entry)], palette),
    ...(outcome.ok
      ? field('', [`= ${show(outcome.value)}`], palette)
      : field('', [failureText(outcome)], palette, { style: palette.red })),
    ...field('', [`at ${printable(entry.at.source)}:${entry.at.line}, ${duration(entry.ms)}`], palette, { style: palette.dim }),
  ];
}

function failureText(outcome: Exclude<JournalEntry['outcome'], { readonly ok: true }>): string {
  return 'halted' in outcome
    ? `stopped: ${printable(outcome.halted.message)} (${outcome.halted.code})`
    : `failed: ${printable(outcome.message)} (NS${outcome.code})`;
}

function callText(entry: JournalEntry): string {
  switch (entry.kind) {
    case 'tool':
      return `${printable(entry.name)}(${entry.args.map(show).join(', ')})`;
    case 'prompt':
      return `promptuser ${show(entry.text)}`;
    case 'ask':
      return `ask ${show(entry.model)}, ${show(entry.prompt)} with ${show(entry.options)}`;
  }
}

function explainTokens(record: TurnRecord, palette: Palette): string[] {
  if (record.candidates.length === 0) return [];
  const lines = record.output.split('\n');
  return [
    ...section('tokens', palette),
    ...record.candidates.flatMap((candidate) => explainToken(candidate, lines[candidate.line - 1] ?? '', record, palette)),
  ];
}

function explainToken(candidate: CandidateRecord, token: string, record: TurnRecord, palette: Palette): string[] {
  const decides = candidate.ok && candidate.jti === record.jti;
  const [verdict, style] = candidate.ok
    ? [decides ? 'verified, and decides' : 'verified', palette.green]
    : [`rejected: ${candidate.code ?? ''}: ${candidate.message ?? ''}`, palette.red];
  const failed = CHECKS.findIndex(({ details }) => candidate.detail !== null && details.includes(candidate.detail));
  const checks = CHECKS.slice(0, failed < 0 ? CHECKS.length : failed + 1).map(({ name }, index) =>
    index === failed ? palette.red(`${name} FAILED`) : `${name} ${palette.green('ok')}`,
  );
  return [
    ...field(`line ${candidate.line}`, [verdict], palette, { style }),
    ...field('', describeToken(token, candidate.ok).map(printable), palette),
    ...row('', flow(checks, ', '), palette),
  ];
}

function explainDecision(record: TurnRecord, palette: Palette): string[] {
  return [
    ...section('decision', palette),
    ...row('decision', [styleOf(record.decision, palette)(palette.bold(record.decision))], palette),
    ...(record.reason === null ? [] : field('reason', [`${record.reason}: ${HALT_REASONS[record.reason]}`], palette)),
    ...(record.overridden === null ? [] : field('instead of', [record.overridden], palette)),
    ...(record.error === null ? [] : field('error', explainError(record.error), palette)),
    ...field(
      'lints',
      flow(
        record.lints.map(({ code, line }) => `${code} (line ${line})`),
        ', ',
      ),
      palette,
    ),
    ...row('used', flow([...usageParts(record.usage, record.inputs.limits), ...agentParts(record.agent)], ', '), palette),
  ];
}

function explainWaiting({ call, tool, args, reason, expiresAt, completed }: Waiting): string[] {
  const until = completed ? 'completed: resume the session' : `until ${new Date(expiresAt).toISOString()}`;
  return [`call ${call}: ${printable(tool)}(${args.map(show).join(', ')})`, printable(reason), until];
}

function explainError(error: ErrorInfo): string[] {
  const place = error.line === null ? '' : `${printable(error.source ?? '')}:${error.line}:${error.column ?? 1}: `;
  return [
    `${place}${printable(error.message)} (${error.code})`,
    ...(error.hint === undefined ? [] : [`hint: ${printable(error.hint)}`]),
  ];
}

function usageParts(usage: Usage, limits: LimitValues): string[] {
  return [
    `fuel ${count(usage.fuel)} of ${count(limits.fuel)}`,
    `CPU ${duration(usage.cpuMs)}`,
    `${duration(usage.wallMs)} in all`,
    `${count(usage.peakMemoryBytes)} bytes of values`,
    `${count(usage.toolCalls)} tool call${usage.toolCalls === 1 ? '' : 's'}`,
    `${count(usage.outputBytes)} bytes of output`,
  ];
}

/** What an agent took, when there is something to tell. */
function agentParts(agent: AgentUse | null): string[] {
  if (agent === null) return [];
  return [
    ...(agent.asks === 1 ? [] : [`${agent.asks} replies`]),
    ...(agent.tokens === 0 ? [] : [`${count(agent.tokens)} model tokens`]),
  ];
}

function section(name: string, palette: Palette): string[] {
  return ['', palette.dim(`-- ${name} ${'-'.repeat(WIDTH - name.length - 4)}`)];
}

/** A label and, right of it, foreign text wrapped to the width; styled after wrapping, so that no style is cut in two. */
function field(
  label: string,
  lines: readonly string[],
  palette: Palette,
  { style = (text: string): string => text }: { readonly style?: (text: string) => string } = {},
): string[] {
  if (lines.length === 0) return row(label, [palette.dim('none')], palette);
  return row(
    label,
    lines.flatMap((line) => wrap(line, WIDTH - LABEL - 2)).map((line) => (line === '' ? '' : style(line))),
    palette,
  );
}

/** A label and, right of it, lines that fit already. */
function row(label: string, lines: readonly string[], palette: Palette): string[] {
  return lines.map((line, index) => {
    const left = index === 0 && label !== '' ? palette.bold(label.padEnd(LABEL)) : ' '.repeat(LABEL);
    return line === '' ? `  ${left}`.trimEnd() : `  ${left}${line}`;
  });
}

/** Joins short parts into lines that fit right of the labels. */
function flow(parts: readonly string[], separator: string): string[] {
  const lines: string[] = [];
  for (const part of parts) {
    const last = lines.at(-1);
    if (last !== undefined && visible(last) + visible(separator) + visible(part) <= WIDTH - LABEL - 3)
      lines[lines.length - 1] = `${last}${separator}${part}`;
    else {
      if (last !== undefined) lines[lines.length - 1] = `${last}${separator.trimEnd()}`;
      lines.push(part);
    }
  }
  return lines;
}

/** Length without the styles that a palette put in. */
function visible(text: string): number {
  return text.replace(/\u001b\[\d+m/g, '').length;
}

/** A stream of this turn: its final line feed ends the last line and starts none. */
function streamLines(stream: string): string[] {
  return stream === '' ? [] : textLines(stream.endsWith('\n') ? stream.slice(0, -1) : stream);
}

function textLines(text: string): string[] {
  return clipLines(text.split('\n').map((line) => printable(shortenTokens(line))));
}

function clipLines(lines: readonly string[]): string[] {
  const shown = lines.slice(0, MAX_LINES).map((line) => clip(line));
  return lines.length <= MAX_LINES ? shown : [...shown, `... ${count(lines.length - MAX_LINES)} more lines`];
}

function clip(text: string): string {
  return text.length <= MAX_TEXT
    ? text
    : `${text.slice(0, MAX_TEXT).toWellFormed()}... ${count(text.length - MAX_TEXT)} more characters`;
}

/** A value as one line of JSON. */
function show(value: TaggedJson): string {
  return clip(printable(shortenTokens(spaced(plainMaps(value)))));
}

function duration(ms: number): string {
  return ms >= 1000 ? `${(ms / 1000).toFixed(2)} s` : `${ms.toFixed(ms < 10 ? 1 : 0)} ms`;
}

/** Thousands grouped by blanks, the same in every locale. */
function count(value: number): string {
  return String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, ' ');
}

/** JSON with a blank after every comma and colon, so that long values break between their parts. */
function spaced(value: TaggedJson): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (isList(value)) return `[${value.map(spaced).join(', ')}]`;
  return `{${mapEntries(value)
    .map(([key, item]) => `${JSON.stringify(key)}: ${spaced(item)}`)
    .join(', ')}}`;
}

function isList(value: object): value is readonly TaggedJson[] {
  return Array.isArray(value);
}
