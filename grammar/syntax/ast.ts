/**
 * The abstract syntax tree of NeuroScript. Plain data: it crosses from the worker's parser into the isolate as JSON.
 *
 * Every node carries its span as two offsets (UTF-16 code units) into the *cleaned* source: `s` is the first character,
 * `e` the one after the last. Lines and columns are derived from them through {@link LineTable}.
 * Left-associative chains and accessor chains are flat lists, so that a sum of 10 000 terms is no deep tree (P33).
 */

import type { LineTable } from './position.ts';

/** A half-open range `[s, e)` of UTF-16 offsets in the cleaned source. */
export interface Span {
  readonly s: number;
  readonly e: number;
}

/** `:: key: value` lines, in order; a repeated key keeps its last value. */
export type Metadata = readonly (readonly [key: string, value: string])[];

/** `library` holds definitions, `commands` holds command blocks, `empty` neither (language.md 2.1). */
export type FileKind = 'library' | 'commands' | 'empty';

/** One parsed file. What it holds beside definitions decides its `kind`. */
export interface SourceFile {
  readonly name: string;
  readonly kind: FileKind;
  readonly lines: LineTable;
  readonly metadata: Metadata;
  readonly procedures: readonly Procedure[];
  /** Every `on event` of the file, nested ones included, in textual order; all are registered at load. */
  readonly events: readonly EventHandler[];
  readonly commands: readonly CommandBlock[];
  /** What was typed at a prompt without `command` around it; then that is the one command block. */
  readonly typed?: 'statements' | 'expression';
}

/** A name where it is written. */
export interface Name extends Span {
  readonly name: string;
}

/** `func name(needs …, optional …, returns …) means … endfunc`; also callable from other files of the run. */
export interface Procedure extends Span {
  readonly name: Name;
  readonly needs: readonly Name[];
  readonly optional: readonly Name[];
  readonly returns: readonly Name[];
  readonly metadata: Metadata;
  readonly body: Block;
}

/** `on event e [named "n"] [as v] do … endon`; the name expression is evaluated at load (language.md 6.13). */
export interface EventHandler extends Span {
  readonly event: Expr;
  readonly named?: string;
  readonly as?: Name;
  readonly body: Block;
}

/** `command … endcommand`; the blocks of a run are executed once each, in order (P28). */
export interface CommandBlock extends Span {
  readonly metadata: Metadata;
  readonly body: Block;
}

/** A block and the one `on error` handler that guards all of it (P16). */
export interface Block {
  readonly stmts: readonly Stmt[];
  readonly onError?: ErrorHandler;
}

/** `on error do … endon`; guards the block it stands in (P16). */
export interface ErrorHandler extends Span {
  readonly body: Block;
}

/** Any statement; `k` tells which. */
export type Stmt =
  | SetStmt
  | CallStmt
  | ReturnStmt
  | EmitStmt
  | WhisperStmt
  | MustStmt
  | FailStmt
  | ClearErrorStmt
  | ClearEventStmt
  | AskStmt
  | PromptStmt
  | BreakStmt
  | ContinueStmt
  | IfStmt
  | WhileStmt
  | ForStmt
  | OnEventStmt
  | OnErrorStmt;

/** `set a, b = value`; with several targets the value is a list of the same length (language.md 5.4). */
export interface SetStmt extends Span {
  readonly k: 'set';
  readonly targets: readonly Target[];
  readonly value: Expr;
}
/** `call f(…)`: the call for its effects. */
export interface CallStmt extends Span {
  readonly k: 'call';
  readonly call: CallExpr | ToolCallExpr;
}
/** `return` with any number of values; in a command block with none (P18). */
export interface ReturnStmt extends Span {
  readonly k: 'return';
  readonly values: readonly Expr[];
}
/** `emit value`: to the output of the run. */
export interface EmitStmt extends Span {
  readonly k: 'emit';
  readonly value: Expr;
}
/** `whisper handle, value`: to the scratchpad. */
export interface WhisperStmt extends Span {
  readonly k: 'whisper';
  readonly handle: Expr;
  readonly value: Expr;
}
/** `must cond`: code 5 when it does not hold (P3). */
export interface MustStmt extends Span {
  readonly k: 'must';
  readonly cond: Expr;
  /** Source text of the condition, shortened to at most 200 characters, for the message (P3). */
  readonly text: string;
}
/** `fail [value]`: code 1, or the code of what fails in `value` (P4). */
export interface FailStmt extends Span {
  readonly k: 'fail';
  readonly value?: Expr;
}
/** `clear_error`: ends the handling of an error; only within a handler. */
export interface ClearErrorStmt extends Span {
  readonly k: 'clear_error';
}
/** `clear event e` (by event name) or `clear event named "x"` (by handler name) (P19). */
export interface ClearEventStmt extends Span {
  readonly k: 'clear_event';
  readonly event?: Expr;
  readonly named?: string;
}
/** `ask model, prompt [with options] [into target]` (P27, P34). */
export interface AskStmt extends Span {
  readonly k: 'ask';
  readonly model: Expr;
  readonly prompt: Expr;
  readonly with?: Expr;
  readonly into?: Target;
}
/** `promptuser prompt into target`: one line from the host (P35). */
export interface PromptStmt extends Span {
  readonly k: 'promptuser';
  readonly prompt: Expr;
  readonly into: Target;
}
/** `break`: leaves the innermost loop. */
export interface BreakStmt extends Span {
  readonly k: 'break';
}
/** `continue`: goes on with the next pass of the innermost loop. */
export interface ContinueStmt extends Span {
  readonly k: 'continue';
}
/** `if cond … [else …] endif`. */
export interface IfStmt extends Span {
  readonly k: 'if';
  readonly cond: Expr;
  readonly then: Block;
  readonly else?: Block;
}
/** `while cond … endwhile`. */
export interface WhileStmt extends Span {
  readonly k: 'while';
  readonly cond: Expr;
  readonly body: Block;
}
/** `for each item in over … endfor`. */
export interface ForStmt extends Span {
  readonly k: 'for';
  /** With `for each k, v in …` the key, index or position; absent with `for each v in …` (P9). */
  readonly key?: Name;
  readonly item: Name;
  readonly over: Expr;
  readonly body: Block;
}
/** Where a nested `on event` stands: does nothing when executed; `index` points into `SourceFile.events`. */
export interface OnEventStmt extends Span {
  readonly k: 'on_event';
  readonly index: number;
}
/** Where the block's `on error` stands: does nothing when executed; the handler itself is `Block.onError`. */
export interface OnErrorStmt extends Span {
  readonly k: 'on_error';
}

/** The target of `set` and `into`: a variable, or an element of one. */
export interface Target extends Span {
  readonly name: Name;
  readonly steps: readonly AccessStep[];
}

/** `[expr]` or `.name`; its span starts at the bracket or dot, where an access error is reported (ruling 18). */
export type AccessStep = IndexStep | FieldStep;
/** `[index]`: a list position, a map key, or a character of a string. */
export interface IndexStep extends Span {
  readonly k: 'index';
  readonly index: Expr;
}
/** `.name`: the same as `['name']` (P10). */
export interface FieldStep extends Span {
  readonly k: 'field';
  readonly name: string;
}

/** Any expression; `k` tells which. */
export type Expr =
  | NumberExpr
  | StringExpr
  | BooleanExpr
  | NilExpr
  | NameExpr
  | LastExpr
  | ListExpr
  | MapExpr
  | TemplateExpr
  | TextExpr
  | EvalExpr
  | GroupExpr
  | UnaryExpr
  | PowerExpr
  | BinaryExpr
  | AccessExpr
  | CallExpr
  | ToolCallExpr;

/** A number literal. */
export interface NumberExpr extends Span {
  readonly k: 'num';
  /** Always finite: an overflowing literal is a syntax error. */
  readonly v: number;
}
/** A string literal without holes, its escapes resolved (P23). */
export interface StringExpr extends Span {
  readonly k: 'str';
  readonly v: string;
}
/** `true` or `false`. */
export interface BooleanExpr extends Span {
  readonly k: 'bool';
  readonly v: boolean;
}
/** `nil`. */
export interface NilExpr extends Span {
  readonly k: 'nil';
}
/** A variable that is read. */
export interface NameExpr extends Span {
  readonly k: 'name';
  readonly name: string;
}
/** `last`: the value of the latest value-bearing statement of the fork (P14). */
export interface LastExpr extends Span {
  readonly k: 'last';
}
/** `[a, b, …]`. */
export interface ListExpr extends Span {
  readonly k: 'list';
  readonly items: readonly Expr[];
}
/** `{key: value, …}`, in the order written; a repeated key is kept here (ruling 8 is the interpreter's). */
export interface MapExpr extends Span {
  readonly k: 'map';
  readonly entries: readonly (readonly [key: Expr, value: Expr])[];
}
/** A string with `{{ }}` parts (P12). Literal text and symbols are plain strings, adjacent ones merged. */
export interface TemplateExpr extends Span {
  readonly k: 'template';
  readonly parts: readonly (string | Expr)[];
}
/** A bare `{{x}}`: ToString of `x` (ruling 4). A bare `{{@nl}}` is a {@link StringExpr}. */
export interface TextExpr extends Span {
  readonly k: 'text';
  readonly of: Expr;
}
/** `eval(e)` (P13). */
export interface EvalExpr extends Span {
  readonly k: 'eval';
  readonly of: Expr;
}
/** Parentheses, kept for the formatter and for printing. */
export interface GroupExpr extends Span {
  readonly k: 'group';
  readonly of: Expr;
}

/** The prefix operators. */
export type UnaryOp = '-' | '~' | 'not' | 'no' | 'some' | 'typeof';
/** A prefix operator and its operand. */
export interface UnaryExpr extends Span {
  readonly k: 'unary';
  readonly op: UnaryOp;
  readonly of: Expr;
}
/** `base ** exponent`, right-associative; `at` is the offset of the operator. */
export interface PowerExpr extends Span {
  readonly k: 'power';
  readonly base: Expr;
  readonly at: number;
  readonly exponent: Expr;
}

/** The operators of {@link BinaryExpr}, loosest first. */
export type BinaryOp = 'or' | 'and' | '|' | '^' | '&' | '==' | '!=' | '<' | '>' | '<=' | '>=' | '+' | '-' | '*' | '/' | '%';
/** A left-associative run of operators of one precedence level: `first op right op right …`; `at` is each operator's offset. */
export interface BinaryExpr extends Span {
  readonly k: 'binary';
  readonly first: Expr;
  readonly rest: readonly { readonly op: BinaryOp; readonly at: number; readonly right: Expr }[];
}
/** `base[i].name…`, all steps of one chain in one node. */
export interface AccessExpr extends Span {
  readonly k: 'access';
  readonly base: Expr;
  readonly steps: readonly AccessStep[];
}
/** A call of a procedure or a built-in, as written; built-ins win, compared without case (language.md 7). */
export interface CallExpr extends Span {
  readonly k: 'call';
  readonly name: Name;
  readonly args: readonly Expr[];
}
/** A call of a tool. */
export interface ToolCallExpr extends Span {
  readonly k: 'tool';
  /** Canonical name: lower case, `tool.` once in front (language.md 9.1), e.g. `tool.str.length`. */
  readonly name: string;
  /** As written, for messages and the formatter, e.g. `tool.str.Length`. */
  readonly written: string;
  readonly args: readonly Expr[];
}
