import { Command, type CommanderError } from 'commander';
import { addApprove } from './commands/approve.ts';
import { addBench } from './commands/bench.ts';
import { addCheck } from './commands/check.ts';
import { addConformance } from './commands/conformance.ts';
import { addDoctor } from './commands/doctor.ts';
import { addExecute } from './commands/execute.ts';
import { addExplain } from './commands/explain.ts';
import { addFmt } from './commands/fmt.ts';
import { addGate } from './commands/gate.ts';
import { addInspect } from './commands/inspect.ts';
import { addKeys } from './commands/keys.ts';
import { addLog } from './commands/log.ts';
import { addLoop } from './commands/loop.ts';
import { addMcp } from './commands/mcp.ts';
import { addRepl } from './commands/repl.ts';
import { addReplay } from './commands/replay.ts';
import { addRun } from './commands/run.ts';
import { addSessions } from './commands/sessions.ts';
import { addToken } from './commands/token.ts';
import { addTools } from './commands/tools.ts';
import { addTurn } from './commands/turn.ts';
import { version } from './package.ts';
import type { Execute, Terminal } from './terminal/terminal.ts';
import { printable } from './terminal/text.ts';

const EXAMPLES = `
Examples:
  neuroscript run hello.ns                            run a program
  printf 'command\\n  emit 1 + 2\\nendcommand\\n' | neuroscript run -
  neuroscript run lib.ns --call add --arg 1 --arg 2 --json
  neuroscript run plan.ns --tools mocks.yaml --trace  run against mock tools and show every call
  neuroscript run job.ns --cpu 100ms --memory 32MB    run under tighter limits
  neuroscript check *.ns                              find mistakes without running
  neuroscript fmt *.ns                                give programs their canonical layout
  neuroscript repl                                    type programs and see what they do
  neuroscript loop --agent script:replies.txt --tools mocks.yaml
  neuroscript explain NS14                            what an error code means

Exit codes: 0 fine, 1 program failed, 2 wrong use, 3 syntax error, 4 denied by policy, 5 quota used up,
  10 turn aborted, 11 turn halted, 70 our fault, 124 time used up, 130 cancelled.
`;

/** All commands, ready to parse an argument list. Throws CommanderError instead of ending the process. */
export function createProgram(terminal: Terminal, execute: Execute): Command {
  const program = new Command('neuroscript')
    .description('Runs programs that AI agents write: sandboxed, under limits, with signed control tokens.')
    .version(version(), '--version', 'print the version')
    .helpOption('-h, --help', 'show help')
    .helpCommand('help [command]', 'show help for a command')
    .configureOutput({
      writeOut: (text) => terminal.out.line(text.trimEnd()),
      writeErr: (text) => terminal.err.line(text.trimEnd()),
      // The sentence is written by whoever catches the error, in one form for all of them.
      outputError: () => {},
    })
    .exitOverride()
    .addHelpText('after', EXAMPLES);
  for (const add of [
    addRun,
    addCheck,
    addFmt,
    addRepl,
    addTurn,
    addLoop,
    addSessions,
    addReplay,
    addLog,
    addTools,
    addMcp,
    addKeys,
    addToken,
    addApprove,
    addGate,
    addExecute,
    addConformance,
    addInspect,
    addExplain,
    addDoctor,
    addBench,
  ])
    add(program, execute);
  return program;
}

/** What a wrong command line should have been, in one sentence; null when help was asked for and is already shown. */
export function usageOf(error: CommanderError, argv: readonly string[]): string | null {
  if (error.exitCode === 0 || error.code === 'commander.help') return null;
  const first = argv[0] ?? '';
  if (error.code === 'commander.unknownCommand' && /\.ns(\.txt)?$/.test(first))
    return `'${printable(first)}' is no command; to run the file, write: neuroscript run ${printable(first)}`;
  return error.message
    .replace(/^error: /, '')
    .replace(/\s*\(Did you mean (.*?)\?\)/s, '; did you mean $1?')
    .split('\n')
    .map(printable)
    .join(' ');
}
