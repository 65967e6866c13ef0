/** The numeric error codes of the language. A script sees the number and the name in `system_error`. */
export const NS_CODES = {
  Generic: 0,
  FailStatement: 1,
  ProcNotFound: 2,
  ToolNotFound: 3,
  ArgMismatch: 4,
  MustFailed: 5,
  Internal: 6,
  Type: 7,
  Bounds: 8,
  KeyNotFound: 9,
  Security: 10,
  ReadOnly: 11,
  ReturnViolation: 12,
  ClearViolation: 13,
  DivisionByZero: 14,
  Syntax: 15,
  LLMError: 16,
  Evaluation: 17,
  Configuration: 18,
  PreconditionFailed: 19,
  RateLimited: 20,
  ToolExecutionFailed: 21,
  FileNotFound: 22,
  PathTypeMismatch: 23,
  PathExists: 24,
  PermissionDenied: 25,
  IOFailed: 26,
  TreeConstraintViolation: 27,
  NodeWrongType: 28,
  AttributeNotFound: 29,
  UnknownKeyword: 30,
  TypeAssertionFailed: 31,
  ExecutionFailed: 32,
  TreeIntegrity: 33,
  PathViolation: 34,
  NotImplemented: 35,
  CountMismatch: 36,
  ResourceExhaustion: 37,
  NestingDepthExceeded: 38,
  ControlFlow: 39,
  InvalidValue: 41,
  Duplicate: 42,
  WriteViolation: 43,
  ToolSpecific: 1000,
  Config: 1001,
  External: 1002,
  Policy: 1003,
  ProviderNotFound: 1004,
  AttackPossible: 99901,
  AttackProbable: 99902,
  AttackCertain: 99903,
  SubsystemCompromised: 99904,
  SubsystemQuarantined: 99905,
  EscapePossible: 99906,
  EscapeProbable: 99907,
  EscapeCertain: 99908,
  SecretDecryption: 99909,
} as const;

/** A name of the table, as a script sees it in `system_error`. */
export type NsCodeName = keyof typeof NS_CODES;

/** The names by their codes. Made at its first use: every isolate would make it otherwise. */
let names: ReadonlyMap<number, string> | undefined;

function nameOf(code: number): string | undefined {
  names ??= new Map(Object.entries(NS_CODES).map(([name, each]) => [each, name]));
  return names.get(code);
}

/** Whether the table has the code. Tools may raise others. */
export function isNsCode(code: number): boolean {
  return nameOf(code) !== undefined;
}

/** The last code that a tool can have of its own; those beyond it are reserved. */
export const LAST_OWN_CODE = 99_899;

/** Whether a tool can fail with the code: one of the table, or one of its own from 1000 to {@link LAST_OWN_CODE}. */
export function isToolCode(code: unknown): code is number {
  if (typeof code !== 'number') return false;
  return isNsCode(code) || (Number.isSafeInteger(code) && code >= NS_CODES.ToolSpecific && code <= LAST_OWN_CODE);
}

/** The name of a numeric code. Tools may raise codes of their own, which are all named `ToolSpecific`. */
export function nsCodeName(code: number): string {
  return nameOf(code) ?? 'ToolSpecific';
}

/** The codes of the warnings that the library gives with `process.emitWarning`. */
export const WARNINGS = {
  noLauncher: 'NEUROSCRIPT_NO_LAUNCHER',
  temporaryKeys: 'NEUROSCRIPT_TEMPORARY_KEYS',
  lateFailure: 'NEUROSCRIPT_LATE_FAILURE',
} as const;
