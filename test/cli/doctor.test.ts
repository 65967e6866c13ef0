// @module-tag slow
import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { LIMITS, POOL_LIMITS } from '../../src/entries/index.ts';
import { systemTool } from '../../src/sandbox/systemtools.ts';
import { SERVER_LINE } from '../mcp/servers.ts';
import { neuroscript } from './spawn.ts';
import { within } from './terminal.ts';

const schema = new Ajv2020({ strict: true, strictTypes: false, allErrors: true }).compile(
  JSON.parse(readFileSync(new URL('../../docs/schemas/doctor.schema.json', import.meta.url), 'utf8')),
);
const problems = (report: unknown): unknown => (schema(report) ? [] : schema.errors);

describe('doctor', () => {
  it('tells of each ring whether it is complete on this machine, as JSON, with the limits of the table', async () => {
    const { stdout, code } = await neuroscript(['doctor', '--json']);
    const report = JSON.parse(stdout);
    expect(report.rings.map(({ ring, name }: { ring: number; name: string }) => [ring, name])).toEqual([
      [1, 'interpreter'],
      [2, 'isolate'],
      [3, 'process'],
    ]);
    expect(report.rings.slice(0, 2)).toMatchObject([{ complete: true }, { complete: true }]);
    expect(code).toBe(report.complete ? 0 : 1);
    expect(problems(report)).toEqual([]);
    const keys = report.limits.map(({ limit }: { limit: string }) => limit);
    expect(keys).toEqual([...LIMITS, ...POOL_LIMITS].map(({ key }) => key));
  });

  it('without the launcher it says the same on every machine, but for versions: the golden file', async () => {
    const { stdout, code } = await neuroscript(['doctor', '--json', '--launcher', 'none']);
    const report = JSON.parse(stdout);
    expect(problems(report)).toEqual([]);
    expect(problems({ ...report, rings: [] })).not.toEqual([]);
    expect(code).toBe(1);
    // The first limit shows the form of all.
    const steady = { ...report, version: '', node: '', platform: '', arch: '', limits: report.limits.slice(0, 1) };
    const text = JSON.stringify(steady, null, 2)
      .replace(/V8 [\w.-]+/, 'V8 0')
      .replace(/workers have no cgroups: [^"]*|each worker has a cgroup of its own: [^"]*/, 'cgroups');
    await expect(`${text}\n`).toMatchFileSnapshot('golden/doctor.json.golden');
  });

  it('connects to the MCP servers of a configuration, and says why one cannot be used', async () => {
    const servers = ['--mcp', `s=${SERVER_LINE}`, '--mcp', 'gone=http://127.0.0.1:1/'];
    const { stdout, code } = await within(['doctor', '--json', ...servers]);
    const report = JSON.parse(stdout);
    expect(problems(report)).toEqual([]);
    expect(report.mcp).toEqual([
      { server: 's', tools: 7, error: null },
      { server: 'gone', tools: null, error: expect.stringContaining("MCP server 'gone': it cannot be reached") },
    ]);
    expect(code).toBe(1);
    const shown = (await within(['doctor', ...servers])).stdout;
    expect(shown).toContain('\nMCP server s: 7 tools\n');
    expect(shown).toContain("\nMCP server gone: cannot be used\n  MCP server 'gone': it cannot be reached");
  });

  it.each([['run', '-'], ['doctor']])(
    '%s says in one line that isolated-vm has nothing for this platform, and ends with 2',
    async (...args) => {
      // What isolated-vm's loader takes for the architecture.
      const stdin = 'command\n  emit 1\nendcommand\n';
      const { stderr, code } = await neuroscript(args, { stdin, env: { npm_config_arch: 'none' } });
      expect(stderr).toMatch(
        /^neuroscript: isolated-vm has no module for this platform: No native build was found for .* arch=none .*\n$/,
      );
      expect(code).toBe(2);
    },
  );

  it('says what is missing and what to do, and exits with 1', async () => {
    const { stdout, code } = await neuroscript(['doctor', '--launcher', 'none']);
    // The lines are broken to the width of a terminal.
    const words = stdout.replace(/\s+/g, ' ');
    expect(words).toContain(' --queue-length 1,024, at most 1,000,000 runs that wait for a worker ');
    expect(words).toContain('ring 3, the process: not complete');
    expect(words).toContain(
      "missing the operating system does not confine the workers: it was switched off to do leave '--launcher none' out",
    );
    expect(code).toBe(1);
  });

  it('refuses a launcher that is not there, and names its package', async () => {
    if (systemTool('bwrap') !== null) return;
    expect(await neuroscript(['doctor', '--launcher', 'bubblewrap'])).toMatchObject({
      stdout: '',
      code: 2,
      stderr:
        "neuroscript: the launcher is required and cannot be used: bubblewrap is not installed: install the package 'bubblewrap'\n",
    });
  });

  it('run takes the same flag', async () => {
    const run = (...flags: string[]) => within(['run', '-', ...flags], { stdin: 'command\n  emit 1\nendcommand\n' });
    expect(await run('--launcher', 'none')).toMatchObject({ stdout: '1\n', code: 0 });
    expect(await run('--launcher', 'sometimes')).toMatchObject({ stdout: '', code: 2 });
  });
});
