import { describe, expect, it } from 'vitest';
import { schemaNotes, schemaWords } from '../../src/tools/define/schemawords.ts';
import { defineTool, type JsonSchema, toolMarkdown, toolPrompt } from '../../src/tools/index.ts';

const text = { type: 'string' } as const;
const map = (properties: Record<string, JsonSchema>, ...required: string[]): JsonSchema => ({
  type: 'object',
  properties,
  required,
});

describe('a schema in words', () => {
  it.each<[string, JsonSchema, string]>([
    ['a map', map({ a: { type: 'number' }, b: text, c: {} }, 'a', 'c'), '{a: number, b?: string, c}'],
    ['a map within a list', { type: 'array', items: map({ a: text }, 'a') }, 'list of {a: string}'],
    ['an enum', { enum: ['a', 1, null] }, '"a" | 1 | null'],
    ['a list of choices', { type: 'array', items: { anyOf: [map({ a: text }), text] } }, 'list of ({a?: string} | string)'],
    ['a key that is no name', map({ 'my key': text, '\u202e\u0007x': text }), '{"my key"?: string, "\\u0007x"?: string}'],
    ['no type', {}, 'any'],
  ])('%s', (_name, schema, words) => expect(schemaWords(schema)).toBe(words));

  it('stays within 400 characters: first the inner levels go, then the keys', () => {
    const wide = map(Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`key_number_${index}`, text])));
    expect(schemaWords(map({ options: wide, path: text }, 'path'))).toBe('{options?: map, path: string}');
    expect(schemaWords(wide)).toBe('map');
    expect(schemaWords({ enum: Array.from({ length: 1000 }, (_, index) => 'x'.repeat(50) + index) })).toBe('any');
    expect(schemaWords({ const: 'x'.repeat(1000) })).toBe(`"${'x'.repeat(59)}…`);
    expect(schemaWords({ enum: Array.from({ length: 40 }, (_, index) => index) })).toMatch(/^0 \| 1 \| .* \| 11 \| …$/);
  });

  it('has the descriptions of its parts, at most as many as asked for', () => {
    const schema = map({ a: { ...text, description: 'One.' }, l: { type: 'array', items: map({ b: { description: 'Two.' } }) } });
    const notes = [
      { path: '.a', description: 'One.' },
      { path: '.l[].b', description: 'Two.' },
    ];
    expect([schemaNotes(schema, 9), schemaNotes(schema, 1)]).toEqual([notes, notes.slice(0, 1)]);
  });
});

describe('a text for a model', () => {
  const file = (name: string, about: string) =>
    defineTool({
      name: `tool.files.${name}`,
      description: `${about} Only works within allowed directories.`,
      args: { at: map({ path: { ...text, description: 'The path.' } }, 'path') },
      run: () => null,
    });
  const tools = [file('Read', 'Reads a file.'), file('Write', 'Writes a file.'), file('Move', 'Moves a file.')];

  it('shows the keys of maps, and says once what several tools of a group say', () => {
    expect(toolPrompt(tools).text.split('\n').slice(1)).toEqual([
      'The type {a: int, b?: string} is a map with these keys; a key with ? may be absent.',
      'tool.files.*, where it applies: Only works within allowed directories. at.path: The path.',
      'tool.files.Read(at: {path: string})',
      '  Reads a file.',
      'tool.files.Write(at: {path: string})',
      '  Writes a file.',
      'tool.files.Move(at: {path: string})',
      '  Moves a file.',
      '',
    ]);
    expect(toolPrompt(tools.slice(1)).text).not.toContain('where it applies');
    const bare = ['A', 'B', 'C'].map((name) =>
      defineTool({
        name: `tool.t.${name}`,
        args: [{ name: 'a', type: 'string', description: 'the text' }],
        description: 'It. So',
        run: () => null,
      }),
    );
    expect(toolPrompt(bare).text).toContain('tool.t.*, where it applies: So. a: the text.\n');
  });

  it('keeps to its budget with common phrases, and leaves them out where no tool is described whole', () => {
    for (const budget of [120, 160, 200]) expect(toolPrompt(tools, { budget }).tokens).toBeLessThanOrEqual(budget);
    expect(toolPrompt(tools, { budget: 120 }).text).not.toContain('where it applies');
  });

  it('is a page for people that lists the parts below the arguments', () => {
    expect(toolMarkdown(tools)).toContain('- at.path: The path.');
  });
});
