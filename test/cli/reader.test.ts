import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../architecture/source.ts';
import { SLOW } from '../groups.ts';
import { blocksOf } from '../readme/blocks.ts';
import { commandsOf } from '../readme/shell.ts';
import { command, folder, neuroscript, type Outcome } from './spawn.ts';
import { within } from './terminal.ts';

// Shell blocks of pages whose files are the reader's: each is run, line by line, in a folder with such files.

/** A reply of an agent: an envelope with this program. */
const reply = (...lines: readonly string[]): string =>
  ['START', 'USERDATA', 'ACTIONS']
    .map((section) => `<<<NSENV:V3:${section}>>>\n${section === 'USERDATA' ? '{"subject": "job", "fields": {}}\n' : ''}`)
    .concat(`${command(...lines)}<<<NSENV:V3:END>>>\n`)
    .join('');
const ends = (action: string): string => `emit tool.aeiou.magic("LOOP", {"action": "${action}"})`;

const tools = (answer: string): string => `tools:\n  tool.crm.Get:\n    args: [name]\n    otherwise: { ${answer} }\n`;
/** The package, for modules outside of it. */
const ENTRY = pathToFileURL(join(ROOT, 'dist/src/entries/index.js')).href;

const PROGRAM = command('emit tool.crm.Get("ada")');
const FILES = {
  'script.ns': PROGRAM,
  'order.ns': PROGRAM,
  'unknown.txt': PROGRAM,
  'better.ns': command('emit "other"', ends('done')),
  'lib.ns': 'func greet(needs name) means\n  return "hello " + name\nendfunc\n',
  'requests.jsonl': `${JSON.stringify({ id: 1, src: command('emit 1') })}\n`,
  'mail.test.ns': '#: Ada is known\nemit tool.crm.Get("ada") #=> true\n',
  'tools.yaml': tools('returns: true'),
  'mocks.yaml': tools('returns: false'),
  'tools.ts': "export const tools = [{ name: 'tool.shop.Price', description: 'a price', run: (): number => 1 }];\n",
  'envelope.txt': reply(ends('done')),
  'agent.txt':
    reply('emit 1', ends('continue')) + reply('emit tool.crm.Get("ada")', ends('continue')) + reply('emit 3', ends('done')),
  'job.json': '{"subject": "job", "fields": {}}',
};
const JOB = ['loop', '--agent', 'script:agent.txt', '--tools', 'tools.yaml', '--sid', 'job-7', '--store', 'jobs.db'];

interface Reader {
  readonly files: Readonly<Record<string, string>>;
  /** The commands that the reader has run in the folder before. */
  readonly before?: readonly (readonly string[])[];
}

/** The folders that marks of pages name. */
const READERS: Readonly<Record<string, Reader>> = {
  'a program and its tools': { files: FILES },
  'a session in jobs.db': { files: FILES, before: [JOB] },
  'a tool that waits': { files: { ...FILES, 'tools.yaml': tools('pending: a person') } },
  'a project of init': {
    files: {
      ...Object.fromEntries(
        ['order.ns', 'order.test.ns', 'policy.yaml', 'tools.mjs'].map((name) => [
          name,
          readFileSync(join(ROOT, 'examples/templates/agent', name), 'utf8').replaceAll(
            "'neuroscript-runtime'",
            JSON.stringify(ENTRY),
          ),
        ]),
      ),
    },
  },
  'an MCP server': {
    files: {
      'order.ns': command('emit tool.shop.price({"fruit": "pear"})'),
      'server.ts': `await import(${JSON.stringify(pathToFileURL(join(ROOT, 'examples/mcp/server.ts')).href)});\n`,
      'servers.json': '{"mcpServers": {"shop": {"command": "node", "args": ["server.ts"]}}}',
    },
  },
};

/** Lines that a person ends, that take minutes, or that need what is in no folder: a token, a server elsewhere. */
const LEFT = /--watch|^bench |^serve |example\.test|…|B64URL/;

const MARK = /^with (?<reader>.*)$/;

const blocks = globSync(['README.md', 'docs/*.md'], { cwd: ROOT }).flatMap((page) =>
  blocksOf(readFileSync(join(ROOT, page), 'utf8')).flatMap(({ language, mark, code, line }) => {
    const { reader } = MARK.exec(mark ?? '')?.groups ?? {};
    return language === 'sh' && reader !== undefined ? [{ place: `${page}:${line}`, reader, code }] : [];
  }),
);

/** Runs a line. A tools file that is a module, a server on standard input and a look at worker processes need a process of their own. */
function run(words: readonly string[], cwd: string): Promise<Outcome> {
  const [name] = words.slice(words.indexOf('<') + 1);
  const input = words.includes('<') && name !== undefined ? { stdin: readFileSync(join(cwd, name), 'utf8') } : {};
  const args = words.includes('<') ? words.slice(0, words.indexOf('<')) : words;
  const options = { cwd, env: { XDG_STATE_HOME: join(cwd, 'state') }, ...input };
  const needsProcess = args[1] === 'mcp' || args[0] === 'doctor' || args.some((word) => /tools\.(?:ts|mjs)$/.test(word));
  return needsProcess ? neuroscript(args, options) : within(args, options);
}

describe('commands of a page work in a folder of a reader', () => {
  it('with every kind of folder', () => {
    expect(new Set(blocks.map(({ reader }) => reader))).toEqual(new Set(Object.keys(READERS)));
  });

  it.each(blocks)('$place, with $reader', { ...SLOW, timeout: 240_000 }, async ({ reader, code }) => {
    const { files, before = [] } = READERS[reader] ?? { files: {} };
    const cwd = folder(files);
    const lines = commandsOf(code).map((words) => words.slice(words.indexOf('neuroscript') + 1));
    const ends = [];
    for (const words of [...before, ...lines.filter((each) => !LEFT.test(each.join(' ')))]) {
      const { code, stderr } = await run(words, cwd);
      ends.push({ line: words.join(' '), code, stderr: code === 0 ? '' : stderr });
    }
    expect(ends.length).toBeGreaterThan(before.length);
    expect(ends.filter(({ code }) => code !== 0)).toEqual([]);
  });
});
