import { expect, it } from 'vitest';
import { linesOf } from './spawn.ts';
import { within } from './terminal.ts';

/** The names of the commands that a help text lists. */
const commandsIn = (help: string): string[] =>
  [...(/^Commands:\n([\s\S]*?)\n\n/m.exec(`${help}\n`)?.[1] ?? '').matchAll(/^ {2}([a-z-]+)/gm)].map(([, name = '']) => name);

it('the help of every command fits 80 columns', async () => {
  const { stdout: top } = await within(['--help']);
  const all = [['--help']];
  for (const name of commandsIn(top).filter((each) => !['help', 'gate', 'gate-verify'].includes(each))) {
    all.push([name, '--help']);
    for (const sub of commandsIn((await within([name, '--help'])).stdout)) if (sub !== 'help') all.push([name, sub, '--help']);
  }
  expect(all.length).toBeGreaterThan(30);
  const long: string[] = [];
  for (const argv of all) {
    const { code, stdout, stderr } = await within(argv);
    expect({ argv, code, stderr }).toEqual({ argv, code: 0, stderr: '' });
    long.push(...linesOf(stdout).filter((line) => line.length > 80));
  }
  expect(long).toEqual([]);
}, 60_000);
