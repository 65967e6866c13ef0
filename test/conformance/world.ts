import { decode, defineTool, encode, ToolError } from '../../src/entries/index.ts';
import type { TaggedJson } from '../../src/wire/protocol.ts';
import { Raise } from '../guest/driver.ts';
import type { Tools } from './both.ts';

/** What a tool of the small world refuses with: a code of the language and a message. */
class Refusal extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

interface WorldTool {
  readonly name: string;
  readonly args: readonly string[];
  answer(...args: TaggedJson[]): TaggedJson;
}

/**
 * A small world for a program to act on, new for every run:
 *
 * - `tool.store.Get(path)` gives `{value, version}`, version 0 and nil where nothing is; `tool.store.Put(path, value, version)`
 *   writes when the version is still the one given, and gives the new one; otherwise code 19.
 * - `tool.net.Fetch(url)` fails twice for each address with code 20, then gives `body of <url>`; an address with `down` in it
 *   always fails, with code 1002.
 * - `tool.fs.Read(path)` knows `prices.csv` and `notes.txt`; any other path is code 22.
 * - `tool.mail.Send(to, subject)` gives `m1`, `m2`, …
 * - `tool.policy.Allow(op, path)` gives `[true, ""]`, or `[false, reason]` for anything below `/admin`.
 */
export function makeWorld(): Tools {
  const tools = worldTools();
  return {
    here: Object.fromEntries(
      tools.map(({ name, answer }) => [name.toLowerCase(), (args) => translated(Raise, () => answer(...args))]),
    ),
    sandbox: tools.map(({ name, args, answer }) =>
      defineTool({
        name,
        args: args.map((arg) => ({ name: arg, required: false })),
        run: (given) => translated(ToolError, () => decode(answer(...args.map((arg) => encode(given[arg]))))),
      }),
    ),
  };
}

function translated<T>(As: new (code: number, message: string) => Error, act: () => T): T {
  try {
    return act();
  } catch (error) {
    throw error instanceof Refusal ? new As(error.code, error.message) : error;
  }
}

const FILES: ReadonlyMap<string, string> = new Map([
  ['prices.csv', 'item,price\ntea,3.5\nmilk,0.9\nbread,2\n'],
  ['notes.txt', 'first note\n\nsecond note'],
]);

function worldTools(): readonly WorldTool[] {
  const stored = new Map<string, { value: TaggedJson; version: number }>();
  const fetched = new Map<string, number>();
  let mails = 0;
  return [
    {
      name: 'tool.store.Get',
      args: ['path'],
      answer: (path) => ({ ...(stored.get(String(path)) ?? { value: null, version: 0 }) }),
    },
    {
      name: 'tool.store.Put',
      args: ['path', 'value', 'version'],
      answer(path, value, version) {
        const { version: current } = stored.get(String(path)) ?? { version: 0 };
        if (current !== version) throw new Refusal(19, `${path} has version ${current}, not ${version}`);
        stored.set(String(path), { value: value ?? null, version: current + 1 });
        return current + 1;
      },
    },
    {
      name: 'tool.net.Fetch',
      args: ['url'],
      answer(url) {
        const address = String(url);
        if (address.includes('down')) throw new Refusal(1002, `${address} is unreachable`);
        const count = fetched.get(address) ?? 0;
        fetched.set(address, count + 1);
        if (count < 2) throw new Refusal(20, `${address} is busy`);
        return `body of ${address}`;
      },
    },
    {
      name: 'tool.fs.Read',
      args: ['path'],
      answer(path) {
        const text = FILES.get(String(path));
        if (text === undefined) throw new Refusal(22, `no file ${path}`);
        return text;
      },
    },
    { name: 'tool.mail.Send', args: ['to', 'subject'], answer: () => `m${++mails}` },
    {
      name: 'tool.policy.Allow',
      args: ['op', 'path'],
      answer: (op, path) => (String(path).startsWith('/admin') ? [false, `${op} is not allowed on ${path}`] : [true, '']),
    },
  ];
}
