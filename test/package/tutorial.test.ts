// @module-tag slow
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROOT } from '../architecture/source.ts';
import { blocksOf, matches } from '../readme/blocks.ts';
import { nodeOf, prepared, succeed } from './kit.ts';

const PAGE = readFileSync(join(ROOT, 'docs', 'tutorial.md'), 'utf8');
const steps = blocksOf(PAGE).filter(({ mark }) => mark !== null && /^(step|file: [\w.-]+)$/.test(mark));

it('the tutorial has files and commands', () => {
  expect(steps.filter(({ mark }) => mark === 'step').length).toBeGreaterThan(9);
  expect(steps.filter(({ mark }) => mark !== 'step').length).toBeGreaterThan(6);
});

// The other tests of commands run on the newest line.
describe('docs/tutorial.md in an empty folder, on the oldest line of Node', () => {
  const node = nodeOf(24);
  let cwd = '';
  beforeAll(() => {
    cwd = mkdtempSync(join(tmpdir(), 'neuroscript-tutorial-'));
  });
  afterAll(() => rmSync(cwd, { recursive: true, force: true }));

  it.each(steps)('the $language block at line $line does what the page says', ({ mark, code, output }) => {
    const [, file] = /^file: (.*)$/.exec(mark ?? '') ?? [];
    if (file !== undefined) {
      writeFileSync(join(cwd, file), code);
      return;
    }
    // The package is on no registry: the tarball takes the place of its name.
    const script = code.replace('npm install neuroscript-runtime', `npm install ${prepared().tarball}`);
    const env = { npm_config_loglevel: 'error' };
    const said = succeed('bash', ['-euo', 'pipefail', '-c', `exec 2>&1\n${script}`], { cwd, node: node.binary, env });
    if (output !== null && !matches(said, output)) expect(said).toBe(output);
  });
});
