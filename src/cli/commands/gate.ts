import type { Command } from 'commander';
import { main as gate } from '../../gate/main.ts';
import type { Execute, Terminal } from '../terminal/terminal.ts';
import { addApprove, addPropose } from './approve.ts';
import { addExecute } from './execute.ts';

/**
 * `gate`: proposes, approves, decides and executes. `gate UUID HASH` and `gate verify` run as processes of their own, without the rest
 * of the command line (`bin/neuroscript.js`).
 */
export function addGate(program: Command, execute: Execute): void {
  const group = program.command('gate').summary('propose, approve, decide and execute plans').enablePositionalOptions();
  addPropose(group, execute);
  addApprove(group, execute);
  const verify = group.command('verify').summary('verify for the gate that an intent is approved');
  addExecute(group, execute);
  for (const [command, usage, ...first] of [
    [group, 'UUID HASH --queue DIR --verifier CMD'],
    [verify, 'UUID HASH --queue DIR', 'verify'],
  ] as const)
    command
      .description('Exits with 0 for yes and with 1 for everything else. See docs/gate.md.')
      .usage(usage)
      .helpOption(false)
      // The gate parses its arguments itself: a mistake in them must exit with 1 and with no other code.
      .argument('[WORDS...]')
      .allowUnknownOption()
      .allowExcessArguments()
      .action(execute(async (words: readonly string[], _flags: object, _terminal: Terminal) => gate([...first, ...words])));
}
