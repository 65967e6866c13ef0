/** Statements that leave a block with a value, or as NeuroScript cannot. */
import type { Block } from './blocks.ts';
import { translate } from './expression.ts';
import type { Piece } from './pieces.ts';
import { emit } from './prints.ts';
import type { Scope } from './scope.ts';
import { plain } from './values.ts';

export interface Inside {
  /** The blocks around it, the outermost first. */
  readonly blocks: readonly Block[];
  /** The first word of the next statement. */
  readonly next: string;
  readonly scope: Scope;
}

/**
 * The last expression of a procedure is its value in Rust and Ruby. A command block returns no value, and can only emit it. Null for any other
 * statement.
 */
export function returned(source: string, { words }: Piece, { blocks, next, scope }: Inside): readonly string[] | null {
  const [first, ...value] = words;
  if (first?.text === 'return' && value.length > 0 && blocks[0]?.kind === 'command' && !scope.inside) {
    scope.guess();
    return [...emit(source, value, scope), ...(blocks.length > 1 ? ['return'] : [])];
  }
  if (blocks.at(-1)?.kind !== 'func' || !/^(?:\}|end|endfunc)$/.test(next)) return null;
  if (!words.some(({ text }) => /^[-+*/%]$/.test(text)) || words.some(({ text }) => /^(?:[-+*/]?=|:=|<-|return)$/.test(text)))
    return null;
  scope.guess();
  return [`return ${plain(translate(source, words, scope))}`];
}

/** Whether a statement is the `break` that ends a case. */
export function leavesSwitch(blocks: readonly Block[], { words }: Piece): boolean {
  return words.length === 1 && words[0]?.text === 'break' && blocks.at(-1)?.kind === 'switch';
}

/** Records a statement that leaves a block as NeuroScript cannot: a `break` deep in a `switch`, a `continue` before the test of a loop. */
export function noteLeaving(blocks: readonly Block[], { words }: Piece): void {
  const word = words.find(({ kind, text }) => kind === 'name' && (text === 'break' || text === 'continue'))?.text;
  if (word === undefined) return;
  const inner = blocks.findLast(({ kind }) => /^(?:while|for|repeat|switch)$/.test(kind));
  if (inner?.kind === 'switch' && !(words.length === 1 && inner === blocks.at(-1))) inner.doubtful = true;
  if (inner?.kind === 'repeat' && word === 'continue') inner.doubtful = true;
}

/** Whether `next`, indented by `width`, goes on with a loop, as in Ruby, and does not end one, as in Basic. */
export function skips({ words }: Piece, width: number, inner: Block | undefined): boolean {
  return ['if', 'unless'].includes(words[1]?.text ?? '') || (words.length === 1 && inner !== undefined && width > inner.width);
}
