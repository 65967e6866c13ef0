// @module-tag slow
import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { encodeUserdata } from '../../src/aeiou/index.ts';
import { wantedBy } from '../../src/cli/completion/request.ts';
import { SOURCES } from '../../src/cli/completion/values.ts';
import { describe as describeCommands } from '../../src/cli/manual/describe.ts';
import { readManual } from '../../src/cli/manual/read.ts';
import { SqliteStore } from '../../src/loop/sessions/sqlite.ts';
import { newSession } from '../../src/loop/sessions/store.ts';
import { folder, linesOf, neuroscript } from './spawn.ts';
import { within } from './terminal.ts';

const BIN = fileURLToPath(new URL('../../bin/neuroscript.js', import.meta.url));

/** What the command says of a line; the last word is the unfinished one. */
async function following(words: readonly string[], cwd?: string): Promise<{ readonly words: string[]; readonly paths: string }> {
  const { code, stdout, stderr } = await within(['completion', 'bash', '--', ...words], { cwd });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const lines = linesOf(stdout).map((line) => line.split('\t')[0] ?? '');
  return { words: lines.slice(0, -1), paths: lines.at(-1) ?? '' };
}

describe('completion: what can follow', () => {
  it('commands, subcommands and flags', async () => {
    expect((await following(['ex'])).words).toEqual(['explain']);
    expect((await following([''])).words).toContain('completion');
    expect((await following(['sessions', 'c'])).words).toEqual(['complete', 'cancel']);
    expect((await following(['tools', 'm'])).words).toEqual(['mcp']);
    expect((await following(['tools', 'mcp', '--http'])).words).toEqual(['--http']);
    expect(await following(['test', 'conf'])).toEqual({ words: ['conformance'], paths: ':files' });
    expect(await following(['test', 'a.test.ns', 'conf'])).toEqual({ words: [], paths: ':files' });
    expect((await following(['run', 'a.ns', '--to'])).words.slice(0, 2)).toEqual(['--tools', '--tool-calls']);
    expect((await following(['run', '--tools', 'x', '--', '--to'])).words).toEqual([]);
    expect(await following(['nothing', ''])).toEqual({ words: [], paths: ':none' });
  });

  it('tools of --tools on the same line, from mocks and from modules; a file that cannot be read adds none', async () => {
    const cwd = folder({
      'mocks.yaml': 'tools:\n  tool.shop.Order:\n    cases:\n      - returns: 1\n',
      'own.mjs': "export const tools = [{ name: 'tool.own.Hello', description: 'says hello', run: () => 1 }];\n",
    });
    expect((await following(['tools', '--tools', 'mocks.yaml', 'tool.shop'], cwd)).words).toEqual(['tool.shop.Order']);
    expect((await following(['tools', '--tools', 'own.mjs', 'tool.own'], cwd)).words).toEqual(['tool.own.Hello']);
    expect((await following(['tools', '--tools', 'gone.yaml', 'tool.str.Sp'], cwd)).words).toContain('tool.str.Split');
    expect((await following(['tools', '--tools', 'own.mjs', 'TOOL.own.h'], cwd)).words).toEqual(['tool.own.Hello']);
  });

  it('values of flags: those that the flag names, and files and folders', async () => {
    expect((await following(['tools', '--format', ''])).words).toEqual(['text', 'json', 'schema', 'prompt', 'md']);
    expect((await following(['tools', '--format=p'])).words).toEqual(['--format=prompt']);
    expect(await following(['run', '--tools', ''])).toEqual({ words: [], paths: ':files' });
    expect((await following(['run', '--tools=x'])).paths).toBe(':files');
    expect((await following(['gate', 'verify', '--queue', ''])).paths).toBe(':none');
    expect((await following(['gate', 'propose', '--queue', ''])).paths).toBe(':folders');
    expect(await following(['run', '--fuel', ''])).toEqual({ words: [], paths: ':none' });
    expect(await following(['loop', '--agent', 'script:x'])).toEqual({ words: [], paths: ':files' });
    expect((await following(['loop', '--agent', 's'])).words).toEqual(['script:']);
    expect((await following(['bench', 'tu'])).words).toEqual(['turns']);
    expect((await following(['run', ''])).paths).toBe(':files');
  });

  it('codes, tools, and the sessions of the store that the line names', async () => {
    expect((await following(['explain', 'ERR_Q'])).words).toEqual(['ERR_QUOTA']);
    expect((await following(['tools', 'tool.math.D'])).words).toEqual(['tool.math.Divide']);
    const cwd = folder({});
    {
      using store = await SqliteStore.open(join(cwd, 's.db'));
      for (const sid of ['one', 'two', 'e\u001b[2J'])
        await store.create(newSession(sid, encodeUserdata({ subject: 'x', fields: {} })), 0);
    }
    expect((await following(['sessions', 'show', '--store', 's.db', ''], cwd)).words).toEqual(['one', 'two']);
    expect(await following(['replay', '--store=s.db', 't'], cwd)).toEqual({ words: ['two'], paths: ':files' });
    expect((await following(['sessions', 'show', '--store', 'none.db', ''], cwd)).words).toEqual([]);
  });

  it('every placeholder for files, folders and sessions has its values in the table, which has no other', async () => {
    const { pages } = await describeCommands();
    const values = pages.flatMap(({ flags, operands }) => [...flags.flatMap(({ value }) => value ?? []), ...operands]);
    const names = new Set(values.filter(({ choices }) => choices.length === 0).map(({ name }) => name));
    expect([...names].filter((name) => /FILE|DIR|SID/i.test(name) && !Object.hasOwn(SOURCES, name))).toEqual([]);
    expect(Object.keys(SOURCES).filter((name) => !names.has(name))).toEqual([]);
  });

  it('the built manual is that of the commands', async () => {
    expect(readManual()).toEqual(JSON.parse(JSON.stringify(await describeCommands())));
  });

  it('reads a line to its unfinished word', async () => {
    const wanted = wantedBy(['loop', '--max-turns', '3', '--agent=script:x', '--system', 'a'], await describeCommands());
    expect(wanted).toMatchObject({ command: 'loop', value: { name: 'FILE' }, before: '', typed: 'a' });
    expect(Object.fromEntries(wanted.given)).toEqual({ '--max-turns': '3', '--agent': 'script:x' });
  });
});

describe('completion in bash', () => {
  /** The words that bash itself would offer with this script after it split a line as it does. */
  async function offeredBy(script: string, words: readonly string[], cwd: string): Promise<string[]> {
    const quoted = words.map((word) => `'${word}'`).join(' ');
    const line = `COMP_WORDS=(neuroscript ${quoted}); COMP_CWORD=${words.length}; _neuroscript neuroscript; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const bin = join(cwd, 'bin');
    mkdirSync(bin, { recursive: true });
    const path = `${bin}:${process.env['PATH']}`;
    await promisify(execFile)('ln', ['-sf', BIN, join(bin, 'neuroscript')]);
    chmodSync(BIN, 0o755);
    const { stdout, stderr } = await promisify(execFile)('bash', ['--norc', '-c', `${script}\n${line}`], {
      cwd,
      env: { ...process.env, PATH: path },
    });
    expect(stderr).toBe('');
    return linesOf(stdout);
  }

  it('offers commands, values and files, and only the last part of a word that bash splits', async () => {
    const cwd = folder({ 'tools.yaml': '', 'turn.txt': '', 'with blank.txt': '' });
    const { stdout: script } = await neuroscript(['completion', 'bash']);
    const offered = (words: readonly string[]) => offeredBy(script, words, cwd);
    expect(await offered(['expl'])).toEqual(['explain']);
    expect(await offered(['run', '--tools', 'to'])).toEqual(['tools.yaml']);
    expect(await offered(['run', '--tools', '=', 'to'])).toEqual(['tools.yaml']);
    expect(await offered(['tools', '--format', '='])).toEqual(['text', 'json', 'schema', 'prompt', 'md']);
    expect(await offered(['tools', '--format', '=', 'pr'])).toEqual(['prompt']);
    expect(await offered(['loop', '--agent', 'script', ':', 'tu'])).toEqual(['turn.txt']);
    expect(await offered(['inspect', 'wi'])).toEqual(['with blank.txt']);
  });
});
