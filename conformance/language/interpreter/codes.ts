/** Errors as programs see them. */
import type { Failure } from './meter.ts';
import { Dict, List, type Value } from './values.ts';

/** The names of all codes. A code that is not here has no name. */
export const CODE_NAMES: ReadonlyMap<number, string> = new Map([
  [0, 'Generic'],
  [1, 'FailStatement'],
  [2, 'ProcNotFound'],
  [3, 'ToolNotFound'],
  [4, 'ArgMismatch'],
  [5, 'MustFailed'],
  [6, 'Internal'],
  [7, 'Type'],
  [8, 'Bounds'],
  [9, 'KeyNotFound'],
  [10, 'Security'],
  [11, 'ReadOnly'],
  [12, 'ReturnViolation'],
  [13, 'ClearViolation'],
  [14, 'DivisionByZero'],
  [15, 'Syntax'],
  [16, 'LLMError'],
  [17, 'Evaluation'],
  [18, 'Configuration'],
  [19, 'PreconditionFailed'],
  [20, 'RateLimited'],
  [21, 'ToolExecutionFailed'],
  [22, 'FileNotFound'],
  [23, 'PathTypeMismatch'],
  [24, 'PathExists'],
  [25, 'PermissionDenied'],
  [26, 'IOFailed'],
  [27, 'TreeConstraintViolation'],
  [28, 'NodeWrongType'],
  [29, 'AttributeNotFound'],
  [30, 'UnknownKeyword'],
  [31, 'TypeAssertionFailed'],
  [32, 'ExecutionFailed'],
  [33, 'TreeIntegrity'],
  [34, 'PathViolation'],
  [35, 'NotImplemented'],
  [36, 'CountMismatch'],
  [37, 'ResourceExhaustion'],
  [38, 'NestingDepthExceeded'],
  [39, 'ControlFlow'],
  [41, 'InvalidValue'],
  [42, 'Duplicate'],
  [43, 'WriteViolation'],
  [1000, 'ToolSpecific'],
  [1001, 'Config'],
  [1002, 'External'],
  [1003, 'Policy'],
  [1004, 'ProviderNotFound'],
  [99_901, 'AttackPossible'],
  [99_902, 'AttackProbable'],
  [99_903, 'AttackCertain'],
  [99_904, 'SubsystemCompromised'],
  [99_905, 'SubsystemQuarantined'],
  [99_906, 'EscapePossible'],
  [99_907, 'EscapeProbable'],
  [99_908, 'EscapeCertain'],
  [99_909, 'SecretDecryption'],
]);

/** The variable `system_error` of a handler. */
export function errorMap({ code, message, at, stack_ }: Failure): Dict {
  const stack = stack_.map(({ name, source, line, column }) => dict({ name, source, line, column }));
  return dict({ code, name: CODE_NAMES.get(code) ?? '', message, line: at.line, column: at.column, stack: new List(stack) });
}

function dict(fields: Readonly<Record<string, Value>>): Dict {
  return new Dict(Object.entries(fields));
}
