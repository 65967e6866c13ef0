/** The variables of a statement, with where their values come from. */
import type { SourceFile, Stmt } from '../syntax/ast.ts';
import type { AccessStep, Expr } from '../syntax/astexpressions.ts';
import type { CallNode } from './calls.ts';
import { allOf, CLEAN, extended, ofParts, type Sources, type Taint, type Variables } from './taint.ts';

export interface CallOrigins {
  /** Those of each argument. */
  readonly args: readonly Sources[];
  /** Those of what decides whether and how often the call is made. */
  readonly deciding: Sources;
}

/** A source, and the node that brings it in. */
export interface SourceNode {
  readonly from: string;
  readonly file: SourceFile;
  readonly node: CallNode;
}

/** The tools that run inside the isolate, and those that set no variables, by canonical name. */
export interface ToolKinds {
  readonly pure: ReadonlySet<string>;
  readonly keeping: ReadonlySet<string>;
}

/** The variables of a statement, which its calls may change. */
export class Scope {
  variables: Variables;
  last: Taint = CLEAN;

  constructor(variables: Variables) {
    this.variables = variables;
  }

  has(name: string): boolean {
    return this.variables.has(name);
  }

  get(name: string): Taint {
    return this.variables.get(name) ?? CLEAN;
  }

  set(name: string, value: Taint): void {
    this.variables = new Map(this.variables).set(name, value);
  }

  get all(): Sources {
    return [...this.variables.values()].reduce((all, taint) => all | allOf(taint), 0n);
  }

  /** A tool may have set any variable to what it was given or knows. */
  spread(sources: Sources): void {
    this.variables = new Map([...this.variables].map(([name, taint]) => [name, extended(taint, sources)]));
  }
}

/** The key of a step; null where it is not certain. */
export function keyOf(step: AccessStep): string | null {
  if (step.k === 'field') return step.name;
  const { index } = step;
  return index.k === 'str' ? index.v : index.k === 'num' ? `${index.v}` : null;
}

/** Equal for values with the same sources. */
export function textOf({ own, parts }: Taint): string {
  return parts === undefined
    ? `${own}`
    : `${own}{${[...parts].map(([key, part]) => `${JSON.stringify(key)}:${textOf(part)}`).join()}}`;
}

/** All sources that decided on an end. */
export function sumOf({
  failed,
  all,
  loop,
}: {
  readonly failed: Sources;
  readonly all: Sources;
  readonly loop: Sources;
}): Sources {
  return failed | all | loop;
}

export function listOf(items: readonly Taint[]): Taint {
  return ofParts(new Map(items.map((item, index) => [`${index}`, item])), 0n);
}

/** The expressions of a statement that only uses them. */
export function othersOf(stmt: Stmt): readonly Expr[] {
  switch (stmt.k) {
    case 'call':
      return [stmt.call];
    case 'emit':
      return [stmt.value];
    case 'whisper':
      return [stmt.handle, stmt.value];
    case 'clear_event':
      return stmt.event === undefined ? [] : [stmt.event];
    default:
      return [];
  }
}

/** The global variable of turns with USERDATA. */
export const USERDATA = 'userdata';

/** Thrown for a program that is too large to follow. */
export class TooMany extends Error {}
