import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { inject, onTestFinished } from 'vitest';
import { ROOT } from '../architecture/source.ts';
import type { OtherNode } from '../machine/node.ts';

/** The package of the tools for these tests. */
export const TOOLS = join(ROOT, 'apps/lab/package');

/** The entry points, as others write them. */
export const ENTRIES: readonly string[] = Object.entries<unknown>(
  JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).exports,
).flatMap(([name, target]) => (typeof target === 'string' ? [] : [`neuroscript-runtime${name.slice(1)}`]));

/** The versions of Node that these tests run on. */
export const MAJORS = [20, 22, 24, 26] as const;

/** What `setup.ts` makes once for all files. */
export interface Prepared {
  /** The tarball that `npm pack` made of this checkout. */
  readonly tarball: string;
  /** The tarball of the package that brings all optional packages along. */
  readonly command: string;
  /** A project in which both tarballs and `@types/node` are installed. */
  readonly project: string;
  /** A cache of npm that shares the downloads of this machine's, but no package that `npx` has installed. */
  readonly cache: string;
  /** In the order of {@link MAJORS}. */
  readonly nodes: readonly OtherNode[];
}

declare module 'vitest' {
  interface ProvidedContext {
    readonly prepared: Prepared;
  }
}

export const prepared = (): Prepared => inject('prepared');

/** The Node of a major version. */
export function nodeOf(major: (typeof MAJORS)[number]): OtherNode {
  const node = prepared().nodes[MAJORS.indexOf(major)];
  if (node === undefined) throw new Error(`there is no Node ${major}`);
  return node;
}

export const installed = (): string => join(prepared().project, 'node_modules', 'neuroscript-runtime');

export interface Outcome {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface Call {
  readonly cwd: string;
  readonly input?: string;
  /** The Node that the command and everything that it starts run on. */
  readonly node?: string;
  /** Folders that come before the others of the search path. */
  readonly path?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
}

/** Settings of npm for these tests: what it has downloaded before is good, and nobody reads what else it says. */
const NPM = {
  npm_config_prefer_offline: 'true',
  npm_config_audit: 'false',
  npm_config_fund: 'false',
  npm_config_update_notifier: 'false',
};

/** The environment of this process without what `npm run` has put into it, but with the machine's certificates. */
function environment({ cwd, node = process.execPath, path = [], env = {} }: Call): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !/^(npm_|INIT_CWD|NODE(?!_EXTRA_CA_CERTS))/.test(name));
  const search = [dirname(node), ...path, join(cwd, 'node_modules', '.bin'), process.env.PATH ?? ''].join(delimiter);
  return { ...Object.fromEntries(own), NO_COLOR: '1', ...NPM, ...env, PATH: search };
}

/** Runs a command to its end. */
export function run(command: string, args: readonly string[], call: Call): Outcome {
  const { cwd, input = '' } = call;
  const options = { cwd, input, encoding: 'utf8', timeout: 600_000, env: environment(call) } as const;
  const { status, stdout, stderr } = spawnSync(command, args, options);
  return { status, stdout, stderr };
}

/** As {@link succeed}, beside others. */
export async function succeedLater(command: string, args: readonly string[], call: Call): Promise<string> {
  const { stdout } = await promisify(execFile)(command, args, { cwd: call.cwd, timeout: 600_000, env: environment(call) });
  return stdout;
}

/** As {@link run}; returns standard output, and fails with standard error unless the command exits with 0. */
export function succeed(command: string, args: readonly string[], call: Call): string {
  const { status, stdout, stderr } = run(command, args, call);
  if (status !== 0)
    throw new Error(`${command} ${args.join(' ')} exited with ${status}:\n${stdout.slice(-4000)}${stderr.slice(-4000)}`);
  return stdout;
}

/** A folder inside the project, where the installed package is found, with these files; gone when the test is over. */
export function projectOf(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(prepared().project, 'case-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

export const PROGRAM = 'command\n  emit 1 + 2\nendcommand\n';
