import { expect, it } from 'vitest';
import { describe as describeCommands } from '../../src/cli/manual/describe.ts';

/** The commands at the top, beside `help` and `completion`. */
const COMMANDS = [
  ...['init', 'run', 'test', 'check', 'foresee', 'fmt', 'repl', 'turn', 'loop', 'serve', 'sessions', 'ui', 'replay', 'receipt'],
  ...['policy', 'store', 'log', 'tools', 'lsp', 'keys', 'token', 'gate', 'inspect', 'explain', 'doctor', 'bench'],
];

it('issue 42: at most 26 commands stand at the top; others stand below a noun', async () => {
  const { pages } = await describeCommands();
  const top = pages.map(({ path }) => path).filter((path) => path !== '' && path !== 'completion' && !path.includes(' '));
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

/** Whether a command has subcommands and nothing else. */
function isGroup(name: string, paths: ReadonlySet<string>): boolean {
  return !['gate', 'tools', 'test'].includes(name) && [...paths].some((path) => path.startsWith(`${name} `));
}
