import { readFileSync } from 'node:fs';
import type { PolicyOptions } from '../../src/entries/index.ts';
import { defined } from '../../src/wire/defined.ts';

/**
 * Conformance files: several small programs in one file, separated by lines of `---`, each with what it must do.
 *
 * A chunk that starts with `func`, `command`, `on event` or `::` is a whole file; anything else is the body of
 * `func main()`. `main` is called, unless events are delivered. Lines and comments that are no NeuroScript:
 *
 *     #: title                      first line; requirement ids and row numbers stand here
 *     #: raw                        the chunk is a whole file, whatever it starts with
 *     #: header <metadata>          a metadata line in front of all
 *     #: global <name> <json>       a global
 *     #: stdin <json string>…       lines for promptuser; `#: stdin` alone: an empty standard input
 *     #: event <name> <json>        deliver an event with this payload from `src`
 *     #: limits <json>              limits of the run
 *     #: host                       needs the real host: tools with argument types, policy
 *     #: policy <json>              a policy on top of the one that allows everything; with `host`
 *     #=> value ; value             what is emitted, in order: strings as JSON, all else in its String form
 *     #~> target: text              a whisper
 *     #? <json string>              the text of a prompt
 *     #!event <code>                an error reported by an event handler
 *     #!! <code> [<column>]         the error that ends the run: a number, `syntax`, or an ERR_ code and its limit
 *
 * `#=>` and `#!!` may stand behind code: then the error must be on that line (and at that column).
 */
export interface Chunk {
  readonly title: string;
  readonly source: string;
  readonly globals: Readonly<Record<string, unknown>>;
  readonly stdin: readonly string[] | null;
  readonly events: readonly { readonly name: string; readonly payload: unknown }[];
  readonly limits: Readonly<Record<string, number>>;
  readonly host: boolean;
  readonly policy: PolicyOptions | null;
  readonly expected: Expected;
}

export interface Expected {
  readonly emits: readonly string[];
  readonly whispers: readonly string[];
  readonly prompts: readonly string[];
  readonly eventErrors: readonly number[];
  readonly error: ExpectedError | null;
}

export interface ExpectedError {
  /** `NS7`, `syntax`, `ERR_QUOTA`. */
  readonly code: string;
  readonly limit?: string;
  /** In the source as it is run. */
  readonly line?: number;
  readonly column?: number;
}

/** The chunks of a file. Throws for a directive it does not know. */
export function readChunks(path: string): Chunk[] {
  return readFileSync(path, 'utf8')
    .split(/^---$/m)
    .map((text) => parseChunk(text.replace(/^\n/, '').trimEnd()));
}

const WHOLE = /^(func|command|on event|::)/;

interface Building {
  title: string;
  raw: boolean;
  header: string[];
  globals: Record<string, unknown>;
  stdin: string[] | null;
  events: { name: string; payload: unknown }[];
  limits: Record<string, number>;
  host: boolean;
  policy: PolicyOptions | null;
}

function parseChunk(text: string): Chunk {
  const lines = text.split('\n');
  const chunk: Building = {
    title: '',
    raw: false,
    header: [],
    globals: {},
    stdin: null,
    events: [],
    limits: {},
    host: false,
    policy: null,
  };
  const code: string[] = [];
  for (const line of lines) {
    if (!line.startsWith('#: ')) code.push(line);
    else if (chunk.title === '') chunk.title = line.slice(3);
    else directive(chunk, line.slice(3));
  }
  const first = code.find((line) => line.trim() !== '' && !line.startsWith('#')) ?? '';
  const whole = chunk.raw || WHOLE.test(first);
  const header = chunk.header.length === 0 ? [] : [...chunk.header.map((line) => `:: ${line}`), ''];
  const before = [...header, ...(whole ? [] : ['func main() means'])];
  const source = [...before, ...code, ...(whole ? [] : ['endfunc'])].join('\n');
  const { title, globals, stdin, events, limits, host, policy } = chunk;
  return {
    title,
    source: `${source}\n`,
    globals,
    stdin,
    events,
    limits,
    host,
    policy,
    expected: expectations(code, before.length),
  };
}

function directive(chunk: Building, text: string): void {
  const [, word = '', rest = ''] = /^(\S+) ?(.*)$/.exec(text) ?? [];
  const [, name = '', json = 'null'] = /^(\S+) (.*)$/.exec(rest) ?? [];
  if (word === 'raw') chunk.raw = true;
  else if (word === 'host') chunk.host = true;
  else if (word === 'policy') chunk.policy = JSON.parse(rest);
  else if (word === 'header') chunk.header.push(rest);
  else if (word === 'global') chunk.globals[name] = JSON.parse(json);
  else if (word === 'event') chunk.events.push({ name, payload: JSON.parse(json) });
  else if (word === 'limits') Object.assign(chunk.limits, JSON.parse(rest));
  else if (word === 'stdin') chunk.stdin = JSON.parse(`[${rest}]`);
  else throw new Error(`unknown directive '${text}'`);
}

const MARK = /(?:^|\s)#(=>|!!|~>|\?|!event) (.*)$/;

function expectations(code: readonly string[], offset: number): Expected {
  const emits: string[] = [];
  const whispers: string[] = [];
  const prompts: string[] = [];
  const eventErrors: number[] = [];
  let error: ExpectedError | null = null;
  for (const [index, line] of code.entries()) {
    const [, mark = '', text = ''] = MARK.exec(line) ?? [];
    if (mark === '=>') emits.push(...text.split(' ; '));
    else if (mark === '~>') whispers.push(text);
    else if (mark === '?') prompts.push(JSON.parse(text));
    else if (mark === '!event') eventErrors.push(Number(text));
    else if (mark === '!!') error = expectedError(text, line.startsWith('#') ? undefined : index + 1 + offset);
  }
  return { emits, whispers, prompts, eventErrors, error };
}

function expectedError(text: string, line: number | undefined): ExpectedError {
  const [first = '', second] = text.split(' ');
  const code = /^\d+$/.test(first) ? `NS${first}` : first;
  const place = defined({ line });
  if (second === undefined) return { code, ...place };
  return /^\d+$/.test(second) ? { code, ...place, column: Number(second) } : { code, limit: second, ...place };
}
