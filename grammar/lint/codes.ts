/** The table of all lint codes. The codes are stable; each has a section in `docs/lints.md`. */

/** `error`: the place fails whenever it is reached. `warning`: probably a mistake. `info`: can be simpler. */
export type Severity = 'error' | 'warning' | 'info';

/** The severity and the subject of every code. */
export const LINTS = {
  LINT_UNKNOWN_PROCEDURE: { severity: 'error', title: 'a call of a procedure that no file defines' },
  LINT_UNKNOWN_TOOL: { severity: 'error', title: 'a call of a tool that does not exist' },
  LINT_DENIED_TOOL: { severity: 'error', title: 'a call of a tool that the policy denies' },
  LINT_DUPLICATE_PROCEDURE: { severity: 'error', title: 'a procedure that another file also defines' },
  LINT_ARGUMENT_COUNT: { severity: 'error', title: 'a call with too few or too many arguments' },
  LINT_ARGUMENT_TYPE: { severity: 'error', title: 'an argument that the tool cannot take' },
  LINT_SET_GLOBAL: { severity: 'error', title: 'an assignment to a global' },
  LINT_CLEAR_ERROR_OUTSIDE: { severity: 'error', title: '`clear_error` outside an `on error` block' },
  LINT_RETURN_IN_HANDLER: { severity: 'error', title: '`return` in an `on error` block' },
  LINT_NEVER_SET: { severity: 'warning', title: 'a variable that is read but never set' },
  LINT_MAP_KEY: { severity: 'warning', title: 'a map key that is a variable that is never set' },
  LINT_UNUSED_VARIABLE: { severity: 'warning', title: 'a variable that is set but never read' },
  LINT_UNUSED_PARAMETER: { severity: 'info', title: 'a parameter or loop variable that is never read' },
  LINT_SHADOWED_GLOBAL: { severity: 'warning', title: 'a variable that hides a global' },
  LINT_SHADOWED_BUILTIN: { severity: 'warning', title: 'a procedure that a built-in function hides' },
  LINT_UNREACHABLE: { severity: 'warning', title: 'statements that are never executed' },
  LINT_HANDLER_NEVER_RUNS: { severity: 'warning', title: 'an `on error` block that guards nothing that can fail' },
  LINT_GOES_ON: { severity: 'warning', title: 'a handler that goes on as if a check had passed' },
  LINT_KEPT_VALUE: { severity: 'warning', title: 'a variable that keeps the value of the pass before' },
  LINT_UNSEEN_RESULT: { severity: 'warning', title: 'a call whose result nothing looks at' },
  LINT_LOGIC_VALUE: { severity: 'warning', title: '`and` or `or` used to choose a value' },
  LINT_OPERAND: { severity: 'error', title: 'an operator that cannot take its operand' },
  LINT_PLAIN_TEMPLATE: { severity: 'warning', title: 'text in quotes that looks like a template' },
  LINT_PATTERN: { severity: 'warning', title: 'a pattern with a backspace, or after its text' },
  LINT_NEGATIVE_INDEX: { severity: 'warning', title: 'an index below zero' },
  LINT_COMMENT_TRAP: { severity: 'warning', title: 'an operator that begins a comment' },
  LINT_INVISIBLE: { severity: 'info', title: 'an invisible character in a text or comment' },
  LINT_DOUBLE_BRACKET: { severity: 'warning', title: '`[[` that does not mean what it looks like' },
} as const satisfies Record<string, { readonly severity: Severity; readonly title: string }>;

/** A stable code of the linter. */
export type LintCode = keyof typeof LINTS;

/** The codes whose edits keep what a program does. */
export const KEEPS_MEANING: ReadonlySet<LintCode> = new Set(['LINT_UNUSED_PARAMETER']);
