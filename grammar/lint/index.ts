/** The linter's face for other parts. */
export { analyse, MAX_FINDINGS } from './analyse.ts';
export { LINTS, type LintCode, type Severity } from './codes.ts';
export type { CheckedFile, Edit, Environment, Finding, Fix, ToolShape } from './finding.ts';
