import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { format, parse } from '../../../grammar/index.ts';
import { asksForDoubleBrackets } from '../../../grammar/syntax/metadata.ts';
import { scan } from '../../../grammar/syntax/scan.ts';
import { Identifier, punct } from '../../../grammar/syntax/tokens.ts';
import { bare, command, file, problems, statements } from '../help.ts';
import { print } from '../print.ts';

const ROOT = join(import.meta.dirname, '../../..');
const CALLS = ['set a = tool.t.x(1)', 'set m.k, b[0] = tool.t.y("2")', 'call tool.t.z()'];

describe('calls that run together', () => {
  it('are a block of sets and calls', () => {
    expect(bare(statements('together', ...CALLS, 'endtogether'))).toEqual([
      { k: 'together', body: { stmts: bare(statements(...CALLS)) } },
    ]);
  });

  it('or the passes of a loop', () => {
    const [loop] = statements('for each k, v in m together', ...CALLS, 'endfor');
    const [ordinary] = statements('for each k, v in m', ...CALLS, 'endfor');
    expect(bare(loop)).toEqual({ ...Object(bare(ordinary)), together: true });
  });

  it.each([
    ['together # why', 'call tool.t.x()', '', '-- note', 'endtogether // end'],
    ['if x', '  together', '    call tool.t.x()', '  endtogether', 'endif'],
    ['for each x in together together', '  call tool.t.x(together, endtogether)', 'endfor'],
  ])('parse, print and format to the same tree: %s', (...lines) => {
    const source = command(...lines);
    const tree = bare(file(source));
    expect(bare(file(print(file(source))))).toEqual(tree);
    const formatted = format(source, { name: '<test>' });
    expect(formatted.ok && bare(file(formatted.text))).toEqual(tree);
    expect(formatted.ok && format(formatted.text, { name: '<test>' })).toEqual(formatted);
  });

  it('are formatted like every block', () => {
    const source =
      'command\ntogether\nset a=tool.t.x(1)\nendtogether\nfor each x in y together\ncall tool.t.x(x)\nendfor\nendcommand\n';
    const text =
      'command\n  together\n    set a = tool.t.x(1)\n  endtogether\n  for each x in y together\n    call tool.t.x(x)\n  endfor\nendcommand\n';
    expect(format(source, { name: '<test>' })).toEqual({ ok: true, text });
  });

  it.each<[string, readonly string[], string, string]>([
    ['emit', ['together', 'call tool.t.x()', 'emit 1', 'endtogether'], '4:1', 'only calls of tools can run together'],
    ['a procedure', ['together', 'set a = f()', 'endtogether'], '3:1', 'only calls of tools can run together'],
    ['ask', ['together', "ask 'm', 'p' into a", 'endtogether'], '3:1', 'only calls of tools can run together'],
    ['promptuser', ['together', "promptuser 'p' into a", 'endtogether'], '3:1', 'only calls of tools can run together'],
    ['more than the call', ['together', 'set a = tool.t.x() + 1', 'endtogether'], '3:1', 'only calls of tools can run together'],
    ['if', ['together', 'if a', 'call tool.t.x()', 'endif', 'endtogether'], '3:1', 'only calls of tools can run together'],
    ['break', ['for each x in y together', 'call tool.t.x()', 'break', 'endfor'], '4:1', 'only calls of tools can run together'],
    [
      'a handler',
      ['together', 'call tool.t.x()', 'on error do', 'clear_error', 'endon', 'endtogether'],
      '4:1',
      'no handler can stand',
    ],
    ['magic', ['together', "set t = tool.AEIOU.Magic('LOOP', {})", 'endtogether'], '3:9', 'cannot run together with other calls'],
    [
      'a result of the block',
      ['together', 'set a = tool.t.x()', 'set b = tool.t.y([a])', 'endtogether'],
      '4:19',
      '`a` has its value',
    ],
    ['a result of another pass', ['for each x in y together', 'set a = tool.t.x(a)', 'endfor'], '3:18', '`a` has its value'],
    ['last', ['together', 'call tool.t.x()', 'call tool.t.y(last)', 'endtogether'], '4:15', '`last` has its value'],
    ['nothing', ['together', 'endtogether'], '3:1', 'this `together` block is empty'],
    ['no end', ['together', 'call tool.t.x()'], '2:1', 'this `together` block is never closed'],
  ])('refuse %s', (_, lines, at, message) => {
    expect(problems(command(...lines))).toEqual([{ at, message: expect.stringContaining(message), hint: expect.any(String) }]);
  });

  it('may pass the old value of a variable to the call that sets it', () => {
    expect(problems(command('set n = 1', 'together', 'set n = tool.t.x(n)', 'endtogether'))).toEqual([]);
  });

  it.each([
    ['await tool.t.x()', 'together'],
    ['parallel', 'together'],
    ['together tool.t.x()', 'alone on its line'],
    ['endtogether', 'begins with `together`'],
  ])('are what advice on `%s` tells of', (line, hint) => {
    expect(problems(command(line))).toMatchObject([{ hint: expect.stringContaining(hint) }]);
  });
});

/** The programs of the suites, each block between `---` by itself. */
function corpus(): readonly string[] {
  return ['test/conformance', 'test/fuzz/corpus', 'examples'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ns'))
      .flatMap((name) => readFileSync(join(ROOT, folder, name), 'utf8').split(/^---.*$/m)),
  );
}

/** What follows one of these is the name of an element, a tool or a symbol. */
const LEADING: ReadonlySet<unknown> = new Set([punct.dot, punct.at]);
const NAMES = new Set(['name']);

/** A tree without places and source texts, in which one name has become another. Names after a dot stay. */
function renamed(tree: unknown, from: string, to: string): unknown {
  return JSON.parse(
    JSON.stringify(tree, function (this: unknown, key: string, value: unknown) {
      if (key === 's' || key === 'e' || key === 'at' || key === 'text' || key === 'lines') return undefined;
      const holder: object = Object(this);
      const field = Reflect.get(holder, 'k') === 'field' || Reflect.get(holder, 'k') === 'tool';
      return NAMES.has(key) && value === from && !field ? to : value;
    }),
  );
}

describe('the words `together` and `endtogether`', () => {
  // Programs that use the form itself are no older programs.
  const older = corpus().filter((source) => !/\btogether\b/.test(source));
  const programs = older.flatMap((source) => {
    // A chunk of the conformance suite is a whole file or the body of a procedure.
    const parsed = [source, `func main() means\n${source}\nendfunc`].map((text) => parse(text, { name: '<test>' }));
    return parsed
      .flatMap((each) => (each.ok && each.file.kind !== 'empty' ? [{ text: each.text, file: each.file }] : []))
      .slice(0, 1);
  });

  it.each(['together', 'endtogether'])('%s is a name like any other in every program of the suites', (word) => {
    let tried = 0;
    for (const { text, file: before } of programs) {
      const { tokens } = scan(text, asksForDoubleBrackets(text));
      const names = tokens.filter(
        ({ tokenType, image }, index) =>
          tokenType === Identifier && image !== 'LAST' && !LEADING.has(tokens[index - 1]?.tokenType),
      );
      for (const name of new Set(names.map(({ image }) => image).slice(0, 3))) {
        let changed = '';
        let done = 0;
        for (const { image, startOffset, endOffset } of names) {
          if (image !== name) continue;
          changed += text.slice(done, startOffset) + word;
          done = endOffset + 1;
        }
        const after = parse(changed + text.slice(done), { name: '<test>' });
        expect(after.ok && renamed(after.file, '', ''), changed).toEqual(renamed(before, name, word));
        tried++;
      }
    }
    expect(tried).toBeGreaterThan(500);
  });

  it.each(['together', 'endtogether', 'together = 1', 'together[0]', 'together # a', '\n\ntogether\n\n'])(
    'at a prompt, %j means what it meant',
    (text) => {
      const name = text.replaceAll('endtogether', 'somename').replaceAll('together', 'somename');
      const [now, before] = [text, name].map((source) => parse(source, { name: '<test>', interactive: true }));
      expect(now?.ok).toBe(before?.ok);
      if (now?.ok === true && before?.ok === true)
        expect(renamed(now.file, '', '')).toEqual(
          renamed(before.file, 'somename', text.includes('end') ? 'endtogether' : 'together'),
        );
    },
  );

  it('are names of procedures, parameters and loops', () => {
    const source = 'func together(needs endtogether) means\nreturn endtogether\nendfunc\n';
    expect(file(source).procedures[0]).toMatchObject({ name: { name: 'together' }, needs: [{ name: 'endtogether' }] });
    expect(bare(statements('for each together in together', 'set endtogether = together(together)', 'endfor'))).toMatchObject([
      { k: 'for', item: { name: 'together' }, over: { k: 'name', name: 'together' } },
    ]);
  });
});
