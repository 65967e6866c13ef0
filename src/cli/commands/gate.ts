import type { Command } from 'commander';
import { GATE_USAGE, main as gate } from '../../gate/main.ts';
import type { Execute } from '../terminal/terminal.ts';

/** `gate`: as a process of its own it runs without the rest of the command line (`bin/neuroscript.js`). */
export function addGate(program: Command, execute: Execute): void {
  add(program, 'gate', 'may this approved intent be executed now?', execute);
}

/** `gate-verify`: started as {@link addGate}. */
export function addGateVerify(program: Command, execute: Execute): void {
  add(program, 'gate-verify', 'a verifier for the gate: is this intent in approved.jsonl?', execute);
}

/** The gate parses its arguments itself: a mistake in them must exit with 1 and with no other code. */
function add(program: Command, name: keyof typeof GATE_USAGE, summary: string, execute: Execute): void {
  program
    .command(name)
    .summary(summary)
    .description(`Usage: ${GATE_USAGE[name]}\n\nExits 0 for yes and 1 for everything else. docs/gate.md has the whole story.`)
    .usage('UUID HASH …')
    .helpOption(false)
    .argument('[WORDS...]')
    .allowUnknownOption()
    .allowExcessArguments()
    .action((words: readonly string[]) => execute(async () => gate([name, ...words])));
}
