import { existsSync } from 'node:fs';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import type { Command } from 'commander';
import { printable } from '../../report/index.ts';
import { VERSION } from '../../runtime/version.ts';
import { PACKAGE } from '../packagefiles.ts';
import { EXIT, type ExitCode } from '../terminal/exit.ts';
import { UsageError } from '../terminal/failure.ts';
import { fileTrouble } from '../terminal/input.ts';
import type { Execute, Terminal } from '../terminal/terminal.ts';
import { folderToWrite } from '../terminal/write.ts';

const TEMPLATES = new URL('examples/templates/', PACKAGE);

const DETAILS = `
Writes tools, a policy, a program, its test, an agent's transcript and a README
that says how to run them; with --service also a Fastify service. A package.json
that is there stays as it is. The command overwrites nothing.
`;

/** `init [DIR]`: writes a project to start from. */
export function addInit(program: Command, execute: Execute): void {
  program
    .command('init')
    .summary('write a project to start from')
    .description('Writes a project that runs: tools, policy, program, test, agent and README.')
    .argument('[DIR]', 'where; made if it is missing', '.')
    .option('--service', 'with a Fastify service')
    .addHelpText('after', DETAILS)
    .action(execute(init));
}

async function init(dir: string, { service }: { readonly service?: true }, terminal: Terminal): Promise<ExitCode> {
  const files = new Map(await templateOf('agent/'));
  if (service) for (const [name, text] of await templateOf('service/')) files.set(name, text);
  if (existsSync(join(dir, MANIFEST))) files.delete(MANIFEST);
  else files.set(MANIFEST, manifestOf(files.get(MANIFEST) ?? '', dir));
  const taken = [...files.keys()].filter((name) => existsSync(join(dir, name)));
  if (taken.length > 0) throw new UsageError(`${printable(dir)} has ${taken.join(', ')} already; 'init' overwrites nothing`);
  const begun: string[] = [];
  const made = folderToWrite(dir);
  try {
    for (const [name, text] of files) {
      begun.push(join(dir, name));
      await writeFile(join(dir, name), text, { flag: 'wx' });
    }
  } catch (error) {
    // Files of half a project, as of a full disk, would refuse the next attempt. A file that somebody else just made stays.
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') begun.pop();
    for (const file of begun) await rm(file, { force: true });
    if (made !== undefined) await rm(made, { recursive: true, force: true });
    throw new UsageError(`cannot write to ${printable(dir)}: ${fileTrouble(error)}`, { cause: error });
  }
  for (const name of [...files.keys()].sort()) terminal.out.line(printable(join(dir, name)));
  const step = dir === '.' ? '' : `cd ${/^[\w./-]+$/.test(dir) ? dir : JSON.stringify(printable(dir))} && `;
  terminal.err.prose(`Next: ${step}npm install; README.md has the commands.`);
  return EXIT.ok;
}

const MANIFEST = 'package.json';

/** The files of a template by the names that they get. npm packs no file named `.gitignore`. */
async function templateOf(folder: string): Promise<[name: string, text: string][]> {
  const names = await readdir(new URL(folder, TEMPLATES));
  return Promise.all(
    names.map(async (name) => [
      name === 'gitignore' ? '.gitignore' : name,
      await readFile(new URL(`${folder}${name}`, TEMPLATES), 'utf8'),
    ]),
  );
}

/** The template's package.json with a name after the folder, and this version of the package. */
function manifestOf(template: string, dir: string): string {
  const name = basename(resolve(dir))
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, '-')
    .replace(/^-+|-+$/g, '');
  return template
    .replace('"name": "starter"', `"name": "${name === '' ? 'starter' : name}"`)
    .replace('"neuroscript-runtime": "*"', `"neuroscript-runtime": "^${VERSION}"`);
}
