import {
  measureTurn,
  parsePlace,
  type RecordedSession,
  type ReplayOptions,
  redactedParts,
  stepIn,
  type TurnReplay,
} from '../../loop/index.ts';
import { counted, excerpt, grouped, type Palette, printable } from '../../report/index.ts';
import type { Runtime } from '../../runtime/index.ts';
import type { Heat, Probe, ShownVariable, Step, StepFork, StepPlace, TurnStep } from '../../wire/heat.ts';
import type { Source } from '../../wire/protocol.ts';
import { EXIT, type ExitCode } from '../terminal/exit.ts';
import { UsageError } from '../terminal/failure.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { type HeatFlags, probeOf, writeHeat } from './output.ts';

export interface StepFlags {
  readonly at?: string;
  readonly step?: number;
  readonly json?: true;
  readonly fromTurn?: number;
}

/** What the flags ask of a recorded turn; null for a plain replay. Throws {@link UsageError}. */
export function measuredOf(flags: HeatFlags & StepFlags): Probe | null {
  const probe = probeOf(flags);
  const { at, step, fromTurn } = flags;
  if (at !== undefined && step !== undefined) throw new UsageError('--at and --step cannot be combined: both name a statement');
  const place: StepPlace | null = at !== undefined ? parsePlace(at) : step !== undefined ? { step } : null;
  if (probe === null && place === null) return null;
  if (fromTurn !== undefined) throw new UsageError('--from-turn cannot be combined with --at, --step, --heat and --trace-out');
  return { ...probe, ...(place === null ? {} : { at: place }) };
}

/** Measures one turn of a session: writes its files, prints its step. */
export async function measureRecorded(
  runtime: Runtime,
  session: RecordedSession,
  turn: number,
  flags: HeatFlags & StepFlags,
  probe: Probe,
  options: ReplayOptions,
  terminal: Terminal,
): Promise<ExitCode> {
  const record = session.turns.find((each) => each.turn === turn);
  if (record === undefined) throw new UsageError(`session ${printable(session.sid)} has no turn ${turn}`);
  const redacted = redactedParts(session, turn);
  const measured = await measureTurn(runtime, record, probe, { ...options, redacted });
  const { replay, profile, sources } = measured;
  const problem = problemOf(replay);
  const isExact = replay.verdict === 'same' || replay.verdict === 'prefix';
  if (profile === null)
    throw new UsageError(`turn ${turn} of ${printable(session.sid)} was not executed again: ${problem ?? 'it ran no program'}`);
  await writeHeat(flags, { profile, journal: record.journal, sources, title: `${session.sid} turn ${turn}` }, terminal);
  if (problem !== null) terminal.err.prose(`neuroscript: ${problem}`);
  if (probe.at !== undefined) {
    const step = stepIn(measured, probe.at);
    if (step.step === null) throw new UsageError(absent(profile.heat, step.visits, probe.at));
    if (flags.json) terminal.out.json(step);
    else for (const line of stepLines(step, step.step, sources, terminal.paintOut)) terminal.out.line(line);
  }
  return isExact ? EXIT.ok : EXIT.runtime;
}

/** Why what is shown may not be what was; null when it is. */
function problemOf({ verdict, why, divergence, faults }: TurnReplay): string | null {
  const [fault] = faults;
  if (fault !== undefined) return `the record was changed: ${printable(fault.part)} was ${printable(fault.problem)}`;
  if (divergence !== null) return `the turn differs from its record in ${printable(divergence.where)}`;
  if (verdict === 'prefix') return 'the worker of the turn was killed; the record ends earlier than this execution';
  return why === null ? null : printable(why);
}

function absent(heat: Heat, visits: number, at: StepPlace): string {
  if ('step' in at) return `the turn executed ${counted(heat.steps, 'statement')}, so it has no step ${at.step}`;
  const { source, line } = at;
  if (visits > 0)
    return `line ${line} of ${printable(source)} was executed ${counted(visits, 'time')}, so it has no visit ${at.visit}`;
  const statements = heat.flame.frames.filter((frame) => frame.kind === 'statement' && frame.source === source);
  const lines = [...new Set(statements.map((frame) => frame.line ?? 0))];
  const nearest = lines.toSorted((a, b) => Math.abs(a - line) - Math.abs(b - line)).slice(0, 3);
  const advice =
    nearest.length === 0
      ? 'nothing of that source was executed'
      : `executed lines near it are ${nearest.toSorted((a, b) => a - b).join(', ')}`;
  return `no statement of line ${line} of ${printable(source)} was executed; ${advice}`;
}

/** A moment of a turn as lines for a terminal: the statement about to be executed, and each fork with its variables. */
function stepLines({ steps, visits }: TurnStep, step: Step, sources: readonly Source[], palette: Palette): string[] {
  const { source, line, column, visit, fuel, stack, more } = step;
  const place = palette.bold(`${printable(source)}:${line}:${column}`);
  const text = sources.find(({ name }) => name === source)?.text;
  return [
    `${place}  before step ${grouped(step.step)} of ${grouped(steps)}, visit ${grouped(visit)} of ${grouped(visits)}, ${grouped(fuel)} fuel spent`,
    ...excerpt(text, line, column, column, palette),
    ...stack.flatMap((fork) => forkLines(fork, palette)),
    ...(more === 0 ? [] : [palette.dim(`… ${counted(more, 'outer fork')} more`)]),
  ];
}

function forkLines({ name, source, line, variables, more }: StepFork, palette: Palette): string[] {
  return [
    `in ${printable(name)} ${palette.dim(`(${printable(source)}:${line})`)}`,
    ...(variables.length === 0 && more === 0 ? [palette.dim('  no variables')] : []),
    ...variables.map((variable) => `  ${printable(variable.name)} = ${valueText(variable)}`),
    ...(more === 0 ? [] : [palette.dim(`  … ${counted(more, 'variable')} more`)]),
  ];
}

const PARTS: ReadonlyMap<string, string> = new Map([
  ['string', 'character'],
  ['list', 'item'],
  ['map', 'key'],
]);

/** Texts are in quotes, so that `"1"` and `1` differ. */
function valueText({ type, text, cut, size }: ShownVariable): string {
  const shown = type === 'string' ? JSON.stringify(text) : text;
  if (!cut) return printable(shown);
  const whole = size === null ? '' : `: ${counted(size, PARTS.get(type) ?? 'part')} in all`;
  return `${printable(type === 'string' ? shown.slice(0, -1) : shown)}… (cut${whole})`;
}
