import type { Runtime } from '../../runtime/index.ts';
import { ConfigError } from '../../wire/errors.ts';
import type { Probe, RunProfile, StepPlace, TurnHeat, TurnStep } from '../../wire/heat.ts';
import type { Source } from '../../wire/protocol.ts';
import type { TurnRecord } from '../record/record.ts';
import { type ReplayOptions, replayTurn, type TurnReplay } from './turn.ts';

/** The result of a measured execution of a recorded turn. */
export interface MeasuredReplay {
  /** The replay with its verdict. */
  readonly replay: TurnReplay;
  /** Null for a turn that could not be executed, or that ran no program. */
  readonly profile: RunProfile | null;
  /** In the order of the run: libraries, then `ACTIONS`; none without a profile. */
  readonly sources: readonly Source[];
}

/** Executes a recorded turn again, without tools, and measures it. Rejects as {@link replayTurn} does. */
export async function measureTurn(
  runtime: Runtime,
  record: TurnRecord,
  probe: Probe,
  options: ReplayOptions = {},
): Promise<MeasuredReplay> {
  let measured: Omit<MeasuredReplay, 'replay'> = { profile: null, sources: [] };
  const onProfile = (profile: RunProfile, sources: readonly Source[]): void => {
    measured = { profile, sources };
  };
  const replay = await replayTurn(runtime, record, { ...options, probe, onProfile });
  return { replay, ...measured };
}

/** The heat of a recorded turn: it is executed again, without tools. Rejects as {@link replayTurn} does. */
export async function heatOfTurn(runtime: Runtime, record: TurnRecord, options: ReplayOptions = {}): Promise<TurnHeat> {
  const { replay, profile, sources } = await measureTurn(runtime, record, {}, options);
  return { ...facts(replay), sources: sources.map(({ name, text }) => ({ name, text })), heat: profile?.heat ?? null };
}

/**
 * One moment of a recorded turn, with the variables of all forks: the turn is executed again, without tools. Rejects as
 * {@link replayTurn} does.
 */
export async function stepOfTurn(
  runtime: Runtime,
  record: TurnRecord,
  at: StepPlace,
  options: ReplayOptions = {},
): Promise<TurnStep> {
  return stepIn(await measureTurn(runtime, record, { at }, options), at);
}

/** The requested moment of an execution. */
export function stepIn({ replay, profile }: MeasuredReplay, at: StepPlace): TurnStep {
  const step = profile?.step ?? null;
  const line = step ?? ('line' in at ? at : null);
  const visits = profile?.heat.lines.find((each) => each.source === line?.source && each.line === line.line)?.visits ?? 0;
  return { ...facts(replay), steps: profile?.heat.steps ?? 0, visits, step };
}

/** The name of the source of a turn's own program. */
const ACTIONS = 'ACTIONS';

/** Reads `LINE`, `LINE:VISIT`, `SOURCE:LINE` or `SOURCE:LINE:VISIT`. A line alone is one of ACTIONS. Throws {@link ConfigError}. */
export function parsePlace(text: string): StepPlace {
  const parts = text.split(':');
  const isNumber = (part = ''): boolean => Number(part) >= 1 && String(Math.floor(Number(part))) === part;
  const visit = isNumber(parts.at(-2)) && isNumber(parts.at(-1)) ? Number(parts.pop()) : 1;
  const line = parts.pop();
  if (isNumber(line)) return { source: parts.length === 0 ? ACTIONS : parts.join(':'), line: Number(line), visit };
  throw new ConfigError(`'${text}' is not a place: write LINE or LINE:VISIT, both from 1, with SOURCE: before it for a library`);
}

function facts({ sid, turn, verdict, why, divergence }: TurnReplay) {
  return { sid, turn, verdict, why: why ?? (divergence === null ? null : `it differs in ${divergence.where}`) };
}
