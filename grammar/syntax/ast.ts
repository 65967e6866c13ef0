/**
 * The abstract syntax tree of NeuroScript. It is plain data, because the worker's parser hands it to the isolate as JSON.
 *
 * Every node carries its span as two offsets (UTF-16 code units) into the *cleaned* source: `s` is the first character,
 * `e` the one after the last. A {@link LineTable} turns them into lines and columns.
 * Left-associative chains and accessor chains are flat lists, so that a sum of 10,000 terms does not make a deep tree.
 */

import type { AccessStep, CallExpr, Expr, Name, ToolCallExpr } from './astexpressions.ts';
import type { LineTable, Span } from './position.ts';

/** `:: key: value` lines, in order. A repeated key keeps its last value. */
export type Metadata = readonly (readonly [key: string, value: string])[];

/** A `library` holds definitions, a `commands` file holds command blocks, an `empty` file holds neither. */
export type FileKind = 'library' | 'commands' | 'empty';

/** One parsed file. */
export interface SourceFile {
  /** The name of the file in positions. */
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
  readonly typed?: 'statements' | 'expression' | undefined;
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
  /** The body that a call runs. */
  readonly body: Block;
}

/** `on event e [named "n"] [as v] do … endon`. Loading evaluates the expression `e`. */
export interface EventHandler extends Span {
  /** The name of the event. */
  readonly event: Expr;
  /** The name of the handler, for `clear event named`. */
  readonly named?: string | undefined;
  /** The variable that holds the event. */
  readonly as?: Name | undefined;
  /** The body that an event runs. */
  readonly body: Block;
}

/** `command … endcommand`. A run executes each of its command blocks once, in order. */
export interface CommandBlock extends Span {
  /** The `::` lines at the top of the block. */
  readonly metadata: Metadata;
  /** The statements of the block. */
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
  /** The body that an error runs. */
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
  /** The targets, at least one. */
  readonly targets: readonly Target[];
  /** The assigned value. */
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
  /** The returned values; several make a list. */
  readonly values: readonly Expr[];
}
/** `emit value`: writes to the output of the run. */
export interface EmitStmt extends Span {
  readonly k: 'emit';
  /** The emitted value. */
  readonly value: Expr;
}
/** `whisper handle, value`: writes to the scratchpad. */
export interface WhisperStmt extends Span {
  readonly k: 'whisper';
  /** The target of the text. */
  readonly handle: Expr;
  /** The whispered value. */
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
  /** The prompt of the agent. */
  readonly prompt: Expr;
  /** A map of options. */
  readonly with?: Expr | undefined;
  /** The target of the answer. */
  readonly into?: Target | undefined;
}
/** `promptuser prompt into target`: reads one line from the host. */
export interface PromptStmt extends Span {
  readonly k: 'promptuser';
  /** The question to the user. */
  readonly prompt: Expr;
  /** The target of the line. */
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
  /** Its calls run together. */
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
  /** The steps from the variable to the element; empty for the variable itself. */
  readonly steps: readonly AccessStep[];
}
