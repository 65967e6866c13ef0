import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import type { CodeAction, CompletionItem, Hover, Location, SignatureHelp, TextEdit, WorkspaceEdit } from 'vscode-languageserver';
import { TextDocument } from 'vscode-languageserver-textdocument';
import { tempFolder } from '../folder.ts';
import { SLOW } from '../groups.ts';
import { Client } from '../lsp/client.ts';
import { CORPUS, wholeCheck } from '../lsp/corpus.ts';

const TOOLS = `tools:
  tool.shop.Price:
    description: The price of an item.
    args: [item]
    cases: [{ returns: 3 }]
  tool.shop.Pay:
    args: [amount]
    cases: [{ returns: paid }]
`;

const LIBRARY = `# Doubles a number.
func twice(needs number returns result) means
  return number * 2
endfunc
`;
const PROGRAM = `command
  set price = tool.shop.Price("pen")
  emit twice(price)
endcommand
`;

function project(): { readonly folder: string; readonly library: string; readonly program: string } {
  const folder = tempFolder();
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return `file://${join(folder, name)}`;
  };
  file('tools.yaml', TOOLS);
  file('policy.yaml', 'allow: [tool.shop.price, tool.str.*]\n');
  return { folder, library: file('library.ns', LIBRARY), program: file('program.ns', PROGRAM) };
}

function applied(uri: string, text: string, edits: readonly TextEdit[] = []): string {
  return TextDocument.applyEdits(TextDocument.create(uri, 'neuroscript', 1, text), [...edits]);
}

describe('neuroscript lsp', () => {
  it('completes, explains, checks, fixes and renames across files, with the tools and the policy of the folder', async () => {
    const { folder, library, program } = project();
    await using client = await Client.start(folder);
    await client.open(program, PROGRAM);
    // The server reads the folder meanwhile, and then finds `twice` in the library.
    await vi.waitFor(() => expect(client.problems.get(program)).toEqual([]), 15_000);

    expect(client.shown).toEqual([]);
    const typed = PROGRAM.replace('emit twice(price)', 'emit tool.shop.P');
    await client.tell('textDocument/didChange', {
      textDocument: { uri: program, version: 2 },
      contentChanges: [{ text: typed }],
    });
    const tools = await client.at<CompletionItem[]>('completion', program, 2, 18);
    expect(tools.map(({ label, detail }) => [label, detail])).toEqual([
      ['tool.shop.Price', 'tool.shop.Price(item?)'],
      ['tool.shop.Pay', expect.stringMatching(/^denied: /)],
    ]);
    expect(applied(program, typed, tools[0]?.textEdit === undefined ? [] : [tools[0].textEdit as TextEdit])).toContain(
      'emit tool.shop.Price\n',
    );

    const wrong = PROGRAM.replace('twice(price)', 'twise(price) + tool.shop.Pay(1)');
    await client.tell('textDocument/didChange', {
      textDocument: { uri: program, version: 3 },
      contentChanges: [{ text: wrong }],
    });
    await vi.waitFor(() =>
      expect(client.problems.get(program)?.map(({ code }) => code)).toEqual(['LINT_UNKNOWN_PROCEDURE', 'LINT_DENIED_TOOL']),
    );
    const range = { start: { line: 2, character: 8 }, end: { line: 2, character: 8 } };
    const [fix] = await client.ask<CodeAction[]>('textDocument/codeAction', {
      textDocument: { uri: program },
      range,
      context: { diagnostics: [] },
    });
    expect(applied(program, wrong, fix?.edit?.changes?.[program])).toContain('emit twice(price)');

    await client.tell('textDocument/didChange', {
      textDocument: { uri: program, version: 4 },
      contentChanges: [{ text: PROGRAM }],
    });
    const hover = await client.at<Hover>('hover', program, 2, 9);
    expect(hover.contents).toMatchObject({ value: expect.stringContaining('Doubles a number') });
    const help = await client.at<SignatureHelp>('signatureHelp', program, 2, 14);
    expect(help.signatures[0]?.label).toBe('func twice(needs number returns result)');
    const definition = await client.at<Location>('definition', program, 2, 9);
    expect(definition).toMatchObject({ uri: library, range: { start: { line: 1, character: 5 } } });

    const rename = await client.at<WorkspaceEdit>('rename', program, 2, 9, { newName: 'doubled' });
    expect(applied(library, LIBRARY, rename.changes?.[library])).toBe(LIBRARY.replace('twice', 'doubled'));
    expect(applied(program, PROGRAM, rename.changes?.[program])).toBe(PROGRAM.replace('twice', 'doubled'));
    await expect(client.at('rename', program, 2, 9, { newName: 'len' })).rejects.toThrow('`len` is a keyword');
    expect(await client.end()).toBe(0);
  });

  it('stays right, and does not grow, over 10,000 edits', { ...SLOW, timeout: 300_000 }, async () => {
    await using client = await Client.start(null);
    const uri = 'file:///edited.ns';
    const random = seeded(11);
    const pieces = ['x', ' ', '\n', '"', '```', 'endfunc\n', 'if ', '(', ']', '😀', '\r\n', '# c', 'tool.str.', 'eval('];
    let document = TextDocument.create(uri, 'neuroscript', 1, CORPUS[0] ?? '');
    await client.open(uri, document.getText());
    let early = 0;
    for (let version = 2; version <= 10_001; version++) {
      const length = document.getText().length;
      const from = Math.floor(random() * (length + 1));
      const to = Math.min(length, from + (random() < 0.45 ? Math.floor(random() * 8) : 0));
      const range = { start: document.positionAt(from), end: document.positionAt(to) };
      const fresh = version % 50 === 0;
      const text = fresh
        ? (CORPUS[Math.floor(random() * CORPUS.length)] ?? '')
        : (pieces[Math.floor(random() * pieces.length)] ?? '');
      const change = fresh ? { text } : { range, text };
      document = TextDocument.update(document, [change], version);
      await client.tell('textDocument/didChange', { textDocument: { uri, version }, contentChanges: [change] });
      if (version % 25 !== 0) continue;
      const { line, character } = document.positionAt(Math.floor(random() * document.getText().length));
      await client.at('completion', uri, line, character);
      await client.at('hover', uri, line, character);
      await client.at('references', uri, line, character, { context: { includeDeclaration: true } });
      await client.ask('textDocument/semanticTokens/full', { textDocument: { uri } });
      // The server knows how many arguments the standard tools take.
      const problems = (client.problems.get(uri) ?? []).filter(({ code }) => code !== 'LINT_ARGUMENT_COUNT');
      const whole = wholeCheck(document.getText())?.filter(({ code }) => code !== 'LINT_ARGUMENT_COUNT') ?? null;
      if (whole === null) expect(problems.some(({ code }) => code === 'SYNTAX')).toBe(true);
      else expect(problems.length, document.getText()).toBe(whole.length);
      for (const { range: place } of problems) {
        expect(document.positionAt(document.offsetAt(place.start))).toEqual(place.start);
        expect(document.positionAt(document.offsetAt(place.end))).toEqual(place.end);
      }
      if (version === 5000) early = residentKb(client.process.pid);
    }
    expect(residentKb(client.process.pid) / early).toBeLessThan(1.5);
    expect(await client.end()).toBe(0);
  });

  it('goes on with the tools that it has when a tools file is wrong, and says so', async () => {
    const { folder, program } = project();
    writeFileSync(join(folder, 'tools.yaml'), 'tools: [1\n');
    await using client = await Client.start(folder);
    await client.open(program, PROGRAM);
    await vi.waitFor(() => expect(client.shown).toEqual([expect.stringContaining('tools.yaml')]), 15_000);
    expect((await client.at<CompletionItem[]>('completion', program, 1, 14)).length).toBeGreaterThan(0);
  });

  it('runs no module of the folder that no flag names', async () => {
    const { folder, program } = project();
    writeFileSync(
      join(folder, 'tools.mjs'),
      `import { writeFileSync } from 'node:fs'; writeFileSync(${JSON.stringify(join(folder, 'ran'))}, '');`,
    );
    await using client = await Client.start(folder);
    await client.open(program, PROGRAM);
    await vi.waitFor(() => expect(client.problems.get(program)).toEqual([]), 15_000);
    expect(() => readFileSync(join(folder, 'ran'))).toThrow('ENOENT');
  });

  it('finding 9: ends with a client that ends in the middle of a message', async () => {
    await using client = await Client.start(null);
    client.process.stdin?.end('Content-Length: 99999999999\r\n\r\n{');
    await vi.waitFor(() => expect(client.process.exitCode).toBe(1), 15_000);
  });

  it('ends with its client', async () => {
    await using client = await Client.start(null);
    client.process.stdin?.end();
    await vi.waitFor(() => expect(client.process.exitCode).toBe(1), 10_000);
  });
});

function residentKb(pid: number | undefined): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
}

function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
