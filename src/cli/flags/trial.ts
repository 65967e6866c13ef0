import type { CallAnswer, Changes, TriedSession } from '../../loop/index.ts';
import { printable } from '../../report/index.ts';
import { LIMITS, type LimitKey } from '../../wire/limits.ts';
import { UsageError } from '../terminal/failure.ts';
import { readText } from '../terminal/input.ts';
import { parseValue } from './options.ts';
import { readPolicy } from './setup.ts';
import { parseQuantity } from './units.ts';

const PROGRAM_BYTES = 1024 * 1024;

const HELP = `write program=FILE, policy=FILE, limit.FLAG=VALUE, 2.1=JSON (call 1 of turn 2), tool.group.Name=JSON (all its calls), or
!= and a message in place of =JSON for a call that fails`;

/** The changes of `--set`. Throws {@link UsageError}. */
export async function changesOf(fromTurn: number, settings: readonly string[]): Promise<Changes> {
  let changes: Changes = { fromTurn };
  const limits: Partial<Record<LimitKey, number>> = {};
  const answers = new Map<string, CallAnswer>();
  for (const setting of settings) {
    const [, key, not, value] = /^([^=!]+)(!?)=(.*)$/s.exec(setting) ?? [];
    if (key === undefined || value === undefined) throw unclear(setting);
    if (key === 'program' && not === '') changes = { ...changes, program: await programOf(value) };
    else if (key === 'policy' && not === '') changes = { ...changes, policy: await readPolicy(value) };
    else if (key.startsWith('limit.') && not === '') setLimit(limits, key.slice('limit.'.length), value, setting);
    else if (/^[1-9]\d*\.[1-9]\d*$/.test(key) || key.startsWith('tool.')) answers.set(key, answerOf(not === '!', value, setting));
    else throw unclear(setting);
  }
  return { ...changes, limits, answers };
}

function unclear(setting: string): UsageError {
  return new UsageError(`--set ${printable(setting.slice(0, 100))} is not understood; ${HELP.replaceAll('\n', ' ')}`);
}

function programOf(file: string): Promise<string> {
  return readText(file, PROGRAM_BYTES, 'a program to try out');
}

function setLimit(limits: Partial<Record<LimitKey, number>>, flag: string, value: string, setting: string): void {
  const limit = LIMITS.find((each) => each.flag === flag || each.key === flag);
  if (limit === undefined) throw unclear(setting);
  limits[limit.key] = parseQuantity(limit, value);
}

function answerOf(fails: boolean, text: string, setting: string): CallAnswer {
  if (fails) return { error: { message: text } };
  return { result: parseValue(`--set ${printable(setting.slice(0, 100))}`, text) };
}

export function trialLines({ sid, turns, end }: TriedSession): readonly string[] {
  return [
    ...turns.flatMap(({ turn, recorded, tried, differences, unanswered }) => [
      `${printable(sid)}  turn ${turn}  ${recorded.decision} -> ${tried.decision}${differences.length === 0 ? '  no difference' : ''}`,
      ...differences.map(
        ({ where, recorded: was, replayed: is }) =>
          `  ${printable(where)}: ${printable(was.slice(0, 200))} -> ${printable(is.slice(0, 200))}`,
      ),
      ...unanswered.map((call) => `  not answered: call ${printable(call)}; give --set or --tools`),
    ]),
    `${printable(sid)}  ${end}; nothing was kept`,
  ];
}
