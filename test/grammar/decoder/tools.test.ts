import { describe, expect, it } from 'vitest';
import { defineTool, type ToolDefinition, toolGrammar } from '../../../src/tools/index.ts';
import { follow, Gbnf } from './gbnf.ts';
import { ALLOWED, DENIED, POLICY } from './view.ts';

const grammars = [false, true].map((small) => new Gbnf(toolGrammar([...ALLOWED, ...DENIED], { policy: POLICY, small })));
const both = (call: string): readonly boolean[] =>
  grammars.map((grammar) => follow(grammar, `command\nset x = ${call}\nendcommand\n`).whole);

describe('the tools of a grammar', () => {
  it.each([
    ['tool.shop.Price("tea")', true],
    ['tool.shop.PriceOf("tea", 2, true)', true],
    ['tool.shop.PriceOf(name + "x", n * 2, a == b)', true],
    ['tool.shop.PriceOf("tea")', true],
    ['tool.shop.PriceOf("tea", nil)', true],
    ['tool.shop.List()', true],
    ['tool.shop.deep.Scale(1 + 2, [1])', true],
    ['tool.text.Join(["a", b], {"k": 1})', true],
    ['tool.text.Sum()', true],
    ['tool.text.Sum([1, 2.5])', true],
    ['tool.sort.By("up")', true],
    ['tool.sort.By("it\'s", 2, [[true]])', true],
    ['tool.sort.By(order)', true],
  ])('%s can be written', (call) => {
    expect(both(call)).toEqual([true, true]);
  });

  it.each([
    ['a denied tool', 'tool.shop.Buy("tea")'],
    ['a denied tool in other letters', 'tool.SHOP.buy("tea")'],
    ['a denied tool behind a second prefix', 'tool.tool.shop.Buy("tea")'],
    ['a denied tool in an argument', 'tool.shop.Price(tool.shop.Buy("tea"))'],
    ['a denied tool in a placeholder', '```{{tool.shop.Buy("tea")}}```'],
    ['a tool of no group of the view', 'tool.fs.Delete("x")'],
    ['a misspelt tool', 'tool.shop.Prices("tea")'],
    ['a group alone', 'tool.shop("tea")'],
    ['the tool of turns', 'tool.aeiou.magic("LOOP", {"action": "done"})'],
    ['an argument too few', 'tool.shop.Price()'],
    ['an argument too many', 'tool.shop.Price("tea", 1)'],
    ['an argument where none belongs', 'tool.shop.List(1)'],
    ['a number for a string', 'tool.shop.Price(1)'],
    ['a negative number for a string', 'tool.shop.Price(-1)'],
    ['a string for a number', 'tool.shop.deep.Scale("x", 1)'],
    ['a fraction for a whole number', 'tool.shop.PriceOf("tea", 1.5)'],
    ['nil for a required argument', 'tool.shop.Price(nil)'],
    ['nil for a required argument of any type', 'tool.shop.deep.Scale(1, nil)'],
    ['a wrong item', 'tool.text.Join(["a", 1])'],
    ['a wrong item of an inner list', 'tool.sort.By("up", 1, [[1]])'],
    ['a list for a map', 'tool.text.Join([], [])'],
    ['another word than those of an enum', 'tool.sort.By("down")'],
  ])('%s cannot be written', (_what, call) => {
    expect(both(call)).toEqual([false, false]);
  });

  it.each([
    'tool.SHOP.price("tea")',
    'tool . shop . Price ( "tea" , )',
    'tool.tool.shop.Price("tea")',
    'tool.shop.deep.Scale("2", 1)',
    'tool.shop.PriceOf("tea", "2", "True",)',
    '```{{tool.shop.Price("tea")}}```',
  ])('only the whole language has %s', (call) => {
    expect(both(call)).toEqual([true, false]);
  });

  it.each([
    ['tool.text.Join([[[a]], b])', false],
    ['tool.text.Join([ [[a]], b])', true],
    ['tool.text.Join(["a", [[b]]])', true],
    ['tool.shop.Price([[tea]])', true],
    ['tool.shop.deep.Scale([[1]], [2])', false],
    ['tool.sort.By("up", 1, [[true]])', false],
    ['tool.sort.By("up", 1, [ [true], [false]])', true],
    ['[[{{tool.sort.By("up", 1, [ [true] ])}}]]', true],
    ['[[{{tool.sort.By("up", 1, [[true]])}}]]', false],
    ['[[{{tool.shop.Buy("tea")}}]]', false],
    ['[[tool.shop.Buy]]', true],
  ])('behind the header that makes `[[` a text: %s: %s', (call, valid) => {
    const [whole] = grammars;
    const program = `:: strings: double-bracket\ncommand\nset x = ${call}\nendcommand\n`;
    expect(whole !== undefined && follow(whole, program).whole).toBe(valid);
  });

  it('takes a view of a fork as well as a list', () => {
    const view = {
      names: () => ALLOWED.map(({ canonicalName }) => canonicalName),
      lookup: (name: string) => ALLOWED.find((tool) => tool.canonicalName === name),
    };
    expect(toolGrammar(view)).toBe(toolGrammar(ALLOWED));
    expect(toolGrammar([...ALLOWED, ...DENIED], { policy: POLICY })).toBe(toolGrammar(ALLOWED));
  });

  it('lets an argument without a schema be anything', () => {
    const free = defineTool({ name: 'tool.a.Free', args: { x: { description: 'anything' } }, run: () => null });
    const grammar = new Gbnf(toolGrammar([free]));
    for (const value of ['1', '"x"', 'nil', '[1]', '{"a": 1}', 'x'])
      expect(follow(grammar, `command\ncall tool.a.Free(${value})\nendcommand`).whole).toBe(true);
  });

  const made = (name: string, args: Parameters<typeof defineTool>[0]['args'] = []): ToolDefinition =>
    defineTool({ name, args, run: () => null });

  /** To define so many tools would take longer than to make the grammar, and is not what is looked at. */
  const alike = (count: number): readonly ToolDefinition[] => {
    const one = made('tool.a.B');
    return Array.from({ length: count }, (_, index) => {
      return { ...one, name: `tool.a.B${index}`, canonicalName: `tool.a.b${index}` };
    });
  };

  it.each([
    [
      'many parameters',
      [
        made(
          'tool.a.B',
          Array.from({ length: 10_000 }, (_, index) => ({ name: `a${index}`, type: 'string' })),
        ),
      ],
    ],
    ['a long name', [made(`tool.a.${'B'.repeat(200_000)}`)]],
    ['many names', alike(150_000)],
    ['many words', [made('tool.a.B', { x: { enum: Array.from({ length: 150_000 }, (_, index) => `w${index}`) } })]],
  ] as const)('is made for %s, too', (_what, tools) => {
    expect(toolGrammar(tools)).toContain('tools-0');
  });

  it('lets the arguments of a tool with more than 250 parameters be anything', () => {
    const wide = (count: number): Gbnf =>
      new Gbnf(
        toolGrammar([
          made(
            'tool.a.B',
            Array.from({ length: count }, (_, index) => ({ name: `a${index}`, type: 'string' })),
          ),
        ]),
      );
    const call = (count: number): string =>
      `command\ncall tool.a.B(${Array.from({ length: count }, () => '1').join(', ')})\nendcommand`;
    expect([follow(wide(250), call(250)).whole, follow(wide(251), call(250)).whole]).toEqual([false, true]);
  });
});
