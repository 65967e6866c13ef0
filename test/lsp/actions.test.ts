import { describe, expect, it } from 'vitest';
import type { CodeAction } from 'vscode-languageserver';
import { TextDocument } from 'vscode-languageserver-textdocument';
import { habitsOf, KNOWN } from '../../conformance/habits/corpus.ts';
import { withEdits } from '../../grammar/repair/apply.ts';
import { actionsOf, FIX_ALL } from '../../src/lsp/actions.ts';
import { problemsOf } from '../../src/lsp/diagnose.ts';
import { SourceDocument } from '../../src/lsp/document.ts';
import { toPublicCheck } from '../../src/wire/findings.ts';
import { checkSources } from '../../src/worker/check.ts';

const URI = 'file:///a.ns';

function actions(text: string, lines: readonly [from: number, to: number], only?: readonly string[]): readonly CodeAction[] {
  const document = new SourceDocument(URI, text);
  const problems = problemsOf(document, { key: '', environment: {}, procedures: new Map() });
  const range = { start: { line: lines[0], character: 0 }, end: { line: lines[1], character: 99 } };
  return actionsOf(document, problems, { range, only, environment: {} }, ({ range: at, message }) => ({ range: at, message }));
}

/** The text after an action, by the client half of the official library, which refuses edits that overlap. */
function applied(text: string, action: CodeAction | undefined): string {
  return TextDocument.applyEdits(TextDocument.create(URI, 'neuroscript', 1, text), action?.edit?.changes?.[URI] ?? []);
}

const TEXT = 'command\n  x = 1\n  if x == 1:\n    print(x)\n  emti "done"\nendcommand\n';

describe('issue 22.5: the quick fixes of an editor are those of `check --fix`', () => {
  it('a safe fix is preferred, and a proposed one is offered and says so', () => {
    const [first, ...more] = actions(TEXT, [1, 1], ['quickfix']);
    expect([first?.isPreferred, more]).toEqual([true, []]);
    expect(applied(TEXT, first)).toBe(TEXT.replace('x = 1', 'set x = 1'));
    const [proposed] = actions(TEXT, [4, 4], ['quickfix']);
    expect(proposed).toMatchObject({ isPreferred: false, title: expect.stringMatching(/proposed/) });
    expect(applied(TEXT, proposed)).toContain('emit "done"');
  });

  it('one action makes all safe fixes, and only these, wherever the cursor is', () => {
    const [all, ...more] = actions(TEXT, [0, 0], ['source.fixAll']);
    expect([all?.kind, more]).toEqual([FIX_ALL, []]);
    expect(applied(TEXT, all)).toBe('command\n  set x = 1\n  if x == 1\n    emit x\n  endif\n  emti "done"\nendcommand\n');
    expect(actions(TEXT, [0, 9], ['refactor'])).toEqual([]);
    expect(actions('command\n  emit 1\nendcommand\n', [0, 9])).toEqual([]);
  });

  it('for every habit with a syntax error, the text after it is that of the command', () => {
    const slips = KNOWN.flatMap((file) => habitsOf(file)).map(({ slip }) => slip);
    let compared = 0;
    for (const slip of slips) {
      const { diagnostics, ...report } = checkSources([{ name: 'a', text: slip }], 1_000_000, {});
      if (diagnostics.length === 0) continue;
      const fixes = toPublicCheck({ diagnostics, ...report }).findings.flatMap(({ fix }) => (fix?.safe ? fix.edits : []));
      expect(applied(slip, actions(slip, [0, 0], [FIX_ALL])[0]), slip).toBe(withEdits(slip, fixes));
      compared++;
    }
    expect(compared).toBeGreaterThan(300);
  });
});
