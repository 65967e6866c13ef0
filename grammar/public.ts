/** What users of the package may import of the language. */

export {
  type Estimate,
  type EstimateOptions,
  estimate,
  type Foreseen,
  type ForeseenCall,
  type ForeseenCondition,
  type ForeseenOrigin,
  type ForeseenOrigins,
  type ForeseenValue,
  type ForeseeOptions,
  type FuelCosts,
  foresee,
} from './estimate/index.ts';
export * from './format/index.ts';
export {
  analyse,
  type CheckedFile,
  type Edit,
  type Environment,
  type Finding,
  type Fix,
  LINTS,
  type LintCode,
  type Severity,
  type ToolShape,
} from './lint/index.ts';
export { errorsWithFixes, type FixedDiagnostic, findingsWithFixes, withEdits } from './repair/index.ts';
export type * from './syntax/ast.ts';
export type * from './syntax/astexpressions.ts';
export { type Lexeme, type LexemeKind, lexemesOf } from './syntax/lexemes.ts';
export { type ParseOptions, type ParseResult, parse } from './syntax/parse.ts';
export { type LineTable, type Position, positionAt, type Span } from './syntax/position.ts';
export type { SyntaxDiagnostic } from './syntax/problem.ts';
