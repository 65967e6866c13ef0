import { Command, CommanderError } from 'commander';
import { printable } from '../report/index.ts';
import { VERSION } from '../runtime/version.ts';
import { EXIT, type ExitCode } from './terminal/exit.ts';
import { exitOfThrown, failureLine, sentence } from './terminal/failure.ts';
import type { Execute, Terminal } from './terminal/terminal.ts';

const EXAMPLES = `
Examples:
  neuroscript run hello.ns                            run a program
  printf 'command\\n  emit 1 + 2\\nendcommand\\n' | neuroscript run -
  neuroscript run lib.ns --call add --arg 1 --arg 2 --json
  neuroscript run plan.ns --tools mocks.yaml --trace  use mock tools, show calls
  neuroscript run job.ns --cpu 100ms --memory 32MB    tighten limits
  neuroscript check *.ns                              find mistakes
  neuroscript fmt *.ns                                format programs
  neuroscript repl                                    try programs line by line
  neuroscript loop --agent script:replies.txt --tools mocks.yaml
  neuroscript explain NS14                            what an error code means

Other programs start 'host' (JSON-RPC for other languages) and 'lsp' (editors).

Exit codes: 0 success, 1 program failed, 2 wrong use, 3 syntax error,
  4 denied by policy, 5 quota used up, 10 turn aborted, 11 turn halted,
  70 internal failure, 124 time used up, 130 cancelled.
`;

/** Adds a command, or a few that belong together, to the program. */
type AddCommand = (program: Command, execute: Execute) => void;

/**
 * Loads the file that declares a command, by the command's name, in the order of the help. A process loads the one command
 * that it runs: loading all of them takes several times as long.
 */
const COMMANDS: ReadonlyMap<string, () => Promise<AddCommand>> = new Map([
  ['init', async () => (await import('./commands/init.ts')).addInit],
  ['run', async () => (await import('./commands/run.ts')).addRun],
  ['test', async () => (await import('./commands/test.ts')).addTest],
  ['check', async () => (await import('./commands/check.ts')).addCheck],
  ['foresee', async () => (await import('./commands/foresee.ts')).addForesee],
  ['fmt', async () => (await import('./commands/fmt.ts')).addFmt],
  ['repl', async () => (await import('./commands/repl.ts')).addRepl],
  ['turn', async () => (await import('./commands/turn.ts')).addTurn],
  ['loop', async () => (await import('./commands/loop.ts')).addLoop],
  ['serve', async () => (await import('./commands/serve.ts')).addServe],
  ['sessions', async () => (await import('./commands/sessions.ts')).addSessions],
  ['ui', async () => (await import('./commands/ui.ts')).addUi],
  ['replay', async () => (await import('./commands/replay.ts')).addReplay],
  ['receipt', async () => (await import('./commands/receipt.ts')).addReceipt],
  ['policy', async () => (await import('./commands/policy.ts')).addPolicy],
  ['store', async () => (await import('./commands/store.ts')).addStoreCommands],
  ['log', async () => (await import('./commands/log.ts')).addLog],
  ['tools', async () => (await import('./commands/tools.ts')).addTools],
  ['grammar', async () => (await import('./commands/grammar.ts')).addGrammar],
  ['host', async () => (await import('./commands/host.ts')).addHost],
  ['lsp', async () => (await import('./commands/lsp.ts')).addLsp],
  ['keys', async () => (await import('./commands/keys.ts')).addKeys],
  ['token', async () => (await import('./commands/token.ts')).addToken],
  ['gate', async () => (await import('./commands/gate.ts')).addGate],
  ['inspect', async () => (await import('./commands/inspect.ts')).addInspect],
  ['explain', async () => (await import('./commands/explain.ts')).addExplain],
  ['completion', async () => (await import('./commands/completion.ts')).addCompletion],
  ['doctor', async () => (await import('./commands/doctor.ts')).addDoctor],
  ['bench', async () => (await import('./commands/bench.ts')).addBench],
]);

/** Runs the command that an argument list names and resolves with its exit code. Never rejects: a failure is one printed line. */
export async function runProgram(words: readonly string[], terminal: Terminal): Promise<ExitCode> {
  const argv = meant(words);
  let code: ExitCode = EXIT.ok;
  let program: Command | null = null;
  try {
    program = await createProgram(argv, terminal, (command) => async (...given) => {
      // Commander gives its own object behind the arguments and flags.
      code = await command(...(given.slice(0, -1) as unknown as typeof given), terminal);
    });
    await program.parseAsync(argv, { from: 'user' });
    return code;
  } catch (error) {
    // An interrupt ends reads and waits with errors of their own.
    if (terminal.interrupt.aborted) return EXIT.cancelled;
    if (error instanceof CommanderError) {
      const message = usageOf(error, argv, program);
      if (message !== null) terminal.err.prose(`neuroscript: ${sentence(message)}`);
      return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    }
    terminal.err.prose(failureLine(error));
    return exitOfThrown(error);
  }
}

/** `version` is a flag. `help X` of an unknown command is the unknown command, with its suggestion. */
function meant(argv: readonly string[]): readonly string[] {
  const [first, second] = argv;
  if (first === 'version') return ['--version', ...argv.slice(1)];
  return first === 'help' && second !== undefined && !COMMANDS.has(second) ? [second] : argv;
}

/**
 * The program with the command that `argv` names, or with all of them: help, mistyped names and the reference of the commands
 * need the whole list.
 */
export async function createProgram(
  argv: readonly string[],
  { out, err, paintOut, paintErr }: Pick<Terminal, 'out' | 'err' | 'paintOut' | 'paintErr'>,
  execute: Execute,
): Promise<Command> {
  const program = new Command('neuroscript')
    .description('Runs programs that AI agents write: sandboxed, under limits, with signed control tokens.')
    .version(VERSION, '-v, --version', 'print the version')
    .helpOption('-h, --help', 'show help')
    .helpCommand('help [command]', 'show help for a command')
    // A flag belongs to the last command before it, because commands and their subcommands share names of flags.
    .enablePositionalOptions()
    // The usage lines of the commands have their arguments; the list stays narrow without them.
    .configureHelp({ subcommandTerm: (command) => command.name() })
    .configureOutput({
      writeOut: (text) => out.prose(text.trimEnd()),
      getOutHelpWidth: () => paintOut.columns,
      getErrHelpWidth: () => paintErr.columns,
      writeErr: (text) => err.prose(text.trimEnd()),
      // `runProgram` prints every failure, all in one form.
      outputError: () => {},
    })
    // Commander throws a CommanderError in place of ending the process.
    .exitOverride()
    .addHelpText('after', EXAMPLES);
  const named = COMMANDS.get(argv[0] ?? '');
  const loaders = named === undefined ? [...COMMANDS.values()] : [named];
  for (const add of await Promise.all(loaders.map((load) => load()))) add(program, execute);
  return program;
}

/** The error of a wrong command line in one sentence; null when Commander has printed help. */
function usageOf(error: CommanderError, argv: readonly string[], program: Command | null): string | null {
  if (error.exitCode === 0 || error.code === 'commander.help') return null;
  const first = argv[0] ?? '';
  if (error.code === 'commander.unknownCommand' && /\.ns(\.txt)?$/.test(first))
    return `'${printable(first)}' is not a command; to run the file, write: neuroscript run ${printable(first)}`;
  const [said = '', advice] = error.message.replace(/^error: /, '').split('\n(Did you mean ');
  const text = advice === undefined ? plainly(said, helpOf(program, argv)) : `${said}; did you mean ${advice.replace(/\)$/, '')}`;
  return text.split('\n').map(printable).join(' ');
}

/** What shows the help of the command that was meant. */
function helpOf(program: Command | null, argv: readonly string[]): string {
  const words = ['neuroscript'];
  let at: { readonly commands: readonly Command[] } | null = program;
  for (const word of argv) {
    const next: Command | null = at?.commands.find((command) => command.name() === word) ?? null;
    if (next === null) break;
    words.push(word);
    at = next;
  }
  return `"${words.join(' ')} --help"`;
}

/** What Commander says of a command line, in the words of this program. */
function plainly(said: string, help: string): string {
  const [begin = '', first = '', , second = ''] = said.split("'");
  if (begin === 'missing required argument ' || begin === 'required option ')
    return `${first} is missing; ${help} says what it is`;
  const [, choices] = said.split('. Allowed choices are ');
  const [place, given] = begin === 'option ' ? [first, second] : [second, first];
  if (choices !== undefined) return `${place} must be one of ${choices.replace('.', '')}, not '${given}'`;
  return said.startsWith('unknown command') ? `${said}; ${help} lists the commands` : said;
}
