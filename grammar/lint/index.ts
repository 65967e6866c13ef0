/** The linter, as other parts may use it. */
export { analyse, MAX_FINDINGS } from './analyse.ts';
export { LINTS, type LintCode, type Severity } from './codes.ts';
export type { CheckedFile, Edit, Environment, Finding, Fix, ToolShape } from './finding.ts';
