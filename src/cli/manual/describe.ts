import { Readable, Writable } from 'node:stream';
import type { Argument, Command, Option } from 'commander';
import { plainPalette } from '../../report/index.ts';
import { VERSION } from '../../runtime/version.ts';
import { createProgram } from '../program.ts';
import { Output } from '../terminal/output.ts';
import type { Terminal } from '../terminal/terminal.ts';
import type { Flag, Manual, Page, Value } from './manual.ts';

/** Describes the whole command line from the definitions of its commands. */
export async function describe(): Promise<Manual> {
  const printed: string[] = [];
  const take = (text: string): void => {
    printed.push(text);
  };
  const program = await createProgram([], collecting(take), () => async () => {});
  const pageOf = (command: Command, path: readonly string[]): Page => {
    printed.length = 0;
    command.outputHelp();
    return {
      path: path.join(' '),
      summary: command.summary() || command.description(),
      help: printed.join(''),
      flags: command.createHelp().visibleOptions(command).map(flagOf),
      operands: command.registeredArguments.map((argument) => valueNamed(argument.name(), argument)),
    };
  };
  const pages = [pageOf(program, [])];
  for (const command of program.commands) {
    pages.push(pageOf(command, [command.name()]));
    for (const sub of command.commands) pages.push(pageOf(sub, [command.name(), sub.name()]));
  }
  return { version: VERSION, pages };
}

function flagOf(option: Option): Flag {
  const begins = Math.max(option.flags.indexOf('<'), option.flags.indexOf('['));
  // The placeholder is the end of the form, between brackets.
  const name = begins < 0 ? null : option.flags.slice(begins + 1, -1);
  return {
    names: [option.short, option.long].filter((each) => each !== undefined),
    value: name === null ? null : valueNamed(name, option),
    help: option.description,
  };
}

function valueNamed(name: string, { argChoices }: Pick<Argument | Option, 'argChoices'>): Value {
  return { name, choices: argChoices ?? [] };
}

/** A terminal that hands on what is printed. */
function collecting(take: (text: string) => void): Terminal {
  const sink = new Writable({
    write: (chunk, _encoding, done) => {
      take(String(chunk));
      done();
    },
  });
  return {
    ...{ stdin: Readable.from([]), screen: null, out: new Output(sink), err: new Output(sink) },
    ...{ paintOut: plainPalette, paintErr: plainPalette, outIsTTY: false, statusColumns: 0 },
    onSignal: () => {},
    beforeFailure: () => {},
    interrupt: new AbortController().signal,
  };
}
