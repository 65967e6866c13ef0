import { describe, expect, it } from 'vitest';
import { format } from '../../grammar/index.ts';
import { problemsOf, type Surroundings } from '../../src/lsp/diagnose.ts';
import { SourceDocument } from '../../src/lsp/document.ts';
import { semanticTokens } from '../../src/lsp/highlight.ts';
import { folds, outline } from '../../src/lsp/outline.ts';
import { layoutEdits } from '../../src/lsp/requests.ts';
import { cpuMs } from '../cost.ts';
import { SLOW } from '../groups.ts';
import { CORPUS, wholeCheck } from './corpus.ts';

const ALONE: Surroundings = { key: '', environment: {}, procedures: new Map() };

function problems(document: SourceDocument) {
  return problemsOf(document, ALONE);
}

/** Findings in the form of the whole check: code, and places in lines and code points from 1. */
function places(text: string, document: SourceDocument): readonly string[] {
  const lines = text.replace(/\r\n?/g, '\n').split('\n');
  const column = (line: number, character: number) => [...(lines[line] ?? '').slice(0, character)].length + 1;
  return problems(document)
    .map(({ code, range: { start, end }, message }) => {
      const from = `${start.line + 1}:${column(start.line, start.character)}`;
      return `${code} ${from}-${end.line + 1}:${column(end.line, end.character)} ${message}`;
    })
    .sort();
}

function expected(text: string): readonly string[] | null {
  const found = wholeCheck(text);
  return (
    found?.map((one) => `${one.code} ${one.line}:${one.column}-${one.endLine}:${one.endColumn} ${one.message}`).sort() ?? null
  );
}

/** Every range lies in the document. */
function expectInside(document: SourceDocument): void {
  for (const { range } of problems(document))
    for (const { line, character } of [range.start, range.end]) {
      expect(line).toBeLessThan(document.lineCount);
      expect(character).toBeLessThanOrEqual(document.line(line).length);
    }
}

describe('a document in pieces', () => {
  it('says of every program of the conformance suite what the whole check says', () => {
    let intact = 0;
    for (const text of CORPUS) {
      const document = new SourceDocument('file:///a.ns', text);
      const whole = expected(text);
      expect(document.broken, text).toBe(whole === null);
      expectInside(document);
      if (whole === null) continue;
      intact += 1;
      expect(places(text, document), text).toEqual(whole);
    }
    expect(intact).toBeGreaterThan(450);
  });

  it.each([
    ['a mix of commands and definitions', 'command\n  emit 1\nendcommand\nfunc f() means\n  emit 1\nendfunc\n'],
    ['two procedures of one name', 'func f() means\n  emit 1\nendfunc\nfunc f() means\n  emit 2\nendfunc\n'],
    ['metadata between two blocks', 'command\n  emit 1\nendcommand\n:: a: b\ncommand\n  emit 2\nendcommand\n'],
    ['text that looks like a definition', 'func f() means\n  emit ```\nfunc g() means\n```\nendfunc\n'],
    ['text that looks like the end of a definition', 'func f() means\n  emit ```\nendfunc\n```\nendfunc\n'],
    ['a definition that is not closed', 'func f() means\n  emit 1\nfunc g() means\n  emit 2\nendfunc\n'],
    [
      'double brackets',
      ':: strings: double-bracket\nfunc f(needs a) means\n  emit [[{{a}}]]\nendfunc\nfunc g() means\n  emit [[1]]\nendfunc',
    ],
    [
      'a placeholder that eval in another procedure fills',
      'func f() means\n  emit "{{a}}"\nendfunc\nfunc g(needs x) means\n  emit eval(x)\nendfunc\n',
    ],
    ['control characters and astral characters', 'command\n  emit \u0001"😀" + unknown\u0002 + "x"\nendcommand\n'],
    ['line ends of Windows', 'command\r\n  emit "😀" + unknown\r\nendcommand\r\n'],
    ['nothing', ''],
  ])('agrees with the whole check about %s', (_, text) => {
    const document = new SourceDocument('file:///a.ns', text);
    const whole = expected(text);
    expect(document.broken).toBe(whole === null);
    expectInside(document);
    if (whole !== null && !text.includes('\u0001')) expect(places(text, document)).toEqual(whole);
  });

  it('keeps the findings of two equal blocks apart, from one version to the next', () => {
    const text = 'command\n  set x = 1\nendcommand\n'.repeat(3);
    const first = new SourceDocument('file:///a.ns', text);
    expect(places(text, first)).toEqual(expected(text));
    expect(places(text, new SourceDocument('file:///a.ns', text, first))).toEqual(expected(text));
    const longer = `${text}command\n  emit x\nendcommand\n`;
    expect(places(longer, new SourceDocument('file:///a.ns', longer, first))).toEqual(expected(longer));
  });

  it('shows a finding behind removed control characters where the editor shows the name', () => {
    const document = new SourceDocument('file:///a.ns', 'command\n  emit \u0001"😀" + unknown\u0002\nendcommand\n');
    const [found] = problems(document);
    const line = document.line(1);
    expect(found === undefined ? '' : line.slice(found.range.start.character, found.range.end.character)).toBe('unknown');
  });

  it('is right after each of 2,000 random edits', () => {
    const random = seeded(7);
    const insertions = [
      'x',
      'together\n',
      'endtogether\n',
      ' ',
      '\n',
      '"',
      '```',
      'endfunc\n',
      'func q() means\n',
      'if ',
      '(',
      ']',
      '😀',
      '\u0001',
      '\r\n',
      '# c',
      'eval(',
      ':: k: v\n',
    ];
    let text = CORPUS.slice(0, 3).join('\n');
    let document = new SourceDocument('file:///a.ns', text);
    for (let round = 0; round < 2000; round++) {
      if (round % 40 === 0) text = CORPUS[Math.floor(random() * CORPUS.length)] ?? '';
      const at = Math.floor(random() * (text.length + 1));
      const deleted = random() < 0.4 ? Math.floor(random() * 6) : 0;
      const inserted = random() < 0.7 ? (insertions[Math.floor(random() * insertions.length)] ?? '') : '';
      text = text.slice(0, at) + inserted + text.slice(at + deleted);
      document = new SourceDocument('file:///a.ns', text, document);
      const whole = wholeCheck(text);
      if (document.broken !== (whole === null)) expect.fail(`seed 7, round ${round}: ${JSON.stringify(text)}`);
      if (whole !== null && problems(document).length !== whole.length)
        expect.fail(`seed 7, round ${round}: ${JSON.stringify(text)}`);
      if (round % 10 !== 0) continue;
      expectInside(document);
      expect(semanticTokens(document).data.length % 5).toBe(0);
      folds(document);
      outline(document);
    }
  });

  it('lets an edit of a long file cost at most a quarter of a full check', SLOW, () => {
    const long = LONG;
    let document = new SourceDocument('file:///a.ns', long);
    problems(document);
    const at = long.indexOf('sum = 0', long.length / 2) + 'sum = 0'.length;
    const full = cpuMs(() => wholeCheck(long), 8);
    let round = 0;
    const edit = cpuMs(
      () => {
        round += 1;
        document = new SourceDocument('file:///a.ns', `${long.slice(0, at)}${round}${long.slice(at)}`, document);
        problems(document);
      },
      20,
      full * 0.25,
    );
    expect(long.split('\n').length).toBeGreaterThan(5000);
    expect(edit / full).toBeLessThan(0.25);
  });
});

describe('formatting', () => {
  it('applies to the same text as the formatter, by the lines that differ', () => {
    for (const text of CORPUS) {
      const result = format(text, { name: '' });
      if (!result.ok) continue;
      expect(applied(text, new SourceDocument('file:///a.ns', text)), text).toBe(result.text);
    }
  });

  it('changes one line where one line differs', () => {
    const document = new SourceDocument('file:///a.ns', 'command\n  emit 1\n     emit   2\n  emit 3\nendcommand\n');
    expect(layoutEdits(document)).toEqual([
      { range: { start: { line: 2, character: 0 }, end: { line: 3, character: 0 } }, newText: '  emit 2\n' },
    ]);
  });
});

function applied(text: string, document: SourceDocument): string {
  const [edit] = layoutEdits(document);
  if (edit === undefined) return text;
  const lines = text.split('\n');
  const offset = ({ line, character }: { line: number; character: number }) =>
    lines.slice(0, line).reduce((sum, each) => sum + each.length + 1, 0) + character;
  return text.slice(0, offset(edit.range.start)) + edit.newText + text.slice(offset(edit.range.end));
}

const LONG = Array.from({ length: 315 }, (_, index) =>
  [
    `# Adds the prices of list ${index}.`,
    `func total_${index}(needs items optional factor returns sum) means`,
    '  set sum = 0',
    '  for each item in items',
    '    if item["price"] > 10 and item["count"] != nil',
    '      set sum = sum + item["price"] * item["count"]',
    '    else',
    '      set sum = sum + 1',
    '    endif',
    '  endfor',
    '  must sum >= 0',
    '  on error do',
    '    emit "failed: " + system_error_message',
    '  endon',
    '  return sum',
    'endfunc\n',
  ].join('\n'),
).join('');

function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

it('takes time in proportion to the number of command blocks', SLOW, () => {
  const blocks = (count: number) => () =>
    problems(new SourceDocument('file:///a.ns', 'command\n  emit 1\nendcommand\n'.repeat(count)));
  const allowed = cpuMs(blocks(2000), 3) * 10;
  expect(cpuMs(blocks(8000), 3, allowed)).toBeLessThan(allowed);
});

it('a source that is longer than any program counts as empty, and has one error', () => {
  const line = 'emit 1\n';
  const longest = new SourceDocument('file:///a.ns', line.repeat(2 ** 20 / 7));
  expect([longest.tooLong, longest.lineCount]).toEqual([false, Math.floor(2 ** 20 / 7) + 1]);
  const document = new SourceDocument('file:///a.ns', line.repeat(2 ** 20 / 7 + 1), longest);
  expect(problems(document).map(({ code, message }) => [code, message])).toEqual([
    ['SYNTAX', 'the source is larger than 1048576 bytes'],
  ]);
  expect([document.lineCount, layoutEdits(document), outline(document), folds(document)]).toEqual([1, [], [], []]);
});
