import type { Command } from 'commander';
import { printable } from '../../report/index.ts';
import type { TaggedJson } from '../../wire/protocol.ts';
import { UsageError } from '../terminal/failure.ts';
import { readText } from '../terminal/input.ts';
import { type Named, parseJson, parseNamed, parsePair, repeatable } from './options.ts';

/** A name and its value, as a flag gives them. */
export interface Pair {
  readonly name: string;
  readonly value: TaggedJson;
}

/** An argument for --call: a value, or the file with it. */
type Argument = { readonly value: TaggedJson } | { readonly file: string };

/** The flags for what a run is given besides its programs. */
export interface GivenFlags {
  readonly call?: string;
  readonly arg?: readonly Argument[];
  readonly argFile?: readonly Argument[];
  readonly global?: readonly Pair[];
  readonly globalFile?: readonly Named[];
  readonly event?: readonly Pair[];
}

/** The values that flags give a run. */
export interface Given {
  readonly args: readonly TaggedJson[];
  readonly globals: Readonly<Record<string, TaggedJson>>;
}

/** Adds the flags of {@link GivenFlags}. */
export function addGiven(command: Command): Command {
  // One list for both flags, in the order of the command line.
  const given: Argument[] = [];
  const argument = (one: Argument): readonly Argument[] => {
    given.push(one);
    return given;
  };
  return command
    .option('--call <PROCEDURE>', 'call this procedure after the command blocks; --json shows its result')
    .option('--arg <JSON>', 'an argument for --call (repeatable)', (text) => argument({ value: parseJson('--arg', text) }))
    .option('--arg-file <FILE>', 'as --arg, from a file with JSON (repeatable)', (file) => argument({ file }))
    .option(
      '--global <NAME=JSON>',
      'set a variable before the programs run (repeatable)',
      repeatable((text) => parsePair('--global', text)),
    )
    .option(
      '--global-file <NAME=FILE>',
      'as --global, from a file with JSON (repeatable)',
      repeatable((text) => parseNamed('--global-file', text, 'FILE')),
    )
    .option('--event <NAME=JSON>', 'deliver this event at the end (repeatable)', repeatable(eventPair));
}

function eventPair(text: string): Pair {
  return text.includes('=') ? parsePair('--event', text) : { name: text, value: null };
}

/** Throws {@link UsageError} for arguments without a procedure. */
export function refuseStrayArguments({ call, arg, argFile }: GivenFlags): void {
  if (call !== undefined) return;
  if (arg !== undefined) throw new UsageError('--arg needs --call, the procedure it is for');
  if (argFile !== undefined) throw new UsageError('--arg-file needs --call, the procedure it is for');
}

/** Maximum bytes of a file with a value. */
const VALUE_BYTES = 64 * 1024 * 1024;

export async function givenBy({ arg, argFile, global, globalFile }: GivenFlags): Promise<Given> {
  const read = async (flag: string, file: string): Promise<TaggedJson> => {
    const text = await readText(file, VALUE_BYTES, `the file of ${flag}`);
    return parseJson(`${flag} ${printable(file)}`, text);
  };
  const args: TaggedJson[] = [];
  for (const one of arg ?? argFile ?? []) args.push('file' in one ? await read('--arg-file', one.file) : one.value);
  const globals = new Map((global ?? []).map(({ name, value }) => [name, value]));
  for (const { name, text } of globalFile ?? []) globals.set(name, await read('--global-file', text));
  return { args, globals: Object.fromEntries(globals) };
}
