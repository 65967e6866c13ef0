import type { Command } from 'commander';
import type { Approve, Ceilings, RepairOptions } from '../../loop/index.ts';
import { printable } from '../../report/index.ts';
import { limitOf } from '../../wire/limits.ts';
import { UsageError } from '../terminal/failure.ts';
import { timeFlag, wholeNumber } from './options.ts';
import { parseQuantity } from './units.ts';

/** The flags that bound a whole session. */
export interface CeilingFlags {
  readonly maxTurns?: number | undefined;
  readonly maxTime?: number | undefined;
  readonly maxFuel?: number | undefined;
  readonly maxTokens?: number | undefined;
  readonly maxTurnTokens?: number | undefined;
  readonly maxCost?: number | undefined;
  readonly maxReasks?: number | undefined;
}

/** What follows programs that cannot run, or that fail. */
export interface RepairFlags {
  readonly repair?: RepairOptions | undefined;
  readonly approve?: Approve | undefined;
}

const GROUP = 'Ceilings of the whole session:';

/**
 * Adds the flags that bound a whole session, beside the limits of each turn, which have `--max-cost`. How long it is driven is for who drives
 * it to say.
 */
export function addCeilings(command: Command, { drives }: { readonly drives: boolean } = { drives: true }): void {
  const add = (flag: string, help: string, read: (text: string) => number): void => {
    command.addOption(command.createOption(flag, help).argParser(read).helpGroup(GROUP));
  };
  add('--max-turns <N>', 'maximum number of turns (25; v1: 4, at most 25)', wholeNumber('--max-turns', 1));
  if (drives) add('--max-time <TIME>', 'maximum time, agents and tools included (10m; v1: 30s)', timeFlag('max-time'));
  add('--max-fuel <N>', 'maximum fuel of all turns together', wholeNumber('--max-fuel', 1));
  add('--max-tokens <N>', 'maximum model tokens of all replies together', wholeNumber('--max-tokens', 1));
  const cost = { ...limitOf('cost'), min: 1e-9 };
  if (!drives) add('--max-cost <USD>', 'maximum US dollars for calls and tokens together', (text) => parseQuantity(cost, text));
  if (drives) {
    command.addOption(
      command
        .createOption(
          '--repair <MODE>',
          'if a corrected program repeats an effect in another way: ask a person (ask), proceed or halt',
        )
        .choices(CHANGED)
        .argParser(repairOf)
        .helpGroup(GROUP),
    );
    command.addOption(
      command
        .createOption('--approve <WHAT>', "'plan': a turn waits once, before its first effect, until its grant is approved")
        .choices(['plan'])
        .helpGroup(GROUP),
    );
    command.addOption(
      command
        .createOption('--rehearse <MOCKS>', 'run each program first against mocks or a recording, until one comes to its end')
        .helpGroup(GROUP),
    );
  }
  add(
    '--max-reasks <N>',
    'maximum further replies of a turn after programs that cannot run, or that fail (3)',
    wholeNumber('--max-reasks', 0),
  );
}

const CHANGED = ['ask', 'proceed', 'halt'] as const;

function repairOf(text: string): RepairOptions {
  const changed = CHANGED.find((mode) => mode === text);
  if (changed === undefined) throw new UsageError(`--repair must be ask, proceed or halt, not '${printable(text)}'`);
  return { changed };
}

export function ceilingsOf(flags: CeilingFlags): Ceilings {
  const { maxTurns, maxFuel, maxTokens, maxTurnTokens, maxCost, maxReasks } = flags;
  return { maxTurns, maxFuel, maxTokens, maxTurnTokens, maxCost, maxReasks };
}
