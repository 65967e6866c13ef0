import { envelopeOf } from '../aeiou/index.ts';
import type {
  AgentUse,
  AttemptEnd,
  CandidateRecord,
  Decision,
  FailedAttempt,
  LoopResult,
  TurnRecord,
  Waiting,
} from '../loop/index.ts';
import type { ErrorInfo } from '../wire/errors.ts';
import { HALT_REASONS } from '../wire/haltreasons.ts';
import { elapsedMs, type JournalEntry } from '../wire/journal.ts';
import { type CarriedLabel, sourcesText } from '../wire/labels.ts';
import { usdText } from '../wire/money.ts';
import type { Usage } from '../wire/protocol.ts';
import { grouped } from '../wire/text/grouped.ts';
import { type Palette, plainPalette } from '../wire/text/palette.ts';
import { printable, wrap } from '../wire/text/printable.ts';
import { counted, duration } from '../wire/text/units.ts';
import { timeText } from '../wire/time.ts';
import { explainCall } from './calls.ts';
import { explainGrant } from './grant.ts';
import { capLines, field, flow, LABEL, row, rule, section, streamLines, textLines, valueText } from './layout.ts';
import { CHECKS, describeToken } from './tokens.ts';

/**
 * A turn for a reader at a terminal, as lines: the attempts that did not decide it, what went in, what the program called and said, every token
 * with the checks it passed or failed, the decision and why, remarks, and what it cost. Whatever a program, a tool or an
 * agent wrote is made printable: no control character of theirs reaches the terminal. SCRATCHPAD is private: `all` shows it to
 * the operator.
 */
export function explainTurn(record: TurnRecord, palette: Palette, all = false): string[] {
  const title = `Turn ${record.turn} of session ${printable(record.sid)}`;
  return [
    palette.bold(title),
    ...explainAttempts(record, palette),
    ...explainInput(record.inputs.envelope, palette, all),
    ...explainPlans(record, palette),
    ...explainCalls(record, palette),
    ...section('out', palette),
    ...field('OUTPUT', streamLines(record.output), palette),
    ...carried(record.labels?.output, palette),
    ...(all ? field('SCRATCHPAD', streamLines(record.scratchpad), palette) : []),
    ...(all ? carried(record.labels?.scratchpad, palette) : []),
    ...(record.outputComplete ? [] : field('', ['(the worker was killed: the last lines may be missing)'], palette)),
    ...explainTokens(record, palette),
    ...explainDecision(record, palette),
  ];
}

/** The labels that OUTPUT or SCRATCHPAD carries into the next envelope, under rules about origin. */
function carried(labels: readonly CarriedLabel[] | undefined, palette: Palette): string[] {
  return labels === undefined || labels.length === 0 ? [] : field('  carries', [printable(sourcesText(labels))], palette);
}

/** What stands right of the labels. */
const beside = (palette: Palette): Palette => ({ ...plainPalette, columns: palette.columns - LABEL - 2 });

/** The signed answers to the plans of a turn. */
function explainPlans({ plans = [] }: TurnRecord, palette: Palette): string[] {
  const lines = plans.flatMap(({ grant, kid }) => [
    ...(grant === null
      ? field('refused', ['the plan'], palette)
      : row('approved', explainGrant(grant, beside(palette)), palette)),
    ...field('signed with', [printable(kid)], palette),
  ]);
  return lines.length === 0 ? [] : [...section('plan', palette), ...lines];
}

/** How a session ended, as lines: the decision, why, and what its last turn said to the user. */
export function explainEnd(
  result: Omit<LoopResult, 'turns' | 'error'> & { readonly turns: readonly unknown[]; readonly error: ErrorInfo | null },
  palette: Palette,
): string[] {
  const { decision, reason, error, turns, waiting } = result;
  const style = styleOf(decision, palette);
  const sentence = reason === null ? [] : [`${reason}: ${HALT_REASONS[reason]}`];
  const said = result.output === null ? [] : textLines(result.output);
  return [
    rule(palette),
    `Session ${printable(result.sid)}: ${style(palette.bold(decision))} after ${counted(turns.length, 'turn')}`,
    ...(reason === null ? [] : field('reason', sentence, palette)),
    ...(error === null ? [] : field('error', explainError(error), palette)),
    ...(waiting === undefined
      ? []
      : [waiting, ...(waiting.also ?? [])].flatMap((call) => field('waits for', explainWaiting(call), palette))),
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

function explainInput(text: string, palette: Palette, all: boolean): string[] {
  const envelope = envelopeOf(text);
  if (envelope === null) return [...section('in', palette), ...field('envelope', textLines(text), palette, palette.red)];
  return [
    ...section('in', palette),
    ...field('USERDATA', textLines(envelope.userdata), palette),
    ...(all ? field('SCRATCHPAD', envelope.scratchpad === null ? [] : textLines(envelope.scratchpad), palette) : []),
    ...field('OUTPUT', envelope.output === null ? [] : textLines(envelope.output), palette),
    ...explainActions(envelope.actions, palette),
  ];
}

/** The program of a turn, as {@link explainTurn} shows it. */
export function explainActions(code: string, palette: Palette): string[] {
  return row('ACTIONS', codeLines(code, palette), palette);
}

/** A program with line numbers; the rest of a long line is indented further. */
function codeLines(code: string, palette: Palette): string[] {
  const lines = capLines(code.split('\n').map((line) => printable(line.replaceAll('\t', '  '))));
  const gutter = String(lines.length).length;
  return lines.flatMap((line, index) => {
    const indent = Math.min(line.length - line.trimStart().length, 20);
    const pieces = wrap(line.slice(indent), palette.columns - LABEL - 2 - gutter - 2 - indent - 4);
    return pieces.map((piece, at) => {
      const number = palette.dim(at === 0 ? String(index + 1).padStart(gutter) : ' '.repeat(gutter));
      return `${number}  ${' '.repeat(at === 0 ? indent : indent + 4)}${piece}`.trimEnd();
    });
  });
}

/** The line below a call that an earlier attempt at its turn may have made too. */
const REPEATED = 'may have had its effect twice: the turn was interrupted and ran again';

function explainCalls({ journal, repeats = [] }: TurnRecord, palette: Palette): string[] {
  if (journal.length === 0) return [];
  const lines = (entry: JournalEntry): string[] => [
    ...explainCall(entry, palette),
    ...(repeats.includes(entry.seq) ? field('', [REPEATED], palette, palette.yellow) : []),
  ];
  return [...section('calls', palette), ...journal.flatMap(lines)];
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
    ...field(`line ${candidate.line}`, [verdict], palette, style),
    ...field('', describeToken(token, candidate.ok).map(printable), palette),
    ...row('', flow(checks, palette), palette),
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
        palette,
      ),
      palette,
    ),
    ...row('time', flow(timeParts(record), palette), palette),
    ...row('used', flow([...usageParts(record.usage, record.inputs.limits), ...agentParts(record.agent)], palette), palette),
  ];
}

function explainWaiting({ call, tool, args, reason, expiresAt, completed, plan }: Waiting): string[] {
  const until = completed ? 'completed: resume the session' : `until ${timeText(expiresAt)}`;
  if (plan !== undefined) return [...explainGrant(plan, plainPalette), printable(`call ${call}, at ${tool}: ${reason}`), until];
  return [`call ${call}: ${printable(tool)}(${args.map(valueText).join(', ')})`, printable(reason), until];
}

/** Where the time of a turn went. */
function timeParts({ phases, latencyMs, journal }: TurnRecord): string[] {
  const calls = elapsedMs(journal);
  const words = phases.map(
    ({ name, ms }) => `${name} ${duration(ms)}${name === 'run' && calls > 0 ? ` (calls ${duration(calls)})` : ''}`,
  );
  return [duration(latencyMs), ...words];
}

/** What a turn used, in a few words for each measure. */
function usageParts({ fuel, cost, ...usage }: Omit<Usage, 'queueMs'>, limits: { readonly fuel?: number } = {}): string[] {
  const of = limits.fuel === undefined ? '' : ` of ${grouped(limits.fuel)}`;
  return [
    `fuel ${grouped(fuel)}${of}`,
    `CPU ${duration(usage.cpuMs)}`,
    `${grouped(usage.peakMemoryBytes)} bytes of values`,
    counted(usage.toolCalls, 'tool call'),
    `${grouped(usage.outputBytes)} bytes of output`,
    ...(cost === undefined ? [] : [usdText(cost)]),
  ];
}

/** The cost of the agent, without usual values. */
function agentParts(agent: AgentUse | null): string[] {
  if (agent === null) return [];
  return [
    ...(agent.asks === 1 ? [] : [`${agent.asks} replies`]),
    ...(agent.tokens === 0 ? [] : [`${grouped(agent.tokens)} model tokens`]),
    ...(agent.cost === undefined ? [] : [`${usdText(agent.cost)} for them`]),
  ];
}

const ENDS: Readonly<Record<AttemptEnd, string>> = {
  rejected: 'rejected before it ran',
  failed: 'failed while it ran',
  interrupted: 'interrupted: its worker process ended',
  rehearsed: 'failed in its rehearsal, against mocks',
};

/** The attempts at a turn that did not decide it, as lines, and the effects of theirs that the turn left over; none without an attempt. */
function explainAttempts({ attempts = [], leftOver = [] }: TurnRecord, palette: Palette): string[] {
  if (attempts.length === 0) return [];
  return [
    ...section('earlier attempts', palette),
    ...attempts.flatMap((attempt, index) => explainAttempt(attempt, index + 1, palette)),
    ...field('left over', leftOverLines(leftOver), palette, leftOver.length === 0 ? palette.dim : palette.yellow),
  ];
}

function explainAttempt(attempt: FailedAttempt, number: number, palette: Palette): string[] {
  const { end, error, journal } = attempt;
  const taken = journal.filter(({ from }) => from !== undefined).length;
  const calls = `${counted(journal.length, 'call')}${taken === 0 ? '' : `, ${taken} answered by an earlier attempt`}`;
  const asked = end === 'interrupted' ? 'nothing: the same program ran again' : 'for another program';
  return [
    ...field(`${number}`, [ENDS[end]], palette, palette.red),
    ...field('error', explainError(error), palette),
    ...otherProblems(attempt, palette),
    ...(end === 'rejected' ? [] : field('calls', [calls], palette)),
    ...field('asked', [asked], palette),
  ];
}

/** The problems of a rejected program after the first, which is its error. */
function otherProblems({ problems }: FailedAttempt, palette: Palette): string[] {
  const lines = problems.slice(1).map(({ code, line, column, message }) => `${line}:${column}: ${printable(message)} (${code})`);
  return lines.length === 0 ? [] : field('also', lines, palette);
}

function leftOverLines(leftOver: NonNullable<TurnRecord['leftOver']>): string[] {
  return leftOver.map(
    ({ attempt, seq, tool }) => `call ${seq} of attempt ${attempt}: ${printable(tool)} took effect, and the turn did not take it`,
  );
}

/** An error with its place and its hint, as lines. */
function explainError(error: ErrorInfo): string[] {
  const place = error.line === null ? '' : `${printable(error.source ?? '')}:${error.line}:${error.column ?? 1}: `;
  return [
    `${place}${printable(error.message)} (${error.code})`,
    ...(error.hint === undefined ? [] : [`hint: ${printable(error.hint)}`]),
  ];
}
