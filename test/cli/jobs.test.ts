import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../architecture/source.ts';
import { folder } from './spawn.ts';
import { within } from './terminal.ts';

const JOBS = ['approvals', 'csv', 'inventory', 'logs', 'pagination', 'tickets'] as const;
type Job = (typeof JOBS)[number];

const text = (name: string): string => readFileSync(join(ROOT, 'examples/jobs', name), 'utf8');
const rules = (job: Job, at: string): string[] => [
  ...['--tools', join(at, `${job}.yaml`)],
  ...(job === 'approvals' ? ['--policy', join(at, `${job}.policy.yaml`)] : []),
];

/** A mistake that was made in this job: what is written in place of what, and the lint that finds it. */
const MISTAKES: readonly (readonly [job: Job, lint: string, right: string, wrong: string])[] = [
  ['inventory', 'LINT_GOES_ON', '      clear_error\n      continue\n', '      clear_error\n'],
  ['csv', 'LINT_GOES_ON', '      clear_error\n      continue\n', '      clear_error\n'],
  ['approvals', 'LINT_GOES_ON', '      clear_error\n      continue\n', '      clear_error\n'],
  ['tickets', 'LINT_PATTERN', String.raw`'''(?i)\b(down|500)\b'''`, String.raw`"(?i)\b(down|500)\b"`],
  ['logs', 'LINT_PLAIN_TEMPLATE', '```{{key}}: {{count}}```', '"{{key}}: {{count}}"'],
  ['pagination', 'LINT_LOGIC_VALUE', 'set cursor = page.next\n', 'set cursor = page.next or nil\n'],
];

/** Lints that have edits. What the others find has more than one likely meaning. */
const MENDED: readonly string[] = ['LINT_GOES_ON', 'LINT_PATTERN'];

describe('issue 50: six jobs', () => {
  it('are all that the folder has, and each has a mistake here', () => {
    const programs = globSync('examples/jobs/*.ns', { cwd: ROOT, exclude: ['**/*.test.ns'] }).map((path) =>
      basename(path, '.ns'),
    );
    expect(programs.sort()).toEqual([...JOBS]);
    expect([...new Set(MISTAKES.map(([job]) => job))].sort()).toEqual([...JOBS]);
    for (const [job, lint] of MISTAKES) expect(text('README.md')).toMatch(new RegExp(`^\\| \`${job}\` .*${lint}`, 'm'));
  });

  it.each(JOBS)('%s does what its test says, without a finding', async (job) => {
    const at = join(ROOT, 'examples/jobs');
    const tested = await within(['test', join(at, `${job}.test.ns`), ...rules(job, at)]);
    expect(tested).toMatchObject({ code: 0, stdout: expect.stringContaining('1 passed, 0 failed') });
    const checked = await within(['check', '--strict', join(at, `${job}.ns`), ...rules(job, at)]);
    expect(checked).toMatchObject({ code: 0, stdout: expect.stringContaining('no mistakes found') });
  });

  it.each(MISTAKES)(
    '%s: %s finds the mistake that the test of the job fails for; a fix mends it',
    async (job, lint, right, wrong) => {
      const program = text(`${job}.ns`);
      expect(program).toContain(right);
      const names = [`${job}.yaml`, `${job}.test.ns`, ...(job === 'approvals' ? ['approvals.policy.yaml'] : [])];
      const files = Object.fromEntries(names.map((name) => [name, text(name)]));
      const at = folder({ ...files, [`${job}.ns`]: program.replace(right, wrong) });
      const test = () => within(['test', join(at, `${job}.test.ns`), ...rules(job, at)]);
      expect((await test()).code).toBe(1);
      const found = JSON.parse((await within(['check', '--json', join(at, `${job}.ns`), ...rules(job, at)])).stdout);
      expect(found.map(({ code }: { readonly code: string }) => code)).toContain(lint);
      await within(['check', '--fix', '--proposed', join(at, `${job}.ns`), ...rules(job, at)]);
      expect((await test()).code).toBe(MENDED.includes(lint) ? 0 : 1);
    },
  );
});
