/**
 * The abstract syntax tree of NeuroScript. It is plain data, because the worker's parser hands it to the isolate as JSON.
 *
 * Every node carries its span as two offsets (UTF-16 code units) into the *cleaned* source: `s` is the first character,
 * `e` the one after the last. A {@link LineTable} turns them into lines and columns.
 * Left-associative chains and accessor chains are flat lists, so that a sum of 10 000 terms does not make a deep tree.
 */

import type { LineTable } from './position.ts';

/** A half-open range `[s, e)` of UTF-16 offsets in the cleaned source. */
export interface Span {
  /** Offset of the first character. */
  readonly s: number;
  /** Offset after the last character. */
  readonly e: number;
}

/** `:: key: value` lines, in order. A repeated key keeps its last value. */
export type Metadata = readonly (readonly [key: string, value: string])[];

/** A `library` holds definitions, a `commands` file holds command blocks, an `empty` file holds neither. */
export type FileKind = 'library' | 'commands' | 'empty';

/** One parsed file. */
export interface SourceFile {
  /** As positions in the file show it. */
  readonly name: string;
  /** Whether the file may hold command blocks, definitions, or neither. */
  readonly kind: FileKind;
  /** Converts offsets to lines. */
  readonly lines: LineTable;
  /** The `::` lines at the top of the file. */
  readonly metadata: Metadata;
  /** In the order of the file. */
  readonly procedures: readonly Procedure[];
  /** Every `on event` of the file, nested ones included, in textual order. Loading registers all of them. */
  readonly events: readonly EventHandler[];
  /** In the order of the file. */
  readonly commands: readonly CommandBlock[];
  /** Set for input at a prompt without `command` around it. The input is then the only command block. */
  readonly typed?: 'statements' | 'expression';
}

/** A name and its place in the source. */
export interface Name extends Span {
  /** The name as it is written. */
  readonly name: string;
}

/** `func name(needs … optional … returns …) means … endfunc`. Other files of the run can call it too. */
export interface Procedure extends Span {
  /** The name. Letter case matters. */
  readonly name: Name;
  /** Parameters that a call must give. */
  readonly needs: readonly Name[];
  /** Parameters that a call may leave out; they are nil then. */
  readonly optional: readonly Name[];
  /** Names of the returned values, for readers. */
  readonly returns: readonly Name[];
  /** The `::` lines at the top of the procedure. */
  readonly metadata: Metadata;
  /** What a call runs. */
  readonly body: Block;
}

/** `on event e [named "n"] [as v] do … endon`. Loading evaluates the expression `e`. */
export interface EventHandler extends Span {
  /** The name of the event. */
  readonly event: Expr;
  /** The name of the handler, for `clear event named`. */
  readonly named?: string;
  /** The variable that holds the event. */
  readonly as?: Name;
  /** What an event runs. */
  readonly body: Block;
}

/** `command … endcommand`. A run executes each of its command blocks once, in order. */
export interface CommandBlock extends Span {
  /** The `::` lines at the top of the block. */
  readonly metadata: Metadata;
  /** What a run executes. */
  readonly body: Block;
}

/** A block and the one `on error` handler that guards all of it. */
export interface Block {
  /** In order. */
  readonly stmts: readonly Stmt[];
  /** The handler; absent when the block has none. */
  readonly onError?: ErrorHandler;
}

/** `on error do … endon`. It guards the block that contains it. */
export interface ErrorHandler extends Span {
  /** What an error runs. */
  readonly body: Block;
}

/** Any statement. `k` tells which. */
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
  | TogetherStmt
  | OnEventStmt
  | OnErrorStmt;

/** `set a, b = value`. With several targets the value is a list of the same length. */
export interface SetStmt extends Span {
  readonly k: 'set';
  /** What is assigned to; at least one. */
  readonly targets: readonly Target[];
  /** What is assigned. */
  readonly value: Expr;
}
/** `call f(…)`: calls for the effects and drops the result. */
export interface CallStmt extends Span {
  readonly k: 'call';
  /** The call whose result is dropped. */
  readonly call: CallExpr | ToolCallExpr;
}
/** `return` with any number of values; in a command block, with none. */
export interface ReturnStmt extends Span {
  readonly k: 'return';
  /** What is returned; several values make a list. */
  readonly values: readonly Expr[];
}
/** `emit value`: writes to the output of the run. */
export interface EmitStmt extends Span {
  readonly k: 'emit';
  /** What is written. */
  readonly value: Expr;
}
/** `whisper handle, value`: writes to the scratchpad. */
export interface WhisperStmt extends Span {
  readonly k: 'whisper';
  /** Whom the text is for. */
  readonly handle: Expr;
  /** What is whispered. */
  readonly value: Expr;
}
/** `must cond`: fails with code 5 when the condition is false. */
export interface MustStmt extends Span {
  readonly k: 'must';
  /** The condition. */
  readonly cond: Expr;
  /** Source text of the condition for the message, shortened to at most 200 characters. */
  readonly text: string;
}
/** `fail [value]`: fails with code 1, or with the code of an error that evaluating `value` raises. */
export interface FailStmt extends Span {
  readonly k: 'fail';
  /** Its text is the message; absent for a bare `fail`. */
  readonly value?: Expr;
}
/** `clear_error`: ends the handling of an error. It works only in a handler. */
export interface ClearErrorStmt extends Span {
  readonly k: 'clear_error';
}
/** `clear event e` (by event name) or `clear event named "x"` (by handler name). */
export interface ClearEventStmt extends Span {
  readonly k: 'clear_event';
  /** The name of the event; absent with `named`. */
  readonly event?: Expr;
  /** The name of the handler; absent with `event`. */
  readonly named?: string;
}
/** `ask model, prompt [with options] [into target]`: asks an agent. */
export interface AskStmt extends Span {
  readonly k: 'ask';
  /** The name of the agent model. */
  readonly model: Expr;
  /** What the agent is asked. */
  readonly prompt: Expr;
  /** A map of options. */
  readonly with?: Expr;
  /** Where the answer goes. */
  readonly into?: Target;
}
/** `promptuser prompt into target`: reads one line from the host. */
export interface PromptStmt extends Span {
  readonly k: 'promptuser';
  /** What the user is asked. */
  readonly prompt: Expr;
  /** Where the line goes. */
  readonly into: Target;
}
/** `break`: leaves the innermost loop. */
export interface BreakStmt extends Span {
  readonly k: 'break';
}
/** `continue`: starts the next pass of the innermost loop. */
export interface ContinueStmt extends Span {
  readonly k: 'continue';
}
/** `if cond … [else …] endif`. */
export interface IfStmt extends Span {
  readonly k: 'if';
  /** The condition. */
  readonly cond: Expr;
  /** Runs when the condition is true. */
  readonly then: Block;
  /** Runs when the condition is false. */
  readonly else?: Block;
}
/** `while cond … endwhile`. */
export interface WhileStmt extends Span {
  readonly k: 'while';
  /** Evaluated before each pass. */
  readonly cond: Expr;
  /** One pass. */
  readonly body: Block;
}
/** `for each item in over … endfor`. */
export interface ForStmt extends Span {
  readonly k: 'for';
  /** In `for each k, v in …`, the key, index or position; absent in `for each v in …`. */
  readonly key?: Name;
  /** The variable that holds the element of each pass. */
  readonly item: Name;
  /** The list, map or text to go through. */
  readonly over: Expr;
  /** One pass. */
  readonly body: Block;
  /** `for each … in … together`: the calls of all passes run together, see {@link TogetherStmt}. */
  readonly together?: true;
}
/**
 * `together … endtogether`: tool calls that run at the same time. The body holds only {@link SetStmt} and {@link CallStmt} of a tool,
 * and no handler.
 */
export interface TogetherStmt extends Span {
  readonly k: 'together';
  readonly body: Block;
}
/** The place of a nested `on event`. Executing it does nothing; `index` points into `SourceFile.events`. */
export interface OnEventStmt extends Span {
  readonly k: 'on_event';
  /** Index in `SourceFile.events`. */
  readonly index: number;
}
/** The place of the block's `on error`. Executing it does nothing; the handler itself is `Block.onError`. */
export interface OnErrorStmt extends Span {
  readonly k: 'on_error';
}

/** The target of `set` and `into`: a variable, or an element of one. */
export interface Target extends Span {
  /** The variable. */
  readonly name: Name;
  /** The way from the variable to the element; empty for the variable itself. */
  readonly steps: readonly AccessStep[];
}

/** `[expr]` or `.name`. Its span starts at the bracket or dot, where an access error is reported. */
export type AccessStep = IndexStep | FieldStep;
/** `[index]`: a list position, a map key, or a character of a string. */
export interface IndexStep extends Span {
  readonly k: 'index';
  /** The position or the key. */
  readonly index: Expr;
}
/** `.name`: the same as `['name']`. */
export interface FieldStep extends Span {
  readonly k: 'field';
  /** The key. */
  readonly name: string;
}

/** Any expression. `k` tells which. */
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
/** A string literal without placeholders, its escapes resolved. */
export interface StringExpr extends Span {
  readonly k: 'str';
  /** The text. */
  readonly v: string;
}
/** `true` or `false`. */
export interface BooleanExpr extends Span {
  readonly k: 'bool';
  /** The truth value. */
  readonly v: boolean;
}
/** `nil`. */
export interface NilExpr extends Span {
  readonly k: 'nil';
}
/** Reading a variable. */
export interface NameExpr extends Span {
  readonly k: 'name';
  /** The variable. */
  readonly name: string;
}
/** `last`: the value of the latest statement of the fork that has one. */
export interface LastExpr extends Span {
  readonly k: 'last';
}
/** `[a, b, …]`. */
export interface ListExpr extends Span {
  readonly k: 'list';
  /** The elements. */
  readonly items: readonly Expr[];
}
/** `{key: value, …}`, in the order written. A repeated key is kept: the interpreter decides which entry counts. */
export interface MapExpr extends Span {
  readonly k: 'map';
  /** Keys and values. */
  readonly entries: readonly (readonly [key: Expr, value: Expr])[];
}
/** A string with `{{ }}` parts. Literal text and symbols are plain strings, adjacent ones merged. */
export interface TemplateExpr extends Span {
  readonly k: 'template';
  /** Texts, and expressions whose text is put between them. */
  readonly parts: readonly (string | Expr)[];
}
/** A bare `{{x}}`: the text of `x`. A bare `{{@nl}}` is a {@link StringExpr}. */
export interface TextExpr extends Span {
  readonly k: 'text';
  /** The expression in the braces. */
  readonly of: Expr;
}
/** `eval(e)`: fills the placeholders of a text. */
export interface EvalExpr extends Span {
  readonly k: 'eval';
  /** The text to fill. */
  readonly of: Expr;
}
/** Parentheses, which the tree keeps for printing. */
export interface GroupExpr extends Span {
  readonly k: 'group';
  /** The expression in the parentheses. */
  readonly of: Expr;
}

/** The prefix operators. */
export type UnaryOp = '-' | '~' | 'not' | 'no' | 'some' | 'typeof';
/** A prefix operator and its operand. */
export interface UnaryExpr extends Span {
  readonly k: 'unary';
  /** The operator. */
  readonly op: UnaryOp;
  /** The operand. */
  readonly of: Expr;
}
/** `base ** exponent`, right-associative. `at` is the offset of the operator. */
export interface PowerExpr extends Span {
  readonly k: 'power';
  /** What is raised. */
  readonly base: Expr;
  /** Offset of the operator. */
  readonly at: number;
  /** The power. */
  readonly exponent: Expr;
}

/** The operators of {@link BinaryExpr}, loosest first. */
export type BinaryOp = 'or' | 'and' | '|' | '^' | '&' | '==' | '!=' | '<' | '>' | '<=' | '>=' | '+' | '-' | '*' | '/' | '%';
/** A left-associative run of operators of one precedence level: `first op right op right …`. `at` is each operator's offset. */
export interface BinaryExpr extends Span {
  readonly k: 'binary';
  /** The leftmost operand. */
  readonly first: Expr;
  /** The operators with their right operands; at least one. */
  readonly rest: readonly { readonly op: BinaryOp; readonly at: number; readonly right: Expr }[];
}
/** `base[i].name…`: one node for all steps of the chain. */
export interface AccessExpr extends Span {
  readonly k: 'access';
  /** What is read from. */
  readonly base: Expr;
  /** The steps in order; at least one. */
  readonly steps: readonly AccessStep[];
}
/** A call of a built-in function or a procedure. A built-in function wins, and its name ignores letter case. */
export interface CallExpr extends Span {
  readonly k: 'call';
  /** The function. */
  readonly name: Name;
  /** The arguments in order. */
  readonly args: readonly Expr[];
}
/** A call of a tool. */
export interface ToolCallExpr extends Span {
  readonly k: 'tool';
  /** Canonical name: lower case, with exactly one `tool.` in front, such as `tool.str.length`. */
  readonly name: string;
  /** The name as written, for messages and printing, such as `tool.str.Length`. */
  readonly written: string;
  /** The arguments in order. */
  readonly args: readonly Expr[];
}
