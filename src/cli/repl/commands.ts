import { join, parse as parsePath } from 'node:path';
import { amount, clip, counted, type Palette, paragraph, printable, quantity } from '../../report/index.ts';
import type { Runtime } from '../../runtime/index.ts';
import { type LimitKey, limitOf } from '../../wire/limits.ts';
import type { Source, WorkerUsage } from '../../wire/protocol.ts';
import { jsonBeginning } from '../../wire/tagged.ts';
import { parsePair } from '../flags/options.ts';
import { EXIT, type ExitCode } from '../terminal/exit.ts';
import { UsageError } from '../terminal/failure.ts';
import { readText, STDIN } from '../terminal/input.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { writeNew } from '../terminal/write.ts';
import type { Entry, Session } from './session.ts';

/** Maximum number of characters of a value in the list of variables. */
const WIDTH = 200;

interface Scene {
  readonly session: Session;
  readonly runtime: Runtime;
  readonly terminal: Terminal;
  /** The text after the name of the command. */
  readonly rest: string;
}

interface MetaCommand {
  readonly shown: string;
  readonly help: string;
  readonly run: (scene: Scene) => Promise<ExitCode | 'quit'>;
}

/** The commands of the prompt itself, by name. */
const COMMANDS: ReadonlyMap<string, MetaCommand> = new Map([
  [':help', { shown: ':help', help: 'this list', run: help }],
  [':vars', { shown: ':vars', help: 'the variables with their values', run: vars }],
  [':procs', { shown: ':procs', help: 'the procedures, and how many event handlers there are', run: procs }],
  [':event', { shown: ':event NAME[=JSON]', help: 'deliver an event to the handlers', run: event }],
  [':load', { shown: ':load FILE', help: 'add the definitions of a file, or run its commands', run: load }],
  [':save', { shown: ':save FILE', help: 'write all inputs that succeeded to a new file', run: save }],
  [':usage', { shown: ':usage', help: 'what the last input used of its limits', run: usage }],
  [':reset', { shown: ':reset', help: 'forget all variables and definitions', run: reset }],
  [':quit', { shown: ':quit', help: 'leave (Ctrl-D does it too)', run: async () => 'quit' }],
]);

export const COMMAND_NAMES: readonly string[] = [...COMMANDS.keys()];

/** What a newcomer types first. As programs these words would show nil. */
const GUESSES: ReadonlyMap<string, string> = new Map([
  ['help', ':help'],
  ['?', ':help'],
  ['exit', ':quit'],
  ['quit', ':quit'],
]);

/** Whether a line is a command of the prompt; `::` begins metadata. */
export function isCommand(line: string): boolean {
  return /^\s*:(?!:)/.test(line);
}

/** The command that a line means, or null. A variable of a program may have the name of a command. */
export function commandOf(line: string, { variables }: Pick<Session, 'variables'>): string | null {
  if (isCommand(line)) return line;
  const word = line.trim().toLowerCase();
  return variables.some(({ name }) => name.toLowerCase() === word) ? null : (GUESSES.get(word) ?? null);
}

/** Runs a command. Throws {@link UsageError} for an unknown command and for an unusable file. */
export async function runCommand(line: string, scene: Omit<Scene, 'rest'>): Promise<ExitCode | 'quit'> {
  const [, name = '', after = ''] = /^(\S+)(.*)$/s.exec(line.trim()) ?? [];
  const rest = after.trim();
  const command = COMMANDS.get(name);
  if (command === undefined) throw new UsageError(`unknown command ${clip(printable(name), 40)}; :help lists the commands`);
  const wanted = command.shown.split(' ')[1];
  if (wanted === undefined && rest !== '') throw new UsageError(`${name} takes no argument`);
  if (wanted !== undefined && rest === '') throw new UsageError(`${name} needs an argument: ${command.shown}`);
  return command.run({ ...scene, rest });
}

export function commandList(palette: Palette): readonly string[] {
  return [...COMMANDS.values()].flatMap(({ shown, help: text }) =>
    paragraph(text, palette, `  ${shown.padEnd(20)}`, ' '.repeat(22)),
  );
}

async function help({ terminal }: Scene): Promise<ExitCode> {
  for (const line of commandList(terminal.paintOut)) terminal.out.line(line);
  return EXIT.ok;
}

async function vars({ session, terminal }: Scene): Promise<ExitCode> {
  for (const { name, value } of session.variables)
    terminal.out.line(`${name} = ${clip(printable(jsonBeginning(value, WIDTH)), WIDTH)}`);
  return EXIT.ok;
}

async function procs({ session, terminal }: Scene): Promise<ExitCode> {
  const places = new Map<string, string>();
  for (const { source, file } of session.definitions)
    for (const [index, name] of file.procedures.entries())
      places.set(name, `${file.signatures[index] ?? name}  ${terminal.paintOut.dim(printable(source.name))}`);
  for (const line of places.values()) terminal.out.line(line);
  const events = session.definitions.reduce((sum, { file }) => sum + file.events, 0);
  if (events > 0) terminal.out.line(counted(events, 'event handler'));
  return EXIT.ok;
}

async function event({ session, rest }: Scene): Promise<ExitCode> {
  const { name, value } = rest.includes('=') ? parsePair(':event', rest) : { name: rest, value: null };
  return session.deliver(name, value);
}

async function load({ session, runtime, rest }: Scene): Promise<ExitCode> {
  return loadFile(rest, session, runtime.limits.sourceBytes);
}

/** Reads a file as `:load` does. Throws {@link UsageError}. */
export async function loadFile(name: string, session: Session, maxBytes: number): Promise<ExitCode> {
  const text = await readText(name, maxBytes, () => {
    throw new UsageError(`'${STDIN}' is the source of the inputs; name a file`);
  });
  return session.load(name, text);
}

async function save({ session, runtime, terminal, rest }: Scene): Promise<ExitCode> {
  const files = savedFiles(rest, session);
  if (files.length === 0) throw new UsageError('nothing to save yet: no input has succeeded');
  const laidOut = await Promise.all(files.map((file) => formatted(file, runtime)));
  for (const file of laidOut) await writeNew(file.name, file.text);
  const names = files.map(({ name }) => printable(name)).join(' ');
  terminal.err.prose(terminal.paintErr.dim(`saved; run it with: neuroscript run ${names}`));
  return EXIT.ok;
}

/** Formats a file. Throws for inputs that do not form a valid file, such as a redefined procedure of a loaded file. */
async function formatted(file: Source, runtime: Runtime): Promise<Source> {
  const { text, diagnostics } = await runtime.format(file);
  const problem = diagnostics[0]?.message ?? 'it cannot be read';
  if (text === null) throw new UsageError(`the inputs do not fit into one file: ${printable(problem)}; nothing was saved`);
  return { name: file.name, text };
}

const SPENT: readonly (readonly [LimitKey, keyof WorkerUsage])[] = [
  ['fuel', 'fuel'],
  ['cpuMs', 'cpuMs'],
  ['wallMs', 'wallMs'],
  ['memoryBytes', 'peakMemoryBytes'],
  ['toolCalls', 'toolCalls'],
  ['outputBytes', 'outputBytes'],
];

async function usage({ session, runtime, terminal }: Scene): Promise<ExitCode> {
  const spent = session.usage;
  if (spent === null) {
    terminal.out.line('nothing was run yet');
    return EXIT.ok;
  }
  for (const [key, measured] of SPENT) {
    const row = limitOf(key);
    terminal.out.line(
      `  --${row.flag.padEnd(14)}${amount(row.unit, Math.ceil(spent[measured]))} of ${quantity(row.unit, runtime.limits[key])}`,
    );
  }
  return EXIT.ok;
}

async function reset({ session }: Scene): Promise<ExitCode> {
  await session.reset();
  return EXIT.ok;
}

/**
 * The successful inputs as files for `run`, in this order: the definitions, with the last version of each procedure, and the
 * other inputs, each as a command block. A file holds one of the two, so definitions get a file of their own.
 */
function savedFiles(name: string, { definitions, entries }: Pick<Session, 'definitions' | 'entries'>): Source[] {
  const library = definitions.map(({ source }) => `${source.text.trimEnd()}\n`);
  const commands = entries.map(block);
  const { dir, name: stem, ext } = parsePath(name);
  const beside = join(dir, `${stem}.lib${ext}`);
  return [
    ...(library.length === 0 ? [] : [{ name: commands.length === 0 ? name : beside, text: library.join('\n') }]),
    ...(commands.length === 0 ? [] : [{ name, text: commands.join('\n') }]),
  ];
}

/** Each input becomes a command block, so that error handlers and `return` keep their scope. */
function block({ text, typed }: Entry): string {
  if (typed === undefined) return `${text.trimEnd()}\n`;
  return `command\n${typed === 'expression' ? 'emit ' : ''}${text.trim()}\nendcommand\n`;
}
