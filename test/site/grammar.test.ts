import { describe, expect, it } from 'vitest';
import { neuroscript } from '../../apps/site/grammar.ts';
import { BUILTINS } from '../../grammar/vocabulary/builtins.ts';
import { KEYWORDS } from '../../grammar/vocabulary/keywords.ts';

/** The name of the rule that a text begins with; a small reader of the grammar's own patterns. */
function scopeOf(text: string, at = 0): string | undefined {
  for (const rule of neuroscript.patterns) {
    const found = new RegExp('match' in rule ? rule.match : rule.begin, 'my');
    found.lastIndex = at;
    if (found.exec(text) !== null) return 'name' in rule ? rule.name : rule.captures[1].name;
  }
  return undefined;
}

describe('highlighting', () => {
  it('knows every keyword and every built-in function', () => {
    expect(KEYWORDS.filter((word) => scopeOf(`${word} `) === undefined)).toEqual([]);
    expect(Object.keys(BUILTINS).filter((name) => scopeOf(`${name}(1)`) !== 'support.function')).toEqual([]);
    expect(['set', 'endwhile', 'emit'].map((word) => scopeOf(word))).toEqual(Array(3).fill('keyword.control'));
    expect(['true', 'nil'].map((word) => scopeOf(word))).toEqual(Array(2).fill('constant.language'));
  });

  it('leaves names alone, also those that begin like a keyword or follow a dot', () => {
    expect(['total', 'settle', 'for_all', 'Set'].map((word) => scopeOf(word))).toEqual(Array(4).fill(undefined));
    expect(scopeOf('m.error', 2)).toBeUndefined();
  });

  it('tells tools, procedures, numbers, strings, operators, comments and metadata apart', () => {
    const texts = [
      'tool.fs.Read("a")',
      'func main()',
      '12.5',
      '"a"',
      "'''a'''",
      '```a```',
      '>= 1',
      '# a',
      '-- a',
      '// a',
      ':: a: b',
    ];
    expect(texts.map((text) => scopeOf(text))).toEqual([
      'entity.name.function.tool',
      'keyword.control',
      'constant.numeric',
      ...Array(3).fill('string.quoted'),
      'keyword.operator',
      ...Array(3).fill('comment.line'),
      'comment.line.metadata',
    ]);
  });
});
