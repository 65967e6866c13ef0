import { describe, expect, it } from 'vitest';
import { anchorsOf, apiIndex, entryComment, missingNames, plainPage, withAnchors } from '../../apps/site/api.ts';

describe('the reference of the library', () => {
  it('takes what an entry point holds from the comment at its top', () => {
    const source = "/**\n * Spans\n * and {@link Palette}. Entry point `a/b`.\n */\n\nexport {} from './x.ts';\n";
    expect(entryComment(source)).toBe('Spans and `Palette`.');
    expect(entryComment("/** One line. Entry point `a/b`. */\nexport {} from './x.ts';\n")).toBe('One line.');
    expect(entryComment('export {};')).toBe('');
  });

  it('lists every entry point with its page', () => {
    const page = apiIndex([{ page: 'loop', imported: 'p/loop', comment: 'The loop.' }]);
    expect(page).toContain('\n| [`p/loop`](loop.md) | The loop. |\n');
  });

  it('has no HTML: rows of tables have no anchors, and links to them only their text', () => {
    const row = '| <a id="property-tools"></a> `tools?` | [`A`](runtime.md#a), [`A.tools`](runtime.md#property-tools) |';
    expect(plainPage(row)).toBe('| `tools?` | [`A`](runtime.md#a), `A.tools` |');
  });

  it('leads to the name that is meant where two differ only in their case', () => {
    const page = '# P\n\n### AgentBrief\n\n#### rules\n\n### agentBrief()\n\n#### rules\n';
    const anchors = new Map([['agents.md', anchorsOf(page)]]);
    expect(anchors.get('agents.md')).toEqual(
      new Map([
        ['AgentBrief', 'agentbrief'],
        ['agentBrief', 'agentbrief-1'],
      ]),
    );
    const text = '[agentBrief](#agentbrief-3), [`AgentBrief`](agents.md#agentbrief), [Other](#other), [`rules`](#rules)';
    expect(withAnchors('agents.md', text, anchors)).toBe(
      '[agentBrief](#agentbrief-1), [`AgentBrief`](agents.md#agentbrief), [Other](#other), [`rules`](#rules)',
    );
  });

  it('has a heading for every public name; a longer name is not the name', () => {
    const page = '## Classes\n\n### Runtime\n\n### createRuntime()\n\n### LINT\\_A\n\n### RuntimeOptions\\<T\\>\n\n#### Inner\n';
    expect(missingNames(page, ['Runtime', 'createRuntime', 'LINT_A', 'RuntimeOptions'])).toEqual([]);
    expect(missingNames(page, ['Run', 'Inner', 'Options'])).toEqual(['Run', 'Inner', 'Options']);
  });
});
