/** The reference of the command line, made from its own definitions. */
import type { Argument, Command, Option } from 'commander';

/** The page that describes every command and every option of a program. */
export function commandLinePage(program: Command): string {
  const names = program.commands.map((command) => `[\`${command.name()}\`](#${command.name()})`);
  const intro = [
    '# Command line',
    'Made from the definitions that `--help` prints. Every command also has `-h, --help`.',
    names.join(' · '),
    table('option of the program', program.options.map(optionRow)),
  ];
  return `${[...intro, ...program.commands.flatMap((command) => sections(command, ''))].filter((text) => text !== '').join('\n\n')}\n`;
}

function sections(command: Command, path: string): string[] {
  const name = `${path}${command.name()}`;
  const usage = `neuroscript ${path === '' ? '' : path}${command.name()} ${command.usage()}`.trim();
  return [
    `${path === '' ? '##' : '###'} ${name}`,
    sentence(command.description()),
    `\`\`\`text\n${usage}\n\`\`\``,
    table('argument', command.registeredArguments.filter(({ description }) => description !== '').map(argumentRow)),
    table('option', command.options.filter(({ hidden }) => !hidden).map(optionRow)),
    ...command.commands.flatMap((sub) => sections(sub, `${name} `)),
  ];
}

const argumentRow = (argument: Argument): Row => [argument.name(), argument.description];

function optionRow(option: Option): Row {
  const { flags, description, argChoices, defaultValue, defaultValueDescription } = option;
  const choices = argChoices === undefined ? [] : [`one of ${argChoices.map((choice) => `\`${choice}\``).join(', ')}`];
  const chosen = defaultValueDescription ?? (typeof defaultValue === 'string' ? defaultValue : undefined);
  const standard = chosen === undefined ? [] : [`default \`${chosen}\``];
  const notes = [...choices, ...standard].join('; ');
  return [flags, notes === '' ? description : `${description} (${notes})`];
}

type Row = readonly [term: string, meaning: string];

function table(term: string, rows: readonly Row[]): string {
  if (rows.length === 0) return '';
  const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('{{', '&#123;{');
  return [
    `| ${term} | meaning |`,
    '| --- | --- |',
    ...rows.map(([name, text]) => `| \`${name.replaceAll('|', '\\|')}\` | ${cell(text)} |`),
  ].join('\n');
}

const sentence = (text: string): string =>
  text === '' ? '' : `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.:]$/.test(text) ? '' : '.'}`;
