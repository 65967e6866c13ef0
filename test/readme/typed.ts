import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../architecture/source.ts';

const OPTIONS = {
  ...{ module: 'nodenext', target: 'es2024', lib: ['es2024', 'esnext.disposable'], types: ['node'] },
  ...{ strict: true, skipLibCheck: true, noEmit: true, allowImportingTsExtensions: true },
};

/** Packages that pages import and readers install; here they have no types. */
const OTHERS = ['@opentelemetry/sdk-node', 'fastify'];

/** What TypeScript says of these modules, by name, against the declarations of the built package. */
export function typeErrors(modules: ReadonlyMap<string, string>): string[] {
  // within the repository, so that the package's own name resolves
  mkdirSync(join(ROOT, '.cache'), { recursive: true });
  const folder = mkdtempSync(join(ROOT, '.cache', 'typed-'));
  try {
    for (const [name, code] of modules) writeFileSync(join(folder, `${name}.ts`), `${code}\nexport {};\n`);
    writeFileSync(join(folder, 'others.d.ts'), OTHERS.map((name) => `declare module '${name}';\n`).join(''));
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: OPTIONS, include: ['*.ts'] }));
    const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
    const { stdout } = spawnSync(process.execPath, [tsc, '-p', folder, '--pretty', 'false'], { cwd: folder, encoding: 'utf8' });
    return stdout.split('\n').filter((line) => line !== '');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
