import type { Command } from 'commander';
import { randomIds, systemClock } from '../../loop/index.ts';
import { plainPalette } from '../../report/index.ts';
import { createRuntime, type Runtime } from '../../runtime/index.ts';
import { VERSION } from '../../runtime/version.ts';
import { addModels, type ModelFlags, readModels } from '../flags/models.ts';
import { addLimits, limitsOf, parsePair, repeatable } from '../flags/options.ts';
import { addSetup, readSetup, type SetupFlags } from '../flags/setup.ts';
import { commandList, loadFile } from '../repl/commands.ts';
import { Conversation } from '../repl/conversation.ts';
import { complete, KeyboardLines, type Lines, PipedLines, Questions } from '../repl/lines.ts';
import { Session } from '../repl/session.ts';
import { EXIT, type ExitCode } from '../terminal/exit.ts';
import type { Execute, Terminal } from '../terminal/terminal.ts';
import { readKeyring } from './keys.ts';

interface ReplFlags extends SetupFlags, ModelFlags {
  readonly global?: readonly ReturnType<typeof parsePair>[];
  readonly trace?: true;
}

const HELP = `
An input runs as soon as it is complete: statements, as in one command block;
procedures and event handlers; whole command blocks. An expression alone prints
its value. Every input is a run of its own, in a fresh isolate with all limits
and the policy. Variables and definitions stay for the next input; an input
that fails, or that Ctrl-C stops, changes none of them. An empty line discards
an unfinished input.

Commands:
${commandList(plainPalette).join('\n')}

:load and :save read and write your files: let only people use them who may do
so. For models, use 'run --jsonl' or 'tools mcp'.

Without a terminal (input from a pipe or a file), standard output has only the
emits, empty lines discard nothing, the next input runs after a failed one, and
the exit code is that of the first failure. At a terminal the exit code is 0.

Examples:
  neuroscript repl lib.ns --tools mocks.yaml --trace
  printf 'set x = 6\\nx * 7\\n' | neuroscript repl
`;

/** `repl [FILE…]`: reads inputs and runs each. */
export function addRepl(program: Command, execute: Execute): void {
  const command = program
    .command('repl')
    .summary('run programs line by line')
    .description('Runs NeuroScript line by line in a sandbox; variables and definitions stay from one input to the next.')
    .argument('[FILE...]', 'files to :load first; a failure ends the command')
    .option(
      '--global <NAME=JSON>',
      'set a variable at the start (repeatable)',
      repeatable((text) => parsePair('--global', text)),
    )
    .option('--trace', 'show every tool call with arguments, result, time and fork');
  addModels(addSetup(command));
  addLimits(command, 'run').addHelpText('after', HELP).action(execute(repl));
}

async function repl(files: readonly string[], flags: ReplFlags, terminal: Terminal): Promise<ExitCode> {
  const limits = limitsOf(flags);
  await using resources = new AsyncDisposableStack();
  const setup = await readSetup(flags, resources, terminal);
  const [clock, ids] = [systemClock, randomIds];
  const { ask, stores } = await readModels(flags, () => ({ keyring: readKeyring(undefined, clock), clock, ids }));
  await using runtime = await createRuntime({ ...setup, limits, concurrency: 1, ask });
  const questions = new Questions(terminal);
  const session = new Session({
    runtime,
    terminal,
    clock,
    ids,
    globals: Object.fromEntries((flags.global ?? []).map(({ name, value }) => [name, value])),
    trace: flags.trace === true,
    stdin: questions,
    ask: (text) => questions.ask(text),
    stores,
  });
  const tools = setup.tools.map(({ canonicalName }) => canonicalName);
  using lines = openLines(terminal, session, tools, runtime);
  questions.answerWith(lines, () => session.cancel());
  for (const file of files) {
    const code = await loadFile(file, session, runtime.limits.sourceBytes);
    if (code !== EXIT.ok) return code;
  }
  if (lines.interactive)
    terminal.err.prose(terminal.paintErr.dim(`NeuroScript ${VERSION}; :help lists the commands, Ctrl-D ends the session`));
  return await new Conversation(lines, session, runtime, terminal).run();
}

function openLines(terminal: Terminal, session: Session, tools: readonly string[], { limits }: Runtime): Lines {
  const { stdin, screen, interrupt } = terminal;
  if (screen === null) return new PipedLines(stdin, limits.sourceBytes, interrupt);
  return new KeyboardLines({
    ...{ stdin, screen, interrupt, maxBytes: limits.sourceBytes },
    complete: (line) => complete(line, session, tools),
    onInterrupt: () => session.cancel(),
  });
}
