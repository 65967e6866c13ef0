/** The statements of one line. */
import type { IToken } from 'chevrotain';
import type { Stmt, Target } from './ast.ts';
import type { Expr } from './astexpressions.ts';
import { type Rule, startsExpression } from './expressions.ts';
import { RecoveringParser } from './recovery.ts';
import { keyword, Metadata, NoStatement, punct, StringLiteral } from './tokens.ts';

/** Longest text of a condition that `must` shows, in characters. */
const MUST_TEXT = 200;

export abstract class SimpleStatementParser extends RecoveringParser {
  protected readonly setStatement: Rule<Stmt> = this.RULE('setStatement', (): Stmt => {
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

  protected readonly callStatement: Rule<Stmt> = this.RULE('callStatement', (): Stmt => {
    const s = this.CONSUME(keyword.call).startOffset;
    const call = this.SUBRULE(this.callable);
    return { k: 'call', call, s, e: this.end() };
  });

  protected readonly returnStatement: Rule<Stmt> = this.RULE('returnStatement', (): Stmt => {
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

  protected readonly emitStatement: Rule<Stmt> = this.RULE('emitStatement', (): Stmt => {
    const s = this.CONSUME(keyword.emit).startOffset;
    const value = this.SUBRULE(this.expression);
    return { k: 'emit', value, s, e: this.end() };
  });

  protected readonly whisperStatement: Rule<Stmt> = this.RULE('whisperStatement', (): Stmt => {
    const s = this.CONSUME(keyword.whisper).startOffset;
    const handle = this.SUBRULE(this.expression);
    this.CONSUME(punct.comma);
    const value = this.SUBRULE2(this.expression);
    return { k: 'whisper', handle, value, s, e: this.end() };
  });

  protected readonly mustStatement: Rule<Stmt> = this.RULE('mustStatement', (): Stmt => {
    const s = this.CONSUME(keyword.must).startOffset;
    const cond = this.SUBRULE(this.expression);
    return { k: 'must', cond, text: this.ACTION(() => this.#shortText(cond)) ?? '', s, e: this.end() };
  });

  #shortText(node: Expr): string {
    const text = this.text.slice(node.s, node.e);
    if (text.length <= MUST_TEXT) return text;
    const characters = [...text.slice(0, 2 * MUST_TEXT)];
    return characters.length <= MUST_TEXT ? text : `${characters.slice(0, MUST_TEXT - 1).join('')}…`;
  }

  protected readonly failStatement: Rule<Stmt> = this.RULE('failStatement', (): Stmt => {
    const s = this.CONSUME(keyword.fail).startOffset;
    let value: Expr | undefined;
    this.OPTION(() => {
      value = this.SUBRULE(this.expression);
    });
    return value === undefined ? { k: 'fail', s, e: this.end() } : { k: 'fail', value, s, e: this.end() };
  });

  protected readonly clearErrorStatement: Rule<Stmt> = this.RULE('clearErrorStatement', (): Stmt => {
    const s = this.CONSUME(keyword.clear_error).startOffset;
    return { k: 'clear_error', s, e: this.end() };
  });

  protected readonly clearEventStatement: Rule<Stmt> = this.RULE('clearEventStatement', (): Stmt => {
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

  protected readonly askStatement: Rule<Stmt> = this.RULE('askStatement', (): Stmt => {
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
      with: options,
      into,
      s,
      e: this.end(),
    };
  });

  protected readonly promptStatement: Rule<Stmt> = this.RULE('promptStatement', (): Stmt => {
    const s = this.CONSUME(keyword.promptuser).startOffset;
    const prompt = this.SUBRULE(this.expression);
    this.CONSUME(keyword.into);
    const into = this.SUBRULE(this.target);
    return { k: 'promptuser', prompt, into, s, e: this.end() };
  });

  protected readonly breakStatement: Rule<Stmt> = this.RULE('breakStatement', (): Stmt => {
    const token = this.CONSUME(keyword.break);
    this.#needLoop(token);
    return { k: 'break', s: token.startOffset, e: this.end() };
  });

  protected readonly continueStatement: Rule<Stmt> = this.RULE('continueStatement', (): Stmt => {
    const token = this.CONSUME(keyword.continue);
    this.#needLoop(token);
    return { k: 'continue', s: token.startOffset, e: this.end() };
  });

  #needLoop(token: IToken): void {
    if (this.loops > 0 || this.RECORDING_PHASE) return;
    this.reportAt(token, `\`${token.image}\` is outside any loop`, 'it works only within `while` or `for each`');
  }

  /** Never succeeds: it reports a line that does not begin a statement. */
  protected readonly misplaced: Rule<Stmt> = this.RULE('misplaced', (): Stmt => {
    this.OR([
      { ALT: () => this.CONSUME(NoStatement) },
      {
        ALT: () => {
          if (!this.RECORDING_PHASE) this.mismatch('a statement');
          this.CONSUME(Metadata);
        },
      },
    ]);
    if (!this.RECORDING_PHASE) this.mismatch('a statement');
    return { k: 'break', s: 0, e: 0 };
  });
}
