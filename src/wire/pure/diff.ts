import type { PureDeclarations } from './declaration.ts';

/** Differences between texts: `tool.diff`. */
export const DIFF = {
  'tool.diff.Lines': {
    description:
      'Compares two strings line by line and returns the shortest list of changes: maps with `op` (equal, delete, insert) and `line`.',
    args: [
      ['before: string', 'the old text'],
      ['after: string', 'the new text'],
    ],
    returns: 'list of maps',
    example: [
      'tool.diff.Lines("a\\nb\\n", "a\\nc\\n")',
      '[{"op": "equal", "line": "a"}, {"op": "delete", "line": "b"}, {"op": "insert", "line": "c"}]',
    ],
  },
  'tool.diff.Unified': {
    description: 'Compares two strings and returns a unified diff without file names; empty if nothing changed.',
    args: [
      ['before: string', 'the old text'],
      ['after: string', 'the new text'],
      ['context: int = 3', 'equal lines to show around each change, 0 or more'],
    ],
    returns: 'string',
    example: ['tool.diff.Unified("a\\nb\\n", "a\\nc\\n")', '@@ -1,2 +1,2 @@\n a\n-b\n+c\n'],
  },
} as const satisfies PureDeclarations<'diff'>;
