import type { Span } from './ast.ts';

/** One problem the parser found. Its position is 1-based; columns count code points (P31). */
export interface SyntaxDiagnostic extends Span {
  readonly line: number;
  readonly column: number;
  readonly endLine: number;
  readonly endColumn: number;
  /** What is wrong, in one sentence. */
  readonly message: string;
  /** What to write instead, when we can tell. */
  readonly hint?: string;
}
