import type { Command } from 'commander';
import { StoreError } from '../../loop/index.ts';
import { amount, clip, printable, SYNTAX } from '../../report/index.ts';
import { readArtefact } from '../inspect/artefact.ts';
import { inspectDatabase } from '../inspect/database.ts';
import { type Recognition, recognize } from '../inspect/index.ts';
import type { Found } from '../inspect/kind.ts';
import { EXIT, type ExitCode } from '../terminal/exit.ts';
import { UsageError } from '../terminal/failure.ts';
import type { Execute, Terminal } from '../terminal/terminal.ts';

const DETAILS = `
The content decides, not the name. The command runs nothing, changes nothing,
and needs no keys. It says what the file is, and prints the report of the
command for such files, such as "check", "log verify" or "keys list". It knows:
AEIOU v3 envelopes, replies and transcripts; control tokens; programs; records
of turns; files of "sessions export"; the output of "turn --json" and "loop
--json"; decision logs; stores of sessions and of tool values (SQLite); key
files, without showing a private half; receipts and checkpoints; policy files;
tools files; the files of the gate's queue.

Exits with 0 for a whole file, with 1 for a damaged or unknown one, with 3 for
a program with syntax errors, and with 2 when the file cannot be read.
docs/schemas/inspect.schema.json describes the JSON.

Examples:
  neuroscript inspect what-they-sent.txt
  pbpaste | neuroscript inspect - --json
`;

/** `inspect FILE`: identifies a file and summarises it. */
export function addInspect(program: Command, execute: Execute): void {
  program
    .command('inspect')
    .summary('identify a file and print the report for its kind')
    .description('Identifies a file and prints what the command for its kind says of it, without running anything.')
    .argument('<FILE>', "the file; '-' is standard input")
    .option('--json', 'print one JSON object')
    .addHelpText('after', DETAILS)
    .action(execute(inspect));
}

async function inspect(name: string, { json }: { readonly json?: true }, terminal: Terminal): Promise<ExitCode> {
  const { size, recognition } = await look(name, terminal);
  if (json) terminal.out.json(toJson(name, size, recognition));
  else for (const line of linesOf(name, size, recognition, terminal)) terminal.out.prose(line);
  return exitOf(recognition);
}

async function look(name: string, terminal: Terminal): Promise<{ readonly size: number; readonly recognition: Recognition }> {
  const artefact = await readArtefact(name, () => terminal.stdin);
  if ('bytes' in artefact) return { size: artefact.bytes.length, recognition: await recognize(artefact) };
  try {
    const database = await inspectDatabase(artefact);
    const recognition: Recognition = typeof database === 'string' ? { kind: 'unknown', guess: database, tried: [] } : database;
    return { size: artefact.size, recognition };
  } catch (error) {
    if (error instanceof StoreError) throw new UsageError(printable(error.message), { cause: error });
    throw error;
  }
}

/** The exit code: 0 for a whole file. */
function exitOf(recognition: Recognition): ExitCode {
  if (!('found' in recognition)) return EXIT.runtime;
  const { error } = recognition.found;
  if (error === null) return EXIT.ok;
  return error.code === SYNTAX ? EXIT.syntax : EXIT.runtime;
}

function toJson(file: string, bytes: number, recognition: Recognition): object {
  if (!('found' in recognition)) {
    const { kind, guess, tried } = recognition;
    return { kind, file, bytes, guess, tried: tried.map(({ kind: one, why }) => ({ kind: one, why })) };
  }
  const { kind, found } = recognition;
  const { form = null, title, sure, error, report } = found;
  return { kind, form, file, bytes, title, sure, error, report };
}

function linesOf(file: string, bytes: number, recognition: Recognition, { paintOut }: Terminal): readonly string[] {
  const head = paintOut.bold(`${printable(file)}:`);
  const size = amount('bytes', bytes);
  if (!('found' in recognition)) {
    const { guess, tried } = recognition;
    return [
      `${head} unknown to inspect (${size}${guess === null ? '' : `; ${printable(guess)}`})`,
      ...tried.map(({ what, why }) => printable(`  not ${what}: ${why}`)),
    ];
  }
  return [...foundLines(head, size, recognition.found, paintOut)];
}

function foundLines(
  head: string,
  size: string,
  { title, sure, error, lines, next }: Found,
  paint: Terminal['paintOut'],
): readonly string[] {
  const place = error === null || error.line === null ? '' : ` in line ${error.line}`;
  return [
    `${head} ${sure === 'likely' ? 'most likely ' : ''}${printable(title)} (${size})`,
    ...(error === null
      ? []
      : [`  ${paint.red(`${printable(clip(`not whole${place}: ${error.message}`, 500))} (${error.code})`)}`]),
    ...lines.map((line) => printable(`  ${line}`)),
    ...(next === null ? [] : [paint.dim(`  ${next}`)]),
  ];
}
