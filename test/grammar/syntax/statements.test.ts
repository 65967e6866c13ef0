import { describe, expect, it, vi } from 'vitest';
import { bare, command, file, places, problems, statements } from '../help.ts';

const one = { k: 'num', v: 1 };
const two = { k: 'num', v: 2 };
const name = (text: string): unknown => ({ k: 'name', name: text });
const target = (text: string, ...steps: unknown[]): unknown => ({ name: { name: text }, steps });
const body = (source: string): unknown => bare(statements(...source.split('⏎')));

describe('statements of one line (language.md 2)', () => {
  it.each([
    ['set x = 1', { k: 'set', targets: [target('x')], value: one }],
    [
      "set a, m.x, m['y'] = f()",
      {
        k: 'set',
        targets: [target('a'), target('m', { k: 'field', name: 'x' }), target('m', { k: 'index', index: { k: 'str', v: 'y' } })],
        value: { k: 'call', name: { name: 'f' }, args: [] },
      },
    ],
    ['call f(1)', { k: 'call', call: { k: 'call', name: { name: 'f' }, args: [one] } }],
    ['call tool.a.B()', { k: 'call', call: { k: 'tool', name: 'tool.a.b', written: 'tool.a.B', args: [] } }],
    ['call len(1)', { k: 'call', call: { k: 'call', name: { name: 'len' }, args: [one] } }],
    ['return', { k: 'return', values: [] }],
    ["whisper self, 'x'", { k: 'whisper', handle: name('self'), value: { k: 'str', v: 'x' } }],
    ['must x', { k: 'must', cond: name('x'), text: 'x' }],
    ['fail', { k: 'fail' }],
    ['fail 1', { k: 'fail', value: one }],
    ['clear_error', { k: 'clear_error' }],
    ['clear event x', { k: 'clear_event', event: name('x') }],
    ['clear event named "n"', { k: 'clear_event', named: 'n' }],
    ['ask 1, 2', { k: 'ask', model: one, prompt: two }],
    [
      'ask 1, 2 with {} into r.a',
      {
        k: 'ask',
        model: one,
        prompt: two,
        with: { k: 'map', entries: [] },
        into: target('r', { k: 'field', name: 'a' }),
      },
    ],
    ['ask 1, 2 into r', { k: 'ask', model: one, prompt: two, into: target('r') }],
    ['promptuser 1 into r[0]', { k: 'promptuser', prompt: one, into: target('r', { k: 'index', index: { k: 'num', v: 0 } }) }],
  ])('2: %s', (source, expected) => {
    expect(body(source)).toEqual([expected]);
  });

  it('P3: must keeps the source text of its condition, shortened to 200 characters', () => {
    expect(body('must  a  ==  {x:1}["x"] # why')).toMatchObject([{ text: 'a  ==  {x:1}["x"]' }]);
    const long = `'${'é😀'.repeat(120)}'`;
    const [statement] = statements(`must ${long}`);
    const text = statement?.k === 'must' ? statement.text : '';
    expect([...text]).toHaveLength(200);
    expect(text).toBe(`${[...long].slice(0, 199).join('')}…`);
    const fits = `'${'😀'.repeat(198)}'`;
    expect(statements(`must ${fits}`)).toMatchObject([{ text: fits }]);
  });
});

describe('blocks (language.md 2, 2.2)', () => {
  it('2: if, else, while, for each', () => {
    // biome-ignore lint/suspicious/noThenProperty: the field's name in the tree
    const branches = { then: { stmts: [{ k: 'emit', value: one }] }, else: { stmts: [{ k: 'emit', value: two }] } };
    expect(body('if x⏎emit 1⏎else⏎emit 2⏎endif')).toEqual([{ k: 'if', cond: name('x'), ...branches }]);
    expect(body('while x⏎⏎break⏎endwhile')).toEqual([{ k: 'while', cond: name('x'), body: { stmts: [{ k: 'break' }] } }]);
    expect(body('for each v in l⏎continue⏎endfor')).toEqual([
      { k: 'for', item: { name: 'v' }, over: name('l'), body: { stmts: [{ k: 'continue' }] } },
    ]);
  });

  it('P9: for each k, v in m', () => {
    expect(body('for each k, v in m⏎emit k⏎endfor')).toMatchObject([
      { k: 'for', key: { name: 'k' }, item: { name: 'v' }, over: name('m') },
    ]);
  });

  it('P16: a handler guards its block, and a marker keeps its place among the statements', () => {
    expect(body('emit 1⏎on error do⏎clear_error⏎endon⏎emit 2')).toEqual([
      { k: 'emit', value: one },
      { k: 'on_error' },
      { k: 'emit', value: two },
    ]);
    const block = file(command('if x', 'on error do', 'clear_error', 'endon', 'endif', 'emit 1')).commands[0]?.body;
    expect(block?.onError).toBeUndefined();
    const [first] = block?.stmts ?? [];
    expect(bare(first?.k === 'if' && first.then.onError)).toEqual({ body: { stmts: [{ k: 'clear_error' }] } });
  });

  it('ruling 11: a handler may contain a handler', () => {
    const handler = file(command('on error do', 'on error do', 'emit 1', 'endon', 'endon')).commands[0]?.body.onError;
    expect(bare(handler)).toEqual({
      body: { stmts: [{ k: 'on_error' }], onError: { body: { stmts: [{ k: 'emit', value: one }] } } },
    });
  });

  it('P16: two handlers in one block are an error at the second; one in each block is fine', () => {
    const handler = ['on error do', 'emit 1', 'endon'];
    expect(places(command(...handler, ...handler))).toEqual(['5:1']);
    expect(places(command(...handler, 'if x', ...handler, 'else', ...handler, 'endif'))).toEqual([]);
  });

  it('2: every block needs a statement; the error is at its end', () => {
    expect(places('command\nendcommand')).toEqual(['2:1']);
    expect(places('command\n# c\n\nendcommand')).toEqual(['4:1']);
    expect(places('func main() means\nendfunc')).toEqual(['2:1']);
    expect(places(command('if 1', 'endif'))).toEqual(['3:1']);
    expect(places(command('if 1', 'else', 'emit 1', 'endif'))).toEqual(['3:1']);
    expect(places(command('if 1', 'emit 1', 'else', 'endif'))).toEqual(['5:1']);
    expect(places(command('while 1', 'endwhile'))).toEqual(['3:1']);
    expect(places(command('for each x in y', '# c', 'endfor'))).toEqual(['4:1']);
    expect(places(command('on error do', 'endon'))).toEqual(['3:1']);
    expect(places("on event 'x' do\nendon")).toEqual(['2:1']);
  });

  it('2: every statement ends with its line, also before an end keyword', () => {
    expect(places(command('if 1', 'emit 1 endif', 'emit 2'))).toEqual(['3:8']);
    expect(places('func f() means emit 1\nendfunc')[0]).toBe('1:16');
    expect(places(command('emit 1 emit 2'))).toEqual(['2:8']);
  });

  it('2: endfunc, endon and endcommand need no line end', () => {
    expect(
      file("func f() means\nemit 1\nendfunc func g() means\nemit 1\nendfunc on event 'x' do\nemit 1\nendon").procedures,
    ).toHaveLength(2);
    expect(file('command\nemit 1\nendcommand command\nemit 2\nendcommand').commands).toHaveLength(2);
  });
});

describe('break, continue, return, clear_error (language.md 2.2)', () => {
  it('ruling 17: break and continue outside of a loop are errors at their positions', () => {
    expect(places(command('break'))).toEqual(['2:1']);
    expect(places(command('if x', '  continue', 'endif'))).toEqual(['3:3']);
    expect(places(command('while x', 'emit 1', 'endwhile', 'break'))).toEqual(['5:1']);
    expect(places('func f() means\nbreak\nendfunc')).toEqual(['2:1']);
  });

  it('2.2: they are fine in blocks inside a loop', () => {
    expect(places(command('while x', 'if y', 'break', 'else', 'continue', 'endif', 'endwhile'))).toEqual([]);
  });

  it('ruling 10: in a handler they need a loop around the handler', () => {
    expect(places(command('while x', 'on error do', 'break', 'endon', 'emit 1', 'endwhile'))).toEqual([]);
    expect(places(command('on error do', 'break', 'endon'))).toEqual(['3:1']);
  });

  it('2.2: the body of an event handler is not in a loop of the surrounding code', () => {
    expect(places("func f() means\nwhile x\non event 'e' do\nbreak\nendon\nendwhile\nendfunc")).toEqual(['4:1']);
  });

  it('P18: a bare return is fine anywhere in a command block', () => {
    expect(places(command('if x', 'return', 'endif', 'on error do', 'return', 'endon', 'return'))).toEqual([]);
  });

  it('ruling 9: return with a value is an error anywhere in a command block', () => {
    expect(places(command('return 1'))).toEqual(['2:1']);
    expect(places(command('if x', ' return 1, 2', 'endif'))).toEqual(['3:2']);
    expect(places(command('on error do', 'return 1', 'endon'))).toEqual(['3:1']);
  });

  it('2.2: procedures and event handlers return values, handlers in a command too', () => {
    expect(places('func f() means\nreturn 1, 2\nendfunc')).toEqual([]);
    expect(places("on event 'x' do\nreturn 1\nendon")).toEqual([]);
    expect(places(command('if x', "on event 'x' do", 'return 1', 'endon', 'endif'))).toEqual([]);
  });

  it('ruling 9: clear_error is allowed outside of a handler', () => {
    expect(places(command('clear_error'))).toEqual([]);
    expect(places('func f() means\nclear_error\nendfunc')).toEqual([]);
  });
});

describe('files (language.md 2.1)', () => {
  it('2.1: the kind of a file', () => {
    expect(file('').kind).toBe('empty');
    expect(file('# only\n:: a: b\n').kind).toBe('empty');
    expect(file(command('emit 1')).kind).toBe('commands');
    expect(file('func f() means\nemit 1\nendfunc').kind).toBe('library');
    expect(file("on event 'x' do\nemit 1\nendon").kind).toBe('library');
  });

  it('2.1: mixing is one error at the first block of the other kind', () => {
    const func = 'func f() means\nemit 1\nendfunc\n';
    expect(places(command('emit 1') + func)).toEqual(['4:1']);
    expect(places(func + command('emit 1') + command('emit 2'))).toEqual(['4:1']);
    expect(places(`${command('emit 1')}on event 'x' do\nemit 1\nendon`)).toEqual(['4:1']);
  });

  it('2.1: a top-level on error is an error', () => {
    expect(places('on error do\nemit 1\nendon')).toEqual(['1:4']);
  });

  it('2.1: statements outside of blocks are one error', () => {
    expect(places('emit 1\nset x = 2\nif x\nemit 3\nendif')).toEqual(['1:1']);
    expect(problems('emit 1')[0]?.hint).toContain('`command`');
  });

  it('2.2: on event is not allowed directly in a command block', () => {
    expect(places(command("on event 'x' do", 'emit 1', 'endon'))).toEqual(['2:1']);
    expect(places(command('if x', "on event 'x' do", 'emit 1', 'endon', 'endif'))).toEqual([]);
  });

  it('2: procedures with clauses in any order, with and without parentheses', () => {
    const [f, g, h] = file(
      'func f(needs a, b optional c returns d, e) means\nemit 1\nendfunc\nfunc g optional b needs a needs z means\nemit 1\nendfunc\nfunc h means\nemit 1\nendfunc',
    ).procedures;
    expect(bare(f)).toMatchObject({
      name: { name: 'f' },
      needs: [{ name: 'a' }, { name: 'b' }],
      optional: [{ name: 'c' }],
      returns: [{ name: 'd' }, { name: 'e' }],
    });
    expect(bare(g)).toMatchObject({ needs: [{ name: 'a' }, { name: 'z' }], optional: [{ name: 'b' }], returns: [] });
    expect(bare(h)).toMatchObject({ needs: [], optional: [], returns: [] });
  });

  it('ruling 17: a duplicate procedure is an error at the second name', () => {
    expect(places('func a() means\nemit 1\nendfunc\nfunc a() means\nemit 2\nendfunc')).toEqual(['4:6']);
    expect(places('func a() means\nemit 1\nendfunc\nfunc A() means\nemit 2\nendfunc')).toEqual([]);
  });

  it('2: events have names, handler names and variables, in this order', () => {
    expect(bare(file("on event 'x' + y named 'n' as e do\nemit 1\nendon").events)).toMatchObject([
      { named: 'n', as: { name: 'e' } },
    ]);
    expect(problems("on event 'x' as e named 'n' do\nemit 1\nendon")).toMatchObject([
      { at: '1:19', hint: expect.stringContaining("named 'n' as x") },
    ]);
  });

  it('6.13: all events of a file are listed in textual order, nested ones by index', () => {
    const parsed = file(
      "on event 'a' do\n on event 'b' do\n  emit 1\n endon\nendon\nfunc f() means\n on event 'c' do\n  emit 1\n endon\nendfunc\non event 'd' do\nemit 1\nendon",
    );
    expect(bare(parsed.events.map((event) => event.event))).toEqual(['a', 'b', 'c', 'd'].map((v) => ({ k: 'str', v })));
    expect(bare(parsed.events[0]?.body.stmts)).toEqual([{ k: 'on_event', index: 1 }]);
    expect(bare(parsed.procedures[0]?.body.stmts)).toEqual([{ k: 'on_event', index: 2 }]);
  });
});

it('a token that does not fit is a problem of its line, and no stack trace is captured for it', () => {
  // Each wrong line would otherwise take several times as long as a right one.
  const captured = vi.spyOn(Error, 'captureStackTrace');
  try {
    const found = problems('command\nset = 1\nemit 1 2\nset x = 1 +\nendcommand');
    expect(found.map(({ at }) => at)).toEqual(['2:5', '3:8', '4:12']);
    expect(captured).not.toHaveBeenCalled();
  } finally {
    captured.mockRestore();
  }
});
