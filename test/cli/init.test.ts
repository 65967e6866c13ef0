import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SLOW } from '../groups.ts';
import { folder, linesOf, neuroscript } from './spawn.ts';

const STARTER = [
  '.gitignore',
  'README.md',
  'agent.txt',
  'order.ns',
  'order.test.ns',
  'policy.yaml',
  'tools.mjs',
  'tools.test.mjs',
];

describe('neuroscript init', () => {
  it('writes a project into the named folder, which it makes, and lists the files', SLOW, async () => {
    const cwd = folder({});
    const { code, stdout, stderr } = await neuroscript(['init', 'my Agent'], { cwd });
    expect(code, stderr).toBe(0);
    expect(linesOf(stdout)).toEqual([...STARTER, 'package.json'].sort().map((name) => join('my Agent', name)));
    expect(readdirSync(join(cwd, 'my Agent')).sort()).toEqual([...STARTER, 'package.json'].sort());
    const { name, dependencies } = JSON.parse(readFileSync(join(cwd, 'my Agent', 'package.json'), 'utf8'));
    expect({ name, dependencies }).toEqual({ name: 'my-agent', dependencies: { 'neuroscript-runtime': '^0.1.0' } });
    expect(stderr).toBe('Next: cd "my Agent" && npm install; README.md has the commands.\n');
  });

  it('with --service adds a service to it', SLOW, async () => {
    const cwd = folder({});
    expect((await neuroscript(['init', '--service'], { cwd })).code).toBe(0);
    expect(readdirSync(cwd)).toEqual(expect.arrayContaining([...STARTER, 'server.mjs', 'service.mjs', 'service.test.mjs']));
    expect(readFileSync(join(cwd, 'package.json'), 'utf8')).toContain('"fastify"');
  });

  it('keeps a package.json that is there', SLOW, async () => {
    const cwd = folder({ 'package.json': '{ "name": "mine" }' });
    expect((await neuroscript(['init'], { cwd })).code).toBe(0);
    expect(readFileSync(join(cwd, 'package.json'), 'utf8')).toBe('{ "name": "mine" }');
  });

  it('overwrites nothing, and writes nothing where a file of its own is', SLOW, async () => {
    const cwd = folder({ 'tools.mjs': 'mine' });
    const { code, stdout, stderr } = await neuroscript(['init'], { cwd });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toBe("neuroscript: . has tools.mjs already; 'init' overwrites nothing\n");
    expect(readFileSync(join(cwd, 'tools.mjs'), 'utf8')).toBe('mine');
    expect(existsSync(join(cwd, 'order.ns'))).toBe(false);
  });

  it('where a file has the name of its folder, says so', SLOW, async () => {
    const cwd = folder({ taken: '' });
    const { code, stderr } = await neuroscript(['init', 'taken'], { cwd });
    expect({ code, stderr }).toEqual({ code: 2, stderr: 'neuroscript: cannot write to taken: it is not a folder\n' });
  });
});
