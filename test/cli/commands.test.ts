import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { describe as describeCommands } from '../../src/cli/manual/describe.ts';
import { ROOT } from '../architecture/source.ts';

/** The commands at the top, beside `help` and `completion`, and beside `lsp` and `host`, which other programs start and the help does not list. */
const COMMANDS = [
  ...['init', 'run', 'test', 'check', 'foresee', 'fmt', 'repl', 'turn', 'loop', 'serve', 'sessions', 'ui', 'replay', 'receipt'],
  ...['policy', 'store', 'log', 'tools', 'grammar', 'keys', 'token', 'gate', 'inspect', 'explain', 'doctor', 'bench'],
];

it('issue 42: at most 26 commands stand at the top; others stand below a noun', async () => {
  const { pages } = await describeCommands();
  const unlisted = ['', 'completion', 'lsp', 'host'];
  const top = pages.map(({ path }) => path).filter((path) => !unlisted.includes(path) && !path.includes(' '));
  expect(pages[0]?.help).not.toMatch(/^ +(?:lsp|host) /m);
  expect(top).toEqual(COMMANDS);
  expect(top.length).toBeLessThanOrEqual(26);
});

it('issue 42: help, completion and messages name only commands that there are', async () => {
  const { pages } = await describeCommands();
  const paths = new Set(pages.map(({ path }) => path));
  const unknown = pages.flatMap(({ path, help }) =>
    [...help.matchAll(/\bneuroscript ([a-z][a-z-]*)(?: ([a-z][a-z-]*))?/g)]
      .filter(
        ([, name = '', sub = '']) => !paths.has(name) || (isGroup(name, paths) && sub !== '' && !paths.has(`${name} ${sub}`)),
      )
      .map(([text]) => `${path}: ${text}`),
  );
  expect(unknown).toEqual([]);
});

/** Flags of other programs that pages name: of Node and V8, of bundlers and of containers. */
const FOREIGN =
  /^--(?:scenario|disable-sigusr1|packages|security-opt|jobs|no-node-snapshot|(?:max-semi-space|optimize-for)-size|single-threaded(?:-gc)?|no-concurrent-recompilation)$/;

it('issue 42: pages name only flags that there are', async () => {
  const { pages: commands } = await describeCommands();
  const flags = new Set(commands.flatMap(({ flags: own }) => own.flatMap(({ names }) => names)));
  const words = new Set(['neuroscript', 'npx', ...commands.map(({ path }) => path.split(' ')[0] ?? '')]);
  const pages = globSync(['README.md', 'SECURITY.md', 'docs/*.md', 'examples/**/README.md'], { cwd: ROOT });
  const unknown = pages.flatMap((page) =>
    [...readFileSync(join(ROOT, page), 'utf8').matchAll(/`([^`\n]+)`/g)]
      .map(([, code = '']) => code)
      .filter((code) => code.startsWith('--') || words.has(code.split(' ')[0] ?? ''))
      .flatMap((code) => code.match(/(?<![\w-])--[a-z][a-z0-9-]*/g) ?? [])
      .filter((flag) => !flags.has(flag) && !FOREIGN.test(flag))
      .map((flag) => `${page}: ${flag}`),
  );
  expect(unknown).toEqual([]);
});

/** Whether a command has subcommands and nothing else. */
function isGroup(name: string, paths: ReadonlySet<string>): boolean {
  return !['gate', 'tools', 'test'].includes(name) && [...paths].some((path) => path.startsWith(`${name} `));
}
