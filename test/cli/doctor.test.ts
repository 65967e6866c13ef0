import { describe, expect, it } from 'vitest';
import { neuroscript } from './spawn.ts';

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
    expect(report.limits).toMatchObject({ fuel: 100_000_000, wallMs: 30_000 });
  });

  it('says what is missing, and what to do, where the launcher is not there; --launcher required refuses to start', async () => {
    const without = { env: { PATH: '/nowhere' } };
    const { stdout, code } = await neuroscript(['doctor'], without);
    expect(stdout).toContain('ring 3, the process: not complete');
    expect(stdout).toContain("install the package 'bubblewrap'");
    expect(code).toBe(1);
    const refused = await neuroscript(['doctor', '--launcher', 'required'], without);
    expect(refused).toMatchObject({ stdout: '', code: 2 });
    expect(refused.stderr).toContain('the launcher is required and cannot be used: bubblewrap is not installed');
  });

  it('run takes the same flag', async () => {
    const run = (...flags: string[]) => neuroscript(['run', '-', ...flags], { stdin: 'command\n  emit 1\nendcommand\n' });
    expect(await run('--launcher', 'none')).toMatchObject({ stdout: '1\n', code: 0 });
    expect(await run('--launcher', 'sometimes')).toMatchObject({ stdout: '', code: 2 });
  });
});
