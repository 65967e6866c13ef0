// @module-tag slow
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ROOT } from '../architecture/source.ts';
import { prepared, run, succeed, TOOLS } from './kit.ts';

const WORKFLOW = readFileSync(join(ROOT, '.github/workflows/release.yml'), 'utf8');
const REPORT = z.object({ faults: z.array(z.string()), commands: z.array(z.string()) });

describe('the release workflow', () => {
  let folder = '';
  let parser = '';
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'neuroscript-release-'));
    parser = join(folder, 'workflow.mjs');
    const banner = 'import { createRequire as requireOf } from "node:module"; const require = requireOf(import.meta.url);';
    const args = [
      '--bundle',
      '--platform=node',
      '--format=esm',
      '--log-level=error',
      `--outfile=${parser}`,
      `--banner:js=${banner}`,
    ];
    succeed(join(TOOLS, 'node_modules/.bin/esbuild'), [join(TOOLS, 'workflow.mjs'), ...args], { cwd: TOOLS });
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const parsed = (input: string): z.infer<typeof REPORT> =>
    REPORT.parse(JSON.parse(succeed('node', [parser], { cwd: folder, input })));

  it('has no fault for the parser of GitHub, and its steps are those that are tried before a release', () => {
    expect(parsed(WORKFLOW)).toEqual({
      faults: [],
      commands: [
        '.ci/run',
        'npm ci',
        'npm pack',
        'npm publish ./*.tgz --dry-run --access public',
        'npm publish ./*.tgz --provenance --access public',
      ],
    });
  });

  it.each([
    ['a key that does not exist', 'runs-on:', 'run-on:', "Unexpected value 'run-on'"],
    ['an expression that is none', "== 'true'", "= 'true'", 'Unexpected symbol'],
    ['a job that does not exist', 'needs: pack', 'needs: build', "unknown job 'build'"],
    ['a permission that does not exist', 'id-token: write', 'id-token: own', "Unexpected value 'own'"],
  ])('would be refused with %s', (_, from, to, fault) => {
    expect(parsed(WORKFLOW.replace(from, to)).faults.join()).toContain(fault);
  });

  it('would publish the tarball as it is: the registry is asked, and gets nothing', () => {
    const { status, stderr } = run('npm', ['publish', prepared().tarball, '--dry-run', '--access', 'public'], { cwd: folder });
    expect(status, stderr).toBe(0);
    expect(stderr).toContain('(dry-run)');
    expect(stderr).not.toMatch(/auto-corrected|invalid/);
  });
});
