import type { Command } from 'commander';
import { type Clock, fixedClock, type Ids, randomIds, seededIds, systemClock } from '../../loop/index.ts';
import { addModels } from './models.ts';
import { wholeNumber } from './options.ts';
import { RECORD_HELP } from './record.ts';
import { addSetup } from './setup.ts';

/** The flags that make sessions repeatable. */
export interface RepeatFlags {
  readonly sid?: string;
  readonly now?: number;
  readonly ids?: string;
}

/** The flags of commands that drive a session. */
export const LOG = ['--log <FILE>', 'append one JSON line per decision to this file, each chained to the one before'] as const;
export const STREAM = ['--stream', "print the agent's replies on standard error while it writes them"] as const;

/** Adds the flags that all commands with sessions share; `withSid` adds --sid for commands without an argument SID. */
export function addSession(command: Command, { withSid } = { withSid: true }): void {
  addModels(addSetup(command));
  if (withSid) command.option('--sid <ID>', 'session id (default: a new one)');
  command
    .option('--keys <FILE>', 'key file, see "neuroscript keys" (default: new keys for this session)')
    .option('--record <FILE>', RECORD_HELP)
    .option('--now <UNIX>', 'use this Unix second as the time of tokens', wholeNumber('--now', 0))
    .option('--ids <SEED>', 'derive session id, nonces and token ids from this text, to repeat a session exactly');
}

export function sourcesOf(flags: RepeatFlags): { readonly clock: Clock; readonly ids: Ids } {
  return {
    clock: flags.now === undefined ? systemClock : fixedClock(flags.now),
    ids: flags.ids === undefined ? randomIds : seededIds(flags.ids),
  };
}
