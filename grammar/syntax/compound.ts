/** Compound statements: statements that contain statements, error handlers and event handlers. */
import type { IOrAlt, IToken, TokenType } from 'chevrotain';
import type { Block, ErrorHandler, EventHandler, ForStmt, Stmt } from './ast.ts';
import type { Expr, Name } from './astexpressions.ts';
import { BlockBuilder } from './blocks.ts';
import { nameOf } from './build.ts';
import type { Rule } from './expressions.ts';
import { SimpleStatementParser } from './statements.ts';
import { togetherProblems } from './together.ts';
import {
  blockEnds,
  contextual,
  Identifier,
  keyword,
  lineStarters,
  Metadata,
  Newline,
  NoStatement,
  punct,
  StringLiteral,
} from './tokens.ts';

/** Tokens that continue the body of a block. */
const statementStarts: ReadonlySet<TokenType> = new Set([
  ...[...lineStarters].filter(
    (type) => !blockEnds.has(type) && type !== keyword.else && type !== keyword.func && type !== keyword.command,
  ),
  NoStatement,
  Metadata,
]);

type ForHead = Pick<ForStmt, 'key' | 'item' | 'over' | 'together'>;

export abstract class StatementParser extends SimpleStatementParser {
  /** The events of the file; a place is empty while its handler is being read. */
  protected events: (EventHandler | undefined)[] = [];
  #current = new BlockBuilder();
  /** Whether a block ended without its end keyword, so that no line end follows it. */
  #cut = false;
  /** Whether the text ended within a block, so that more text could complete it. */
  protected openAtEnd = false;
  /** Number of open blocks at the top of a command block: itself, or none for statements at a prompt. */
  protected commandDepth = 1;

  protected override prepare(...source: Parameters<SimpleStatementParser['prepare']>): void {
    super.prepare(...source);
    this.events = [];
    this.#current = new BlockBuilder();
    this.#cut = false;
    this.openAtEnd = false;
    this.commandDepth = 1;
  }

  readonly #statement: Rule<Stmt | undefined> = this.RULE('statement', (): Stmt | undefined =>
    this.line(() => {
      const statement = this.OR(this.#statements);
      if (this.#cut) this.#cut = false;
      else this.CONSUME(Newline);
      return statement;
    }),
  );

  readonly #statements: [IOrAlt<Stmt>, ...IOrAlt<Stmt>[]] = [
    { ALT: () => this.SUBRULE(this.setStatement) },
    { ALT: () => this.SUBRULE(this.#ifStatement) },
    { ALT: () => this.SUBRULE(this.emitStatement) },
    { ALT: () => this.SUBRULE(this.callStatement) },
    { ALT: () => this.SUBRULE(this.returnStatement) },
    { ALT: () => this.SUBRULE(this.#forStatement) },
    { ALT: () => this.SUBRULE(this.#whileStatement) },
    { ALT: () => this.SUBRULE(this.#togetherStatement) },
    { ALT: () => this.SUBRULE(this.mustStatement) },
    { ALT: () => this.SUBRULE(this.failStatement) },
    { ALT: () => this.SUBRULE(this.whisperStatement) },
    { ALT: () => this.SUBRULE(this.breakStatement) },
    { ALT: () => this.SUBRULE(this.continueStatement) },
    { ALT: () => this.SUBRULE(this.clearErrorStatement) },
    { ALT: () => this.SUBRULE(this.clearEventStatement) },
    { ALT: () => this.SUBRULE(this.askStatement) },
    { ALT: () => this.SUBRULE(this.promptStatement) },
    { ALT: () => this.SUBRULE(this.#onStatement) },
    { ALT: () => this.SUBRULE(this.misplaced) },
  ];

  /** Statements up to a keyword that ends this block or one around it. `whole` says that the head of the block was read. */
  protected readonly body: Rule<Block, [boolean]> = this.RULE('body', (whole: boolean): Block => {
    const outer = this.#current;
    const block = new BlockBuilder();
    this.#current = block;
    let lines = 0;
    if (this.RECORDING_PHASE) this.SUBRULE(this.#statement);
    // A plain loop takes few stack frames; see ExpressionParser.expression.
    for (;;) {
      const type = this.LA(1).tokenType;
      if (type === Newline) {
        this.SKIP_TOKEN();
      } else if (statementStarts.has(type)) {
        lines++;
        const statement = this.SUBRULE(this.#statement);
        if (statement !== undefined) block.stmts.push(statement);
      } else if (!this.#strayEnd()) {
        break;
      }
    }
    this.#current = outer;
    if (lines === 0 && whole && blockEnds.has(this.LA(1).tokenType)) this.#reportEmpty();
    else if (lines === 0 && whole && this.LA(1).tokenType === keyword.else) this.#reportEmpty();
    return block.done();
  });

  #reportEmpty(): void {
    const block = this.blocks.innermost;
    if (block === undefined || this.RECORDING_PHASE) return;
    const hint = 'write a statement in it or delete the block; comments and blank lines are not statements';
    this.reportStructure(this.LA(1), `this \`${block.token.image}\` block is empty`, hint);
  }

  /** Skips an end keyword or `else` that belongs to no open block. Returns whether the body continues after it. */
  #strayEnd(): boolean {
    const token = this.LA(1);
    const type = token.tokenType;
    const block = this.blocks.innermost;
    if (block === undefined) return false;
    if (type === keyword.else) {
      if (this.LA(2).tokenType === keyword.if && this.blocks.awaitsElse()) this.#elseIf();
      else if (block.canElse || this.blocks.awaitsElse()) return false;
      else this.reportStructure(token, '`else` belongs to no open `if`');
    } else if (blockEnds.has(type) && type !== block.closer && !this.blocks.awaits(type)) {
      const line = this.lineOf(block.token);
      const message = `\`${token.image}\` ends no open block: the innermost one is the \`${block.token.image}\` on line ${line}`;
      this.reportStructure(token, message, `end that block with ${block.closer.LABEL ?? ''}`);
      this.broken = true;
    } else {
      return false;
    }
    this.SKIP_TOKEN();
    this.skipLine();
    if (this.LA(1).tokenType === Newline) this.SKIP_TOKEN();
    return true;
  }

  #elseIf(): void {
    const hint = 'write `else`, on the next line `if …`, and one more `endif` after the inner one';
    this.reportStructure(this.LA(2), '`else if` is not a statement', hint);
    this.broken = true;
  }

  /** Leaves the innermost block. Returns whether its end keyword comes next; if not, reports that the block was never closed. */
  protected closes(): boolean {
    const block = this.blocks.leave();
    if (block === undefined || this.RECORDING_PHASE || this.LA(1).tokenType === block.closer) {
      this.#cut = false;
      return true;
    }
    this.#cut = true;
    this.openAtEnd ||= this.atEnd();
    this.owe(block.closer);
    const closer = block.closer.LABEL ?? '';
    const next = this.LA(1);
    const before = this.atEnd() ? 'the end of the file' : `\`${next.image}\` on line ${this.lineOf(next)}`;
    this.reportStructure(block.token, `this \`${block.token.image}\` block is never closed`, `write ${closer} before ${before}`);
    return false;
  }

  protected readonly condition: Rule<Expr> = this.RULE('condition', (): Expr => {
    const value = this.SUBRULE(this.expression);
    this.CONSUME(Newline);
    return value;
  });

  readonly #lineEnd: Rule<true> = this.RULE('lineEnd', (): true => {
    this.CONSUME(Newline);
    return true;
  });

  readonly #ifStatement: Rule<Stmt> = this.RULE('ifStatement', (): Stmt => {
    const open = this.CONSUME(keyword.if);
    const cond = this.line(() => this.SUBRULE(this.condition));
    this.blocks.enter(open, keyword.endif, true);
    const then = this.SUBRULE(this.body, { ARGS: [cond !== undefined] });
    let otherwise: Block | undefined;
    this.OPTION(() => {
      this.CONSUME(keyword.else);
      const block = this.blocks.innermost;
      if (block !== undefined) block.canElse = false;
      const whole = this.line(() => this.SUBRULE(this.#lineEnd));
      otherwise = this.SUBRULE2(this.body, { ARGS: [whole === true] });
    });
    if (this.closes()) this.CONSUME(keyword.endif);
    const span = { s: open.startOffset, e: this.end() };
    const known = cond ?? this.#nothing(open);
    return otherwise === undefined
      ? { k: 'if', cond: known, then, ...span }
      : { k: 'if', cond: known, then, else: otherwise, ...span };
  });

  /** A placeholder for an expression that could not be read. The parser never returns a tree that contains it. */
  #nothing(token: IToken): Expr {
    return { k: 'nil', s: token.startOffset, e: token.startOffset };
  }

  readonly #whileStatement: Rule<Stmt> = this.RULE('whileStatement', (): Stmt => {
    const open = this.CONSUME(keyword.while);
    const cond = this.line(() => this.SUBRULE(this.condition));
    this.blocks.enter(open, keyword.endwhile);
    this.loops++;
    const body = this.SUBRULE(this.body, { ARGS: [cond !== undefined] });
    this.loops--;
    if (this.closes()) this.CONSUME(keyword.endwhile);
    return { k: 'while', cond: cond ?? this.#nothing(open), body, s: open.startOffset, e: this.end() };
  });

  readonly #togetherStatement: Rule<Stmt> = this.RULE('togetherStatement', (): Stmt => {
    const open = this.CONSUME(contextual.together);
    const whole = this.line(() => this.SUBRULE(this.#lineEnd));
    this.blocks.enter(open, contextual.endtogether);
    const body = this.SUBRULE(this.body, { ARGS: [whole === true] });
    if (this.closes()) this.CONSUME(contextual.endtogether);
    this.#checkTogether(body, false);
    return { k: 'together', body, s: open.startOffset, e: this.end() };
  });

  #checkTogether(body: Block, loop: boolean): void {
    if (this.RECORDING_PHASE) return;
    for (const found of togetherProblems(body, loop)) this.report(found);
  }

  readonly #forHead: Rule<ForHead> = this.RULE('forHead', (): ForHead => {
    this.CONSUME(keyword.each);
    const first = nameOf(this.CONSUME(Identifier));
    let second: Name | undefined;
    this.OPTION(() => {
      this.CONSUME(punct.comma);
      second = nameOf(this.CONSUME2(Identifier));
    });
    this.CONSUME(keyword.in);
    const over = this.SUBRULE(this.expression);
    let together: { together?: true } = {};
    this.OPTION2({
      GATE: () => this.LA(1).image === 'together',
      DEF: () => {
        this.CONSUME3(Identifier);
        together = { together: true };
      },
    });
    this.CONSUME(Newline);
    return second === undefined ? { item: first, over, ...together } : { key: first, item: second, over, ...together };
  });

  readonly #forStatement: Rule<Stmt> = this.RULE('forStatement', (): Stmt => {
    const open = this.CONSUME(keyword.for);
    const head = this.line(() => this.SUBRULE(this.#forHead));
    this.blocks.enter(open, keyword.endfor);
    this.loops++;
    const body = this.SUBRULE(this.body, { ARGS: [head !== undefined] });
    this.loops--;
    if (this.closes()) this.CONSUME(keyword.endfor);
    if (head?.together === true) this.#checkTogether(body, true);
    return { k: 'for', ...(head ?? { item: nameOf(open), over: this.#nothing(open) }), body, s: open.startOffset, e: this.end() };
  });

  readonly #onStatement: Rule<Stmt> = this.RULE('onStatement', (): Stmt => {
    const open = this.CONSUME(keyword.on);
    const next = this.LA(1).tokenType;
    if (!this.RECORDING_PHASE && next !== keyword.event && next !== keyword.error) {
      this.broken = true;
      this.mismatch('`error` or `event`');
    }
    return this.OR([
      {
        ALT: (): Stmt => {
          const handler = this.SUBRULE(this.#errorHandler, { ARGS: [open] });
          return { k: 'on_error', s: handler.s, e: handler.e };
        },
      },
      {
        ALT: (): Stmt => {
          if (this.inCommand && this.blocks.depth === this.commandDepth) {
            this.reportAt(
              open,
              '`on event` cannot stand in a command block',
              'define the handler in a library file, beside the procedures',
            );
          }
          const index = this.SUBRULE(this.eventHandler, { ARGS: [open] });
          return { k: 'on_event', index, s: open.startOffset, e: this.end() };
        },
      },
    ]);
  });

  readonly #errorHead: Rule<true> = this.RULE('errorHead', (): true => {
    this.CONSUME(keyword.error);
    this.CONSUME(keyword.do);
    this.CONSUME(Newline);
    return true;
  });

  readonly #errorHandler: Rule<ErrorHandler, [IToken]> = this.RULE('errorHandler', (open: IToken): ErrorHandler => {
    const guarded = this.#current;
    const whole = this.line(() => this.SUBRULE(this.#errorHead));
    this.blocks.enter(open, keyword.endon);
    const body = this.SUBRULE(this.body, { ARGS: [whole === true] });
    if (this.closes()) this.CONSUME(keyword.endon);
    const handler: ErrorHandler = { body, s: open?.startOffset ?? 0, e: this.end() };
    if (guarded.onError === undefined) guarded.onError = handler;
    else
      this.reportAt(open, 'this block already has an `on error` handler', 'one handler guards all of the block: merge the two');
    return handler;
  });

  readonly #eventHead: Rule<Omit<EventHandler, 's' | 'e' | 'body'>> = this.RULE(
    'eventHead',
    (): Omit<EventHandler, 's' | 'e' | 'body'> => {
      this.CONSUME(keyword.event);
      const event = this.SUBRULE(this.expression);
      let named: string | undefined;
      let as: Name | undefined;
      this.OPTION(() => {
        this.CONSUME(keyword.named);
        named = this.CONSUME(StringLiteral).image;
      });
      this.OPTION2(() => {
        this.CONSUME(keyword.as);
        as = nameOf(this.CONSUME(Identifier));
      });
      this.CONSUME(keyword.do);
      this.CONSUME(Newline);
      return { event, named, as };
    },
  );

  /** Returns the index of the handler in the list of all events of the file. */
  protected readonly eventHandler: Rule<number, [IToken]> = this.RULE('eventHandler', (open: IToken): number => {
    // Reserving the index before reading the body puts nested handlers after this one, as in the text.
    const index = this.events.push(undefined) - 1;
    const outer = { loops: this.loops, inCommand: this.inCommand };
    this.loops = 0;
    this.inCommand = false;
    const head = this.line(() => this.SUBRULE(this.#eventHead));
    this.blocks.enter(open, keyword.endon);
    const body = this.SUBRULE(this.body, { ARGS: [head !== undefined] });
    if (this.closes()) this.CONSUME(keyword.endon);
    this.loops = outer.loops;
    this.inCommand = outer.inCommand;
    this.events[index] = {
      ...(head ?? { event: this.#nothing(open ?? this.LA(1)) }),
      body,
      s: open?.startOffset ?? 0,
      e: this.end(),
    };
    return index;
  });

  protected startsTopLevel(type: TokenType): boolean {
    return type === keyword.func || type === keyword.command || (type === keyword.on && this.LA(2).tokenType === keyword.event);
  }
}
