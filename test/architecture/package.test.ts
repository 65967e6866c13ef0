import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { VERSION } from '../../src/runtime/version.ts';
import { ROOT } from './source.ts';

const read = (file: string) => JSON.parse(readFileSync(join(ROOT, file), 'utf8'));

describe('package.json', () => {
  it('has the version that the code and the lock file have', () => {
    const { version } = read('package.json');
    expect([VERSION, read('package-lock.json').version]).toEqual([version, version]);
  });

  it('names the command, so that a folder or a git dependency has one', () => {
    const { bin } = read('package.json');
    expect(Object.keys(bin)).toEqual(['neuroscript']);
    expect(existsSync(join(ROOT, bin.neuroscript))).toBe(true);
  });
});

describe('dist', () => {
  it('has no import of a built-in module in what a command loads: each would load all that the module exports', () => {
    const files = globSync('{cli.js,chunks/*.js,src/gate/main.js}', { cwd: join(ROOT, 'dist') });
    const importing = files.filter((file) => /\b(?:from|import) ?["']node:/.test(readFileSync(join(ROOT, 'dist', file), 'utf8')));
    expect(files.length).toBeGreaterThan(50);
    expect(importing).toEqual([]);
  });
});
