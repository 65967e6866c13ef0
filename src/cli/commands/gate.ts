import type { Command } from 'commander';
import { GATE_USAGE, main as gate } from '../../gate/main.ts';
import type { Execute } from '../terminal/terminal.ts';

/** `gate`: as a process of its own it runs without the rest of the command line (`bin/neuroscript.js`). */
export function addGate(program: Command, execute: Execute): void {
  add(program, 'gate', 'decide whether an approved intent may run now', execute);
}

/** `gate-verify`: started as {@link addGate}. */
export function addGateVerify(program: Command, execute: Execute): void {
  add(program, 'gate-verify', 'verify for the gate that an intent is approved', execute);
}

/** The gate parses its arguments itself: a mistake in them must exit with 1 and with no other code. */
function add(program: Command, name: keyof typeof GATE_USAGE, summary: string, execute: Execute): void {
  program
    .command(name)
    .summary(summary)
    .description(`Usage: ${GATE_USAGE[name]}\n\nExits with 0 for yes and with 1 for everything else. See docs/gate.md.`)
    .usage('UUID HASH …')
    .helpOption(false)
    .argument('[WORDS...]')
    .allowUnknownOption()
    .allowExcessArguments()
    .action((words: readonly string[]) => execute(async () => gate([name, ...words])));
}
