import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { type Mutant, withSwitches } from './mutants.ts';

/** In the file that says which mutant is active: none is, and every process records the mutants that it reaches. */
export const RECORD = 'record';

/** A copy of the repository with all mutants of a sample in its sources and in what is built from them. */
export class Workspace {
  readonly root = mkdtempSync(join(tmpdir(), 'mutation-'));

  /** Copies the working tree of `origin` and builds it. A mutant's id is its index plus one. */
  build(origin: string, mutants: readonly Mutant[]): void {
    const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], { cwd: origin, encoding: 'utf8' });
    for (const file of files.split('\0')) if (file !== '') cpSync(join(origin, file), join(this.root, file));
    symlinkSync(join(origin, 'node_modules'), join(this.root, 'node_modules'));
    const numbered = mutants.map((mutant, index) => [index + 1, mutant] as const);
    for (const [file, own] of Map.groupBy(numbered, ([, mutant]) => mutant.file)) {
      const path = join(this.root, file);
      writeFileSync(path, `${withSwitches(readFileSync(path, 'utf8'), own)}\n${this.#switch()}`);
    }
    // The switches hide from the compiler what it knew about types.
    const config = join(this.root, 'tsconfig.build.json');
    writeFileSync(config, readFileSync(config, 'utf8').replace('"noEmit": false,', '"noEmit": false, "noCheck": true,'));
    this.activate(0);
    // Some tests start processes of another user.
    chmodSync(this.root, 0o755);
    writeFileSync(join(this.root, '.reached'), '');
    chmodSync(join(this.root, '.reached'), 0o666);
    execFileSync(process.execPath, ['scripts/build.mjs'], { cwd: this.root, stdio: ['ignore', 'inherit', 'inherit'] });
  }

  /** Says which mutant is active in the processes that start from now on. Zero stands for none. */
  activate(mutant: number | typeof RECORD): void {
    this.write('.mutant', String(mutant));
  }

  /** The id of the active mutant; zero stands for none. */
  active(): number {
    return Number(readFileSync(join(this.root, '.mutant'), 'utf8'));
  }

  write(file: string, text: string): void {
    writeFileSync(join(this.root, file), text);
  }

  lines(file: string): readonly string[] {
    return readFileSync(join(this.root, file), 'utf8')
      .split('\n')
      .filter((line) => line !== '');
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true });
  }

  /** Needs nothing but the global object, because some sources may import nothing of Node. */
  #switch(): string {
    return `function __mutant(id) {
  const state = (globalThis.__mutation ??= (() => {
    const fs = globalThis.process?.getBuiltinModule?.('node:fs');
    return { active: fs?.readFileSync(${JSON.stringify(join(this.root, '.mutant'))}, 'utf8'), seen: new Set(), append: fs?.appendFileSync };
  })());
  if (state.active === '${RECORD}' && !state.seen.has(id)) {
    state.seen.add(id);
    state.append(${JSON.stringify(join(this.root, '.reached'))}, id + ' ');
  }
  return state.active === String(id);
}
`;
  }
}

/** Paths of the TypeScript files below some folders or of the files named, relative to `root`. */
export function filesBelow(root: string, paths: readonly string[]): string[] {
  return paths.flatMap((path) => {
    if (path.endsWith('.ts')) return [path];
    return readdirSync(join(root, path), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
      .map((entry) => relative(root, join(entry.parentPath, entry.name)))
      .sort();
  });
}
