import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SLOW } from '../groups.ts';
import { BIN, folder, linesOf, neuroscript } from './spawn.ts';

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

  it('says so where no folder can be made, and where the current one was removed', SLOW, async () => {
    const proc = await neuroscript(['init', '/proc/x/y'], { cwd: folder({}) });
    expect(proc).toEqual({
      code: 2,
      stdout: '',
      stderr: 'neuroscript: cannot write to /proc/x/y: no folder can be made there\n',
    });
    const cwd = folder({});
    const program = `process.chdir(${JSON.stringify(cwd)}); fs.rmdirSync(${JSON.stringify(cwd)}); await import(${JSON.stringify(BIN)})`;
    const args = ['--input-type=module', '-e', `import fs from 'node:fs'; ${program}`, 'neuroscript', 'init', 'y'];
    const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    expect(stderr).toBe('neuroscript: the current folder was removed; change to one that exists\n');
    expect(status).toBe(2);
  });
});
