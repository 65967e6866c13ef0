import type { Command } from 'commander';
import { GATE_USAGE, main as gate } from '../../gate/main.ts';
import { EXIT, type ExitCode } from '../terminal/exit.ts';
import type { Execute } from '../terminal/terminal.ts';

/** Commands whose exit code answers a question, so that it is 0 for yes and 1 for everything else (DESIGN 5). */
const ANSWERS: readonly string[] = ['gate', 'gate-verify', 'approve', 'execute'];

const SUMMARY = {
  gate: 'may this approved intent be executed now?',
  'gate-verify': 'a verifier for the gate: is this intent in approved.jsonl?',
} as const;

/**
 * `gate` and `gate-verify`, for the list of commands: started as a process they run without the rest of the command line
 * (`bin/neuroscript.js`), and they read their words themselves, because no other exit code may slip in.
 */
export function addGate(program: Command, execute: Execute): void {
  for (const name of ['gate', 'gate-verify'] as const)
    program
      .command(name)
      .summary(SUMMARY[name])
      .description(`Usage: ${GATE_USAGE[name]}\n\nExits 0 for yes and 1 for everything else. docs/gate.md has the whole story.`)
      .usage('UUID HASH …')
      .helpOption(false)
      .argument('[WORDS...]')
      .allowUnknownOption()
      .allowExcessArguments()
      .action((words: readonly string[]) => execute(async () => gate([name, ...words])));
}

/** The exit code, for a command that answers a question its yes or no. */
export function answerOf(argv: readonly string[], code: ExitCode): ExitCode {
  return code !== EXIT.ok && ANSWERS.includes(argv[0] ?? '') ? EXIT.runtime : code;
}
