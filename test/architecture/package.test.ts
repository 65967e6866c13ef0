import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { VERSION } from '../../src/runtime/version.ts';
import { productFiles } from './imports.ts';
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

describe('what a command loads', () => {
  it('imports no built-in module: each import would load all that the module exports', () => {
    const files = globSync('{cli.js,chunks/*.js,src/gate/main.js}', { cwd: join(ROOT, 'dist') });
    const importing = files.filter((file) => /\b(?:from|import) ?["']node:/.test(readFileSync(join(ROOT, 'dist', file), 'utf8')));
    expect(files.length).toBeGreaterThan(50);
    expect(importing).toEqual([]);
  });

  it('makes no formatter of the engine before a text needs it, and lets none format numbers', () => {
    const costly = productFiles().filter(({ text }) => /^(?:export )?const .*new Intl\.|\.toLocaleString\(/m.test(text));
    expect(costly.map(({ path }) => path)).toEqual([]);
  });
});
