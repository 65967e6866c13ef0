/** The statement half of the grammar, and recovery from errors line by line (language.md 2, 2.2). */
import { type IOrAlt, type IToken, isRecognitionException, type ParserMethod, type TokenType } from 'chevrotain';
import {
  type Block,
  type ErrorHandler,
  type EventHandler,
  type Expr,
  type LineTable,
  type Name,
  positionAt,
  type Stmt,
  type Target,
} from './ast.ts';
import { BlockBuilder, BlockStack } from './blocks.ts';
import { endOf, nameOf } from './build.ts';
import { ExpressionParser, startsExpression } from './expressions.ts';
import { type Finding, finding, MAX_FINDINGS } from './finding.ts';
import { explain } from './hints.ts';
import type { Scanned } from './scan.ts';
import { blockEnds, Identifier, keyword, Misplaced, Newline, punct, StringLiteral } from './tokens.ts';
import { opensForeignBlock } from './words.ts';

const noLines: LineTable = { starts: [0], astral: [] };

type Rule<T, A extends unknown[] = []> = ParserMethod<A, T>;

/** Longest condition text that `must` shows, in characters (P3). */
const MUST_TEXT = 200;

export abstract class StatementParser extends ExpressionParser {
  protected text = '';
  private lines: LineTable = noLines;
  protected findings: Finding[] = [];
  protected events: (EventHandler | undefined)[] = [];
  protected readonly blocks = new BlockStack();
  /** The pairing of blocks went wrong in this top-level block: further complaints about it would be noise. */
  protected broken = false;
  /** Inside `command`, where `return` takes no value; event handlers in it do not count. */
  protected inCommand = false;
  /** Start of the top-level block. */
  protected topLevelAt = 0;
  /** Offsets of the lexer's findings, ascending. */
  private reported: readonly number[] = [];
  private breaks: readonly number[] = [];
  private current = new BlockBuilder();
  private loops = 0;
  /** A block ended without its end keyword, so no line end follows it. */
  private cut = false;
  /** End of the line in which a mismatch was last met. */
  private quietUntil = -1;

  /** Prepares for a new source. */
  protected prepare(text: string, lines: LineTable, scanned: Scanned): void {
    this.text = text;
    this.lines = lines;
    this.findings = [];
    this.events = [];
    this.broken = false;
    this.inCommand = false;
    this.topLevelAt = 0;
    this.reported = scanned.findings.map((found) => found.s).sort((a, b) => a - b);
    this.breaks = scanned.breaks;
    this.loops = 0;
    this.cut = false;
    this.quietUntil = -1;
    this.input = scanned.tokens;
  }

  // ---- reporting and recovery -------------------------------------------------------------------------------------------

  protected report(found: Finding): void {
    if (this.findings.length < MAX_FINDINGS) this.findings.push(found);
  }

  protected reportAt(token: IToken, message: string, hint?: string): void {
    this.report(finding(token.startOffset, endOf(token), message, hint));
  }

  /** Reports a problem of the pairing of blocks, unless an earlier problem may be its cause. */
  protected reportStructure(token: IToken, message: string, hint?: string): void {
    if (this.broken || this.anyBetween(this.breaks, this.topLevelAt, this.position())) return;
    this.reportAt(token, message, hint);
  }

  /** Offset of the next token, or the length of the text. */
  protected position(): number {
    const next = this.LA(1);
    return next.tokenType.name === 'EOF' ? this.text.length : next.startOffset;
  }

  protected atEnd(): boolean {
    return this.LA(1).tokenType.name === 'EOF';
  }

  private anyBetween(ascending: readonly number[], from: number, to: number): boolean {
    let low = 0;
    let high = ascending.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((ascending[middle] ?? 0) < from) low = middle + 1;
      else high = middle;
    }
    return (ascending[low] ?? Number.POSITIVE_INFINITY) <= to;
  }

  /**
   * Reads something that ends with its line. A mismatch is reported once a line, and not at all where the lexer has already
   * complained; then the rest of the line is skipped.
   */
  protected line<T>(read: () => T): T | undefined {
    const first = this.LA(1);
    const before = this.RECORDING_PHASE ? 0 : endOf(this.LA(0));
    try {
      return read();
    } catch (error) {
      if (!(error instanceof Error) || !isRecognitionException(error)) throw error;
      this.recover(error.message, first, before);
      return undefined;
    }
  }

  private recover(expected: string, first: IToken, lineStart: number): void {
    const at = this.position();
    const found = explain({ expected, first, peek: (ahead) => this.LA(ahead), at, text: this.text });
    if (opensForeignBlock(first)) this.broken = true;
    this.skipLine();
    const known = at <= this.quietUntil || this.anyBetween(this.reported, lineStart, this.position());
    if (at > this.quietUntil) {
      const end = this.text.indexOf('\n', at);
      this.quietUntil = end < 0 ? this.text.length : end;
    }
    if (!known) this.report(found);
    if (this.LA(1).tokenType === Newline) this.SKIP_TOKEN();
  }

  /** Moves to the end of the line, or to a keyword in it that ends a block or branch. */
  private skipLine(): void {
    for (let type = this.LA(1).tokenType; type !== Newline && !this.atEnd(); type = this.LA(1).tokenType) {
      if (blockEnds.has(type) || type === keyword.else) return;
      this.SKIP_TOKEN();
    }
  }

  // ---- blocks -----------------------------------------------------------------------------------------------------------

  /** Statements up to a keyword that ends this block or one around it. `whole`: its head was understood. */
  protected readonly body: Rule<Block, [boolean]> = this.RULE('body', (whole: boolean): Block => {
    const outer = this.current;
    const block = new BlockBuilder();
    this.current = block;
    let lines = 0;
    do {
      this.MANY(() => {
        this.OR([
          { ALT: () => this.CONSUME(Newline) },
          {
            ALT: () => {
              lines++;
              const statement = this.SUBRULE(this.statement);
              if (statement !== undefined) block.stmts.push(statement);
            },
          },
        ]);
      });
    } while (this.strayEnd());
    this.current = outer;
    if (lines === 0 && whole && blockEnds.has(this.LA(1).tokenType)) this.reportEmpty();
    else if (lines === 0 && whole && this.LA(1).tokenType === keyword.else) this.reportEmpty();
    return block.done();
  });

  private reportEmpty(): void {
    const block = this.blocks.innermost;
    if (block === undefined || this.RECORDING_PHASE) return;
    const hint = 'blank lines and comments do not count; put a statement into it or delete the block';
    this.reportStructure(this.LA(1), `this \`${block.token.image}\` block is empty`, hint);
  }

  /** Passes over an end keyword or `else` that belongs to no open block; tells whether the body goes on behind it. */
  private strayEnd(): boolean {
    const token = this.LA(1);
    const type = token.tokenType;
    const block = this.blocks.innermost;
    if (block === undefined) return false;
    if (type === keyword.else) {
      if (this.LA(2).tokenType === keyword.if && this.blocks.awaitsElse()) this.elseIf();
      else if (block.canElse || this.blocks.awaitsElse()) return false;
      else this.reportStructure(token, '`else` belongs to no open `if`');
    } else if (blockEnds.has(type) && type !== block.closer && !this.blocks.awaits(type)) {
      const line = this.lineOf(block.token);
      const message = `\`${token.image}\` ends nothing here: the innermost open block is the \`${block.token.image}\` of line ${line}`;
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

  private elseIf(): void {
    const hint = 'write `else`, on the next line `if …`, and one more `endif` after the inner one';
    this.reportStructure(this.LA(2), '`else if` is not one statement', hint);
    this.broken = true;
  }

  private lineOf(token: IToken): number {
    return positionAt(this.lines, token.startOffset).line;
  }

  /** Leaves the innermost block. True when its end keyword comes next; otherwise says that the block was never closed. */
  protected closes(): boolean {
    const block = this.blocks.leave();
    if (block === undefined || this.RECORDING_PHASE || this.LA(1).tokenType === block.closer) {
      this.cut = false;
      return true;
    }
    this.cut = true;
    const closer = block.closer.LABEL ?? '';
    const next = this.LA(1);
    const before = this.atEnd() ? 'the end of the file' : `\`${next.image}\` in line ${this.lineOf(next)}`;
    this.reportStructure(block.token, `this \`${block.token.image}\` block is never closed`, `write ${closer} before ${before}`);
    return false;
  }

  // ---- statements -------------------------------------------------------------------------------------------------------

  private readonly statement: Rule<Stmt | undefined> = this.RULE('statement', (): Stmt | undefined =>
    this.line(() => {
      const statement = this.OR(this.statements);
      if (this.cut) this.cut = false;
      else this.CONSUME(Newline);
      return statement;
    }),
  );

  private readonly statements: [IOrAlt<Stmt>, ...IOrAlt<Stmt>[]] = [
    { ALT: () => this.SUBRULE(this.setStatement) },
    { ALT: () => this.SUBRULE(this.ifStatement) },
    { ALT: () => this.SUBRULE(this.emitStatement) },
    { ALT: () => this.SUBRULE(this.callStatement) },
    { ALT: () => this.SUBRULE(this.returnStatement) },
    { ALT: () => this.SUBRULE(this.forStatement) },
    { ALT: () => this.SUBRULE(this.whileStatement) },
    { ALT: () => this.SUBRULE(this.mustStatement) },
    { ALT: () => this.SUBRULE(this.failStatement) },
    { ALT: () => this.SUBRULE(this.whisperStatement) },
    { ALT: () => this.SUBRULE(this.breakStatement) },
    { ALT: () => this.SUBRULE(this.continueStatement) },
    { ALT: () => this.SUBRULE(this.clearErrorStatement) },
    { ALT: () => this.SUBRULE(this.clearEventStatement) },
    { ALT: () => this.SUBRULE(this.askStatement) },
    { ALT: () => this.SUBRULE(this.promptStatement) },
    { ALT: () => this.SUBRULE(this.onStatement) },
    { ALT: () => this.SUBRULE(this.misplaced) },
  ];

  /** Never succeeds: it brings a line that is no statement to our own message. */
  private readonly misplaced: Rule<Stmt> = this.RULE('misplaced', (): Stmt => {
    if (!this.RECORDING_PHASE) this.mismatch('a statement');
    const { startOffset: s } = this.CONSUME(Misplaced);
    return { k: 'break', s, e: s };
  });

  private readonly setStatement: Rule<Stmt> = this.RULE('setStatement', (): Stmt => {
    const s = this.CONSUME(keyword.set).startOffset;
    const targets = [this.SUBRULE(this.target)];
    this.MANY(() => {
      this.CONSUME(punct.comma);
      targets.push(this.SUBRULE2(this.target));
    });
    this.CONSUME(punct.assign);
    const value = this.SUBRULE(this.expression);
    return { k: 'set', targets, value, s, e: this.end() };
  });

  private readonly callStatement: Rule<Stmt> = this.RULE('callStatement', (): Stmt => {
    const s = this.CONSUME(keyword.call).startOffset;
    const call = this.SUBRULE(this.callable);
    return { k: 'call', call, s, e: this.end() };
  });

  private readonly returnStatement: Rule<Stmt> = this.RULE('returnStatement', (): Stmt => {
    const token = this.CONSUME(keyword.return);
    const values: Expr[] = [];
    this.OPTION(() => {
      values.push(this.SUBRULE(this.expression));
      this.MANY(() => {
        this.CONSUME(punct.comma);
        values.push(this.SUBRULE2(this.expression));
      });
    });
    if (this.inCommand && values.length > 0) {
      this.reportAt(token, 'a command block returns no value', 'write `return` alone to end the block, or `emit` the value');
    }
    return { k: 'return', values, s: token.startOffset, e: this.end() };
  });

  private readonly emitStatement: Rule<Stmt> = this.RULE('emitStatement', (): Stmt => {
    const s = this.CONSUME(keyword.emit).startOffset;
    const value = this.SUBRULE(this.expression);
    return { k: 'emit', value, s, e: this.end() };
  });

  private readonly whisperStatement: Rule<Stmt> = this.RULE('whisperStatement', (): Stmt => {
    const s = this.CONSUME(keyword.whisper).startOffset;
    const handle = this.SUBRULE(this.expression);
    this.CONSUME(punct.comma);
    const value = this.SUBRULE2(this.expression);
    return { k: 'whisper', handle, value, s, e: this.end() };
  });

  private readonly mustStatement: Rule<Stmt> = this.RULE('mustStatement', (): Stmt => {
    const s = this.CONSUME(keyword.must).startOffset;
    const cond = this.SUBRULE(this.expression);
    return { k: 'must', cond, text: this.ACTION(() => this.shortText(cond)) ?? '', s, e: this.end() };
  });

  private shortText(node: Expr): string {
    const text = this.text.slice(node.s, node.e);
    if (text.length <= MUST_TEXT) return text;
    const characters = [...text.slice(0, 2 * MUST_TEXT)];
    return characters.length <= MUST_TEXT ? text : `${characters.slice(0, MUST_TEXT - 1).join('')}…`;
  }

  private readonly failStatement: Rule<Stmt> = this.RULE('failStatement', (): Stmt => {
    const s = this.CONSUME(keyword.fail).startOffset;
    let value: Expr | undefined;
    this.OPTION(() => {
      value = this.SUBRULE(this.expression);
    });
    return value === undefined ? { k: 'fail', s, e: this.end() } : { k: 'fail', value, s, e: this.end() };
  });

  private readonly clearErrorStatement: Rule<Stmt> = this.RULE('clearErrorStatement', (): Stmt => {
    const s = this.CONSUME(keyword.clear_error).startOffset;
    return { k: 'clear_error', s, e: this.end() };
  });

  private readonly clearEventStatement: Rule<Stmt> = this.RULE('clearEventStatement', (): Stmt => {
    const s = this.CONSUME(keyword.clear).startOffset;
    this.CONSUME(keyword.event);
    const next = this.LA(1).tokenType;
    if (!this.RECORDING_PHASE && next !== keyword.named && !startsExpression(next))
      this.mismatch('an event name, or `named` and a string');
    return this.OR([
      {
        ALT: (): Stmt => {
          this.CONSUME(keyword.named);
          const named = this.CONSUME(StringLiteral).image;
          return { k: 'clear_event', named, s, e: this.end() };
        },
      },
      {
        ALT: (): Stmt => {
          const event = this.SUBRULE(this.expression);
          return { k: 'clear_event', event, s, e: this.end() };
        },
      },
    ]);
  });

  private readonly askStatement: Rule<Stmt> = this.RULE('askStatement', (): Stmt => {
    const s = this.CONSUME(keyword.ask).startOffset;
    const model = this.SUBRULE(this.expression);
    this.CONSUME(punct.comma);
    const prompt = this.SUBRULE2(this.expression);
    let options: Expr | undefined;
    let into: Target | undefined;
    this.OPTION(() => {
      this.CONSUME(keyword.with);
      options = this.SUBRULE3(this.expression);
    });
    this.OPTION2(() => {
      this.CONSUME(keyword.into);
      into = this.SUBRULE(this.target);
    });
    return {
      k: 'ask',
      model,
      prompt,
      ...(options === undefined ? {} : { with: options }),
      ...(into === undefined ? {} : { into }),
      s,
      e: this.end(),
    };
  });

  private readonly promptStatement: Rule<Stmt> = this.RULE('promptStatement', (): Stmt => {
    const s = this.CONSUME(keyword.promptuser).startOffset;
    const prompt = this.SUBRULE(this.expression);
    this.CONSUME(keyword.into);
    const into = this.SUBRULE(this.target);
    return { k: 'promptuser', prompt, into, s, e: this.end() };
  });

  private readonly breakStatement: Rule<Stmt> = this.RULE('breakStatement', (): Stmt => {
    const token = this.CONSUME(keyword.break);
    this.needLoop(token);
    return { k: 'break', s: token.startOffset, e: this.end() };
  });

  private readonly continueStatement: Rule<Stmt> = this.RULE('continueStatement', (): Stmt => {
    const token = this.CONSUME(keyword.continue);
    this.needLoop(token);
    return { k: 'continue', s: token.startOffset, e: this.end() };
  });

  private needLoop(token: IToken): void {
    if (this.loops > 0 || this.RECORDING_PHASE) return;
    this.reportAt(token, `\`${token.image}\` stands in no loop`, 'it ends or repeats a `while` or `for each` around it');
  }

  // ---- statements with blocks -------------------------------------------------------------------------------------------

  private readonly condition: Rule<Expr> = this.RULE('condition', (): Expr => {
    const value = this.SUBRULE(this.expression);
    this.CONSUME(Newline);
    return value;
  });

  private readonly lineEnd: Rule<true> = this.RULE('lineEnd', (): true => {
    this.CONSUME(Newline);
    return true;
  });

  private readonly ifStatement: Rule<Stmt> = this.RULE('ifStatement', (): Stmt => {
    const open = this.CONSUME(keyword.if);
    const cond = this.line(() => this.SUBRULE(this.condition));
    this.blocks.enter(open, keyword.endif, true);
    const then = this.SUBRULE(this.body, { ARGS: [cond !== undefined] });
    let otherwise: Block | undefined;
    this.OPTION(() => {
      this.CONSUME(keyword.else);
      const block = this.blocks.innermost;
      if (block !== undefined) block.canElse = false;
      const whole = this.line(() => this.SUBRULE(this.lineEnd));
      otherwise = this.SUBRULE2(this.body, { ARGS: [whole === true] });
    });
    if (this.closes()) this.CONSUME(keyword.endif);
    const span = { s: open.startOffset, e: this.end() };
    const known = cond ?? this.nothing(open);
    return otherwise === undefined
      ? { k: 'if', cond: known, then, ...span }
      : { k: 'if', cond: known, then, else: otherwise, ...span };
  });

  /** Stands for an expression that could not be read; a tree with it is never handed out. */
  private nothing(token: IToken): Expr {
    return { k: 'nil', s: token.startOffset, e: token.startOffset };
  }

  private readonly whileStatement: Rule<Stmt> = this.RULE('whileStatement', (): Stmt => {
    const open = this.CONSUME(keyword.while);
    const cond = this.line(() => this.SUBRULE(this.condition));
    this.blocks.enter(open, keyword.endwhile);
    this.loops++;
    const body = this.SUBRULE(this.body, { ARGS: [cond !== undefined] });
    this.loops--;
    if (this.closes()) this.CONSUME(keyword.endwhile);
    return { k: 'while', cond: cond ?? this.nothing(open), body, s: open.startOffset, e: this.end() };
  });

  private readonly forHead: Rule<{ key?: Name; item: Name; over: Expr }> = this.RULE(
    'forHead',
    (): { key?: Name; item: Name; over: Expr } => {
      this.CONSUME(keyword.each);
      const first = nameOf(this.CONSUME(Identifier));
      let second: Name | undefined;
      this.OPTION(() => {
        this.CONSUME(punct.comma);
        second = nameOf(this.CONSUME2(Identifier));
      });
      this.CONSUME(keyword.in);
      const over = this.SUBRULE(this.expression);
      this.CONSUME(Newline);
      return second === undefined ? { item: first, over } : { key: first, item: second, over };
    },
  );

  private readonly forStatement: Rule<Stmt> = this.RULE('forStatement', (): Stmt => {
    const open = this.CONSUME(keyword.for);
    const head = this.line(() => this.SUBRULE(this.forHead));
    this.blocks.enter(open, keyword.endfor);
    this.loops++;
    const body = this.SUBRULE(this.body, { ARGS: [head !== undefined] });
    this.loops--;
    if (this.closes()) this.CONSUME(keyword.endfor);
    return { k: 'for', ...(head ?? { item: nameOf(open), over: this.nothing(open) }), body, s: open.startOffset, e: this.end() };
  });

  // ---- handlers ---------------------------------------------------------------------------------------------------------

  private readonly onStatement: Rule<Stmt> = this.RULE('onStatement', (): Stmt => {
    const open = this.CONSUME(keyword.on);
    const next = this.LA(1).tokenType;
    if (!this.RECORDING_PHASE && next !== keyword.event && next !== keyword.error) {
      this.broken = true;
      this.mismatch('`error` or `event`');
    }
    return this.OR([
      {
        ALT: (): Stmt => {
          const handler = this.SUBRULE(this.errorHandler, { ARGS: [open] });
          return { k: 'on_error', s: handler.s, e: handler.e };
        },
      },
      {
        ALT: (): Stmt => {
          if (this.inCommand && this.blocks.depth === 1) {
            this.reportAt(
              open,
              '`on event` does not stand in a command block',
              'define it in a library file, beside the procedures',
            );
          }
          const index = this.SUBRULE(this.eventHandler, { ARGS: [open] });
          return { k: 'on_event', index, s: open.startOffset, e: this.end() };
        },
      },
    ]);
  });

  private readonly errorHead: Rule<true> = this.RULE('errorHead', (): true => {
    this.CONSUME(keyword.error);
    this.CONSUME(keyword.do);
    this.CONSUME(Newline);
    return true;
  });

  private readonly errorHandler: Rule<ErrorHandler, [IToken]> = this.RULE('errorHandler', (open: IToken): ErrorHandler => {
    const guarded = this.current;
    const whole = this.line(() => this.SUBRULE(this.errorHead));
    this.blocks.enter(open, keyword.endon);
    const body = this.SUBRULE(this.body, { ARGS: [whole === true] });
    if (this.closes()) this.CONSUME(keyword.endon);
    const handler: ErrorHandler = { body, s: open?.startOffset ?? 0, e: this.end() };
    if (guarded.onError === undefined) guarded.onError = handler;
    else this.reportAt(open, 'this block has an `on error` already', 'a block has one handler; it guards all of the block');
    return handler;
  });

  private readonly eventHead: Rule<Omit<EventHandler, 's' | 'e' | 'body'>> = this.RULE(
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
      return { event, ...(named === undefined ? {} : { named }), ...(as === undefined ? {} : { as }) };
    },
  );

  /** Answers the handler's place in the list of all events of the file. */
  protected readonly eventHandler: Rule<number, [IToken]> = this.RULE('eventHandler', (open: IToken): number => {
    // The place is taken before the body is read, so that nested handlers come after this one, as in the text.
    const index = this.events.push(undefined) - 1;
    const outer = { loops: this.loops, inCommand: this.inCommand };
    this.loops = 0;
    this.inCommand = false;
    const head = this.line(() => this.SUBRULE(this.eventHead));
    this.blocks.enter(open, keyword.endon);
    const body = this.SUBRULE(this.body, { ARGS: [head !== undefined] });
    if (this.closes()) this.CONSUME(keyword.endon);
    this.loops = outer.loops;
    this.inCommand = outer.inCommand;
    this.events[index] = {
      ...(head ?? { event: this.nothing(open ?? this.LA(1)) }),
      body,
      s: open?.startOffset ?? 0,
      e: this.end(),
    };
    return index;
  });

  /** Whether a token of this type begins a top-level block. */
  protected startsTopLevel(type: TokenType): boolean {
    return type === keyword.func || type === keyword.command || (type === keyword.on && this.LA(2).tokenType === keyword.event);
  }
}
