import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { ROOT } from '../architecture/source.ts';

/** Commands of others that pages show and no test runs: they need a network, an engine, or a whole machine. */
const OTHERS = /^(npm (--prefix \S+ )?(ci|install|init|pack|test)\b|docker run |podman run |mkdir |echo |cp |cat )/;

/** What is wrong with the commands of a shell block that is not executed; `program` has the definitions of the command line. */
export function wrongCommands(code: string, program: Command): string[] {
  return commandsOf(code).flatMap((words) => {
    const line = words.join(' ');
    const said = (problem: string | null): string[] => (problem === null ? [] : [`${line}: ${problem}`]);
    const missing = [...line.matchAll(/(?<![\w/.-])(?:examples|conformance|schemas)\/[\w./-]+/g)].find(
      ([path]) => !existsSync(join(ROOT, path)),
    );
    if (missing !== undefined) return said(`${missing[0]} does not exist`);
    const own = /^(npx )?neuroscript /.test(line) ? words.slice(words.indexOf('neuroscript') + 1) : null;
    if (own !== null) return said(wrongUse(own, program));
    if (words[0] === 'npx' && words[1] === 'node') return said(existsSync(join(ROOT, words[2] ?? '')) ? null : 'no such file');
    if (words[0] === 'npm' && words.includes('run')) return said(wrongScript(words));
    return said(OTHERS.test(`${line} `) ? null : 'neither run nor known');
  });
}

/** The simple commands of a block, as words without quotes. */
export function commandsOf(code: string): string[][] {
  // `eval "$(COMMAND)"` executes what the command prints.
  const plain = code.replaceAll(/^eval "\$\((.*?)\)"/gm, '$1');
  const lines = plain.replaceAll(/\\\n\s*/g, ' ').split('\n');
  return lines.flatMap((line) => {
    const words = [...line.matchAll(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g)].map(([word]) => word);
    const comment = words.findIndex((word) => word.startsWith('#'));
    const commands: string[][] = [[]];
    for (const word of comment < 0 ? words : words.slice(0, comment)) {
      if (/^(&&|\|\||\||;)$/.test(word)) commands.push([]);
      else commands.at(-1)?.push(word.replaceAll(/^\(|\)$/g, '').replaceAll(/'([^']*)'|"([^"]*)"/g, (_, one, two) => one ?? two));
    }
    return commands.filter((words) => words.length > 0 && words[0] !== 'cd');
  });
}

function wrongUse(words: readonly string[], program: Command): string | null {
  const ended = words.indexOf('--');
  let rest = (ended < 0 ? words : words.slice(0, ended)).filter((word, index, all) => word !== '<' && all[index - 1] !== '<');
  let command = program;
  for (let sub = named(command, rest[0]); sub !== undefined; sub = named(command, rest[0])) {
    command = sub;
    rest = rest.slice(1);
  }
  if (command === program && rest[0]?.startsWith('-') !== true) return `no command ${rest[0]}`;
  // `gate` reads its words itself.
  if (command.name() === 'gate') return null;
  for (let at = 0; at < rest.length; at++) {
    const word = rest[at] ?? '';
    if (!/^-\D/.test(word) || word === '--help') continue;
    const option = command.options.find(({ long, short }) => long === word || short === word);
    if (option === undefined) return `${command.name()} has no option ${word}`;
    if (option.required && rest[++at] === undefined) return `${word} needs a value`;
  }
  return null;
}

const named = (command: Command, name: string | undefined): Command | undefined =>
  command.commands.find((each) => each.name() === name);

/** `npm run NAME`, or `npm --prefix FOLDER run NAME`. */
function wrongScript(words: readonly string[]): string | null {
  const prefix = words.indexOf('--prefix');
  const folder = prefix < 0 ? '.' : (words[prefix + 1] ?? '');
  const name = words.slice(words.indexOf('run') + 1).find((word) => !word.startsWith('-')) ?? '';
  const { scripts } = JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8'));
  return Object.keys(scripts).includes(name) ? null : `no script ${name} in ${folder}/package.json`;
}
