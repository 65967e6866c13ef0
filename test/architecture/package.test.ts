import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROOT } from './source.ts';

describe('package.json', () => {
  let folder = '';
  const manifest = (): string => readFileSync(join(folder, 'package.json'), 'utf8');
  const script = (what: string): void => {
    execFileSync(process.execPath, [join(folder, 'scripts', 'pack-bin.mjs'), what]);
  };

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'package-'));
    mkdirSync(join(folder, 'scripts'));
    for (const file of ['package.json', 'scripts/pack-bin.mjs']) copyFileSync(join(ROOT, file), join(folder, file));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('names no command in a checkout, where `npx neuroscript` would install the checkout into a cache', () => {
    expect(JSON.parse(manifest())).not.toHaveProperty('bin');
  });

  it('names the command while it is packed, and is the same file again afterwards', () => {
    const before = manifest();
    script('add');
    expect(JSON.parse(manifest())).toHaveProperty('bin', { neuroscript: 'bin/neuroscript.js' });
    script('remove');
    expect(manifest()).toBe(before);
  });
});
