import type { SourceFile } from './ast.ts';
import type { SyntaxDiagnostic } from './diagnostic.ts';

/** What {@link parse} needs to know beside the text. */
export interface ParseOptions {
  /** Source name for positions and messages, e.g. the file's path as the user gave it. */
  readonly name: string;
  /** Most bytes of UTF-8 accepted after cleaning; 1 048 576 when absent. */
  readonly maxBytes?: number;
  /** Treats `[[…]]` as a template string, like the header `:: strings: double-bracket` (P11). */
  readonly doubleBracketStrings?: boolean;
}

/** Either a complete tree, or everything that is wrong with the source, in textual order; never both. */
export type ParseResult =
  | { readonly ok: true; readonly file: SourceFile; readonly text: string }
  | { readonly ok: false; readonly errors: readonly [SyntaxDiagnostic, ...SyntaxDiagnostic[]] };

/**
 * Parses one NeuroScript source. Never throws for any input; takes time linear in its size.
 * Bytes must be UTF-8 (a text is taken as it is). `text` is the cleaned source to which all offsets refer.
 */
export function parse(_source: string | Uint8Array, _options: ParseOptions): ParseResult {
  throw new Error('in work');
}
