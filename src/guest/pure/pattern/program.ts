import type { Chars } from './chars.ts';
import { type Assertion, type Node, type Pattern, PatternError } from './syntax.ts';

/** One instruction. The next one follows unless the instruction names another. */
export type Instruction =
  | { readonly op: 'chars'; readonly chars: Chars }
  | { readonly op: 'assert'; readonly assertion: Assertion }
  | { readonly op: 'save'; readonly slot: number }
  /** Continues at both, and prefers the first. */
  | { readonly op: 'split'; first: number; second: number }
  | { readonly op: 'jump'; to: number }
  | { readonly op: 'match' };

export interface Program {
  readonly code: readonly Instruction[];
  /** Names of the groups, starting with group 1; empty for groups without a name. */
  readonly groups: readonly string[];
  /** The text that every match starts with. */
  readonly prefix: string;
  /** True if a match can only start at the start of the text. */
  readonly anchored: boolean;
}

/** Maximum number of instructions, because nested counted repetitions grow exponentially. */
const MAX_CODE = 10_000;
const TOO_LONG = `it takes more than ${MAX_CODE} steps, repetitions written out`;

/** Compiles a tree. Throws {@link PatternError} if the program would be too long. */
export function compile({ root, groups }: Pattern): Program {
  const code: Instruction[] = [];
  const emit = (instruction: Instruction): number => {
    if (code.length >= MAX_CODE) throw new PatternError(TOO_LONG);
    return code.push(instruction) - 1;
  };

  /** Begins what may be skipped, and prefers to skip it if it is `lazy`. The result is called at its end. */
  const skippable = (lazy: boolean): (() => void) => {
    const split = { op: 'split' as const, first: 0, second: 0 };
    const start = emit(split) + 1;
    return () => {
      split.first = lazy ? code.length : start;
      split.second = lazy ? start : code.length;
    };
  };

  const oneOrMore = (of: Node, lazy: boolean): void => {
    const start = code.length;
    add(of);
    const end = code.length + 1;
    emit({ op: 'split', first: lazy ? end : start, second: lazy ? start : end });
  };

  const zeroOrMore = (of: Node, lazy: boolean): void => {
    // A body that can be empty must be tried once before it is skipped, to keep the order of preference.
    const start = code.length;
    const end = skippable(lazy);
    if (isNullable(of)) oneOrMore(of, lazy);
    else {
      add(of);
      emit({ op: 'jump', to: start });
    }
    end();
  };

  const repeat = ({ of, least, most, lazy }: Extract<Node, { k: 'repeat' }>): void => {
    if (most === Number.POSITIVE_INFINITY) {
      for (let each = 1; each < least; each++) add(of);
      if (least === 0) zeroOrMore(of, lazy);
      else oneOrMore(of, lazy);
      return;
    }
    for (let each = 0; each < least; each++) add(of);
    const ends: (() => void)[] = [];
    for (let each = least; each < most; each++) {
      ends.push(skippable(lazy));
      add(of);
    }
    for (const end of ends) end();
  };

  const choice = (parts: readonly Node[]): void => {
    const jumps: { to: number }[] = [];
    for (const [index, part] of parts.entries()) {
      if (index === parts.length - 1) {
        add(part);
        break;
      }
      const end = skippable(false);
      add(part);
      const jump = { op: 'jump' as const, to: 0 };
      emit(jump);
      jumps.push(jump);
      end();
    }
    for (const jump of jumps) jump.to = code.length;
  };

  let added = 0;
  const add = (node: Node): void => {
    // Nodes without instructions can be repeated exponentially as well.
    if (++added > 4 * MAX_CODE) throw new PatternError(TOO_LONG);
    switch (node.k) {
      case 'empty':
        return;
      case 'chars':
        emit({ op: 'chars', chars: node.chars });
        return;
      case 'assertion':
        emit({ op: 'assert', assertion: node.assertion });
        return;
      case 'sequence':
        for (const part of node.parts) add(part);
        return;
      case 'choice':
        choice(node.parts);
        return;
      case 'repeat':
        repeat(node);
        return;
      case 'group':
        emit({ op: 'save', slot: 2 * node.index });
        add(node.of);
        emit({ op: 'save', slot: 2 * node.index + 1 });
        return;
    }
  };

  add(root);
  emit({ op: 'match' });
  return { code, groups, prefix: prefixOf(root), anchored: code[0]?.op === 'assert' && code[0].assertion === 'text start' };
}

function isNullable(node: Node): boolean {
  switch (node.k) {
    case 'empty':
    case 'assertion':
      return true;
    case 'chars':
      return false;
    case 'sequence':
      return node.parts.every(isNullable);
    case 'choice':
      return node.parts.some(isNullable);
    case 'repeat':
      return node.least === 0 || isNullable(node.of);
    case 'group':
      return isNullable(node.of);
  }
}

function prefixOf(root: Node): string {
  const parts = root.k === 'sequence' ? root.parts : [root];
  let prefix = '';
  for (const part of parts) {
    if (part.k !== 'chars' || part.literal === null) break;
    prefix += part.literal;
  }
  return prefix;
}
