/** Which blocks are open, which end belongs to which, and what to say when they do not match. */
import type { IToken, TokenType } from 'chevrotain';
import type { Block, ErrorHandler, Stmt } from './ast.ts';

/** A block that has begun and not ended. */
export interface OpenBlock {
  /** The keyword that opened it. */
  readonly token: IToken;
  readonly closer: TokenType;
  /** An `else` may still come: the first branch of an `if`. */
  canElse: boolean;
}

/** The blocks around the place that is being parsed, outermost first. */
export class BlockStack {
  private readonly blocks: OpenBlock[] = [];

  get depth(): number {
    return this.blocks.length;
  }

  get innermost(): OpenBlock | undefined {
    return this.blocks.at(-1);
  }

  enter(token: IToken, closer: TokenType, canElse = false): void {
    this.blocks.push({ token, closer, canElse });
  }

  leave(): OpenBlock | undefined {
    return this.blocks.pop();
  }

  /** Whether some open block ends with this keyword. */
  awaits(closer: TokenType): boolean {
    return this.blocks.some((block) => block.closer === closer);
  }

  /** Whether some open `if` can still take an `else`. */
  awaitsElse(): boolean {
    return this.blocks.some((block) => block.canElse);
  }
}

/** Collects the statements of one block and its handler. */
export class BlockBuilder {
  readonly stmts: Stmt[] = [];
  onError: ErrorHandler | undefined;

  done(): Block {
    return this.onError === undefined ? { stmts: this.stmts } : { stmts: this.stmts, onError: this.onError };
  }
}
