/** The `./grammar` entry point, also for other parts: parse NeuroScript source into an AST, lint it, estimate its cost, format it. */

export * from './estimate/index.ts';
export * from './format/index.ts';
export * from './lint/index.ts';
export * from './repair/index.ts';
export type * from './syntax/ast.ts';
export type * from './syntax/astexpressions.ts';
export { failingOperand } from './syntax/certainty.ts';
export { type Lexeme, type LexemeKind, lexemesOf } from './syntax/lexemes.ts';
export { asksForDoubleBrackets } from './syntax/metadata.ts';
export { MAX_SOURCE_BYTES, type ParseOptions, type ParseResult, parse } from './syntax/parse.ts';
export { type LineTable, type Position, positionAt, type Span } from './syntax/position.ts';
export type { SyntaxDiagnostic } from './syntax/problem.ts';
