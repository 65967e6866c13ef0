/**
 * The language: parse, format, check and estimate sources. Entry point `neuroscript-runtime/grammar`.
 */

export {
  analyse,
  type CheckedFile,
  type Edit,
  type Environment,
  type Estimate,
  type EstimateOptions,
  estimate,
  type Finding,
  type Fix,
  type FormatResult,
  type FuelCosts,
  format,
  LINTS,
  type LineTable,
  type LintCode,
  MAX_FINDINGS,
  type ParseOptions,
  type ParseResult,
  type Position,
  parse,
  positionAt,
  type Severity,
  type SourceFile,
  type Span,
  type SyntaxDiagnostic,
  type ToolShape,
  WIDTH,
} from '../../grammar/index.ts';
