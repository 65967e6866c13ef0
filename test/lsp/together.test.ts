import { describe, expect, it } from 'vitest';
import { complete } from '../../src/lsp/complete.ts';
import { SourceDocument } from '../../src/lsp/document.ts';
import { hover } from '../../src/lsp/hover.ts';
import { renameSpots } from '../../src/lsp/navigate.ts';
import { folds } from '../../src/lsp/outline.ts';
import { Workspace } from '../../src/lsp/workspace.ts';
import { Policy } from '../../src/tools/index.ts';

const TEXT = `command
  together
    set a = tool.t.Get("a")
    set r["b"] = tool.t.Get("b")
  endtogether
  for each x in [1, 2] together
    set r[x] = tool.t.Get(x + a)
  endfor
  set together = [a, r]
  emit together
endcommand
`;

describe('issue 22.1: an editor and calls that run together', () => {
  const workspace = new Workspace({ tools: [], policy: new Policy({ allow: ['*'] }), complete: false, denies: false });
  workspace.edit('file:///a.ns', TEXT);
  const document = workspace.document('file:///a.ns') ?? new SourceDocument('', '');

  it('folds the block, and the loop once', () => {
    const found = folds(document).map(({ startLine, endLine }) => [startLine, endLine]);
    expect(found.toSorted(([a = 0], [b = 0]) => a - b)).toEqual([
      [0, 9],
      [1, 3],
      [5, 6],
    ]);
  });

  it('renames a variable that the block sets, everywhere', () => {
    const lines = renameSpots(document, { line: 2, character: 8 }, 'first', workspace).map(({ range }) => range.start.line);
    expect(lines.toSorted()).toEqual([2, 6, 8]);
  });

  it('explains the words where they are words, and proposes the block where a statement begins', () => {
    const words = ([line, character]: readonly [number, number]): unknown => {
      const contents = hover(document, { line, character }, workspace)?.contents;
      return typeof contents === 'object' && 'value' in contents ? contents.value : null;
    };
    expect(words([1, 4])).toContain('calls of tools that run at the same time');
    expect(words([5, 26])).toBe(words([1, 4]));
    expect(words([9, 10])).toContain('together');
    expect(words([9, 10])).not.toContain('calls of tools');
    const proposed = complete(document, { line: 9, character: 2 }, workspace, true).find(({ label }) => label === 'together');
    expect(proposed?.insertText).toBe('together\n  $0\nendtogether');
  });
});
