/** The blocks that are open while a source is parsed, and the statements collected for the innermost one. */
import type { IToken, TokenType } from 'chevrotain';
import type { Block, ErrorHandler, Stmt } from './ast.ts';

export interface OpenBlock {
  readonly token: IToken;
  readonly closer: TokenType;
  /** Whether an `else` may still come: the parser reads the first branch of an `if`. */
  canElse: boolean;
}

/** The blocks around the current place, outermost first. */
export class BlockStack {
  readonly #blocks: OpenBlock[] = [];

  get depth(): number {
    return this.#blocks.length;
  }

  get innermost(): OpenBlock | undefined {
    return this.#blocks.at(-1);
  }

  enter(token: IToken, closer: TokenType, canElse = false): void {
    this.#blocks.push({ token, closer, canElse });
  }

  leave(): OpenBlock | undefined {
    return this.#blocks.pop();
  }

  /** Whether any open block ends with this keyword. */
  awaits(closer: TokenType): boolean {
    return this.#blocks.some((block) => block.closer === closer);
  }

  /** Whether any open `if` can still take an `else`. */
  awaitsElse(): boolean {
    return this.#blocks.some((block) => block.canElse);
  }
}

/** Collects the statements of one block, and its handler. */
export class BlockBuilder {
  readonly stmts: Stmt[] = [];
  onError: ErrorHandler | undefined;

  done(): Block {
    return this.onError === undefined ? { stmts: this.stmts } : { stmts: this.stmts, onError: this.onError };
  }
}
