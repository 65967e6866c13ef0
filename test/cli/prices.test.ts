import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { TurnRecord } from '../../src/loop/index.ts';
import { SECOND_FUEL } from '../../src/wire/costs.ts';
import { command, folder, linesOf } from './spawn.ts';
import { within } from './terminal.ts';

const SAID = SECOND_FUEL.said.fuel;
const EMIT = command('emit "one"');
const ASKING = fileURLToPath(new URL('../../examples/ask/', import.meta.url));

describe('issue 21, 6: --prices', () => {
  it('run, run --jsonl and foresee count by the table, and by table 1 without it', async () => {
    const fuels = async (args: readonly string[], stdin: string, fuelOf: (json: never) => number) => {
      const counted: number[] = [];
      for (const table of [[], ['--prices', '1'], ['--prices', '2']]) {
        const { code, stdout, stderr } = await within([...args, ...table], { stdin });
        expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
        counted.push(fuelOf(JSON.parse(linesOf(stdout)[0] ?? '') as never));
      }
      const [usual = 0, ...others] = counted;
      return others.map((fuel) => fuel - usual);
    };
    const used = ({ usage }: { readonly usage: { readonly fuel: number } }) => usage.fuel;
    expect(await fuels(['run', '-', '--json'], EMIT, used)).toEqual([0, SAID]);
    expect(await fuels(['run', '--jsonl'], `${JSON.stringify({ src: EMIT })}\n`, used)).toEqual([0, SAID]);
    const bound = ({ fuel }: { readonly fuel: { readonly most: number } }) => fuel.most;
    const [same, more] = await fuels(['foresee', '-', '--json'], EMIT, bound);
    expect(same).toBe(0);
    // A bound takes the rows of a text together, and may be one higher.
    expect([SAID, SAID + 1]).toContain(more);
  });

  it('a loop keeps its table, and so do the sessions that its programs ask for', async () => {
    const cwd = folder({});
    const args = ['loop', '--agent', 'script:agent.txt', '--models', 'models.yaml', '--store', `${cwd}/s.db`, '--prices', '2'];
    expect(await within(args, { cwd: ASKING })).toMatchObject({ stderr: '', code: 0 });
    expect((await within(['replay', '--all', '--store', 's.db'], { cwd })).stdout).toContain('3 sessions, 4 turns: 4 same');
    const { sessions } = JSON.parse((await within(['sessions', 'export', '--store', 's.db'], { cwd })).stdout);
    const turns: readonly TurnRecord[] = sessions.flatMap(({ turns: own }: { readonly turns: readonly TurnRecord[] }) => own);
    expect(turns.map(({ inputs }) => inputs.scene?.run?.prices)).toEqual([2, 2, 2, 2]);
  });

  it.each([
    ['run', '-'],
    ['foresee', '-'],
    ['turn', '-'],
    ['loop', '--agent', 'script:a.txt'],
    ['sessions', 'resume', 's', '--agent', 'script:a.txt'],
    ['sessions', 'open'],
    ['repl'],
    ['test'],
    ['tools', 'mcp'],
  ])('%s %s refuses a table that does not exist', async (...args) => {
    for (const table of ['0', '3', '1.5', 'two', ''])
      expect(await within([...args, '--prices', table], { stdin: '' })).toEqual({
        code: 2,
        stdout: '',
        stderr: `neuroscript: --prices '${table}' is no table of prices; known are 1, 2\n`,
      });
  });
});
