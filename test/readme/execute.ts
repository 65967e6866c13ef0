import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { ROOT } from '../architecture/source.ts';
import type { Block } from './blocks.ts';

/** Runs a block from the root of the repository, as a reader would: with the repository's own commands in the path. */
export function execute({ language, code }: Pick<Block, 'language' | 'code'>): {
  status: number | null;
  stdout: string;
  stderr: string;
} {
  const env = {
    PATH: `${join(ROOT, 'node_modules', '.bin')}${delimiter}${process.env.PATH}`,
    HOME: process.env.HOME,
    NO_COLOR: '1',
    // The blocks load the same modules.
    NODE_COMPILE_CACHE: join(ROOT, '.cache', 'compiled'),
    // A page shows what its program prints, on machines without a launcher as well.
    NODE_OPTIONS: '--disable-warning=NEUROSCRIPT_NO_LAUNCHER',
  };
  const options = { cwd: ROOT, env, encoding: 'utf8', input: '', timeout: 45_000 } as const;
  // within the repository, so that the package's own name resolves
  mkdirSync(join(ROOT, '.cache'), { recursive: true });
  if (language === 'sh') return spawnSync('bash', ['--norc', '-euo', 'pipefail', '-c', code], options);
  const folder = mkdtempSync(join(ROOT, '.cache', 'readme-'));
  try {
    const file = join(folder, 'example.ts');
    writeFileSync(file, code);
    return spawnSync(process.execPath, [file], options);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
