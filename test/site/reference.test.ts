import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commandLinePage } from '../../apps/site/commandline.ts';
import { errorsPage, type Listed, schemasPage } from '../../apps/site/lists.ts';
import { ROOT } from '../architecture/source.ts';
import { definitions } from '../cli/definitions.ts';

const listed = (pattern: string): Listed[] =>
  globSync(pattern, { cwd: ROOT }).map((path) => ({ file: basename(path), text: readFileSync(join(ROOT, path), 'utf8') }));

describe('the generated reference', () => {
  it('describes every command and every visible option', async () => {
    const program = await definitions();
    const page = commandLinePage(program);
    const commands = program.commands.flatMap((command) => [command, ...command.commands]);
    expect(commands.length).toBeGreaterThan(30);
    for (const { options } of commands)
      for (const { flags, hidden } of options) if (!hidden) expect(page).toContain(`| \`${flags.replaceAll('|', '\\|')}\` | `);
    for (const command of program.commands) {
      expect(page).toContain(`\n## ${command.name()}\n`);
      for (const sub of command.commands) expect(page).toContain(`\n### ${command.name()} ${sub.name()}\n`);
    }
  });

  it('lists every error code with its name and its meaning', () => {
    const pages = listed('docs/errors/*.md');
    const page = errorsPage(pages);
    const rows = page.split('\n').filter((line) => line.startsWith('| [`'));
    expect(rows).toHaveLength(pages.length);
    expect(rows).toContain('| [`NS14`](./NS14.md) | DivisionByZero | A division or remainder has the divisor zero. |');
    expect(rows.filter((row) => row.includes('| |') || row.includes('|  |'))).toEqual([]);
  });

  it('lists every schema with what it describes', () => {
    const schemas = listed('docs/schemas/*.json');
    const rows = schemasPage(schemas)
      .split('\n')
      .filter((line) => line.startsWith('| [`'));
    expect(rows).toHaveLength(schemas.length);
    expect(rows.filter((row) => row.endsWith('|  |'))).toEqual([]);
  });
});
