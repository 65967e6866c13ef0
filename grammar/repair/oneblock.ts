/** Writes a program of procedures and command blocks as one command block, which is all that a turn may have. */
import type { Block, CommandBlock, Procedure, Stmt } from '../syntax/ast.ts';
import type { CallExpr, Expr } from '../syntax/astexpressions.ts';
import { parse } from '../syntax/parse.ts';
import type { Span } from '../syntax/position.ts';
import { allOf, blocksOf, childrenOf, eachStatement, expressionsOf, setBy, targetsOf } from '../syntax/walk.ts';
import { builtinNamed } from '../vocabulary/builtins.ts';

/**
 * The program as one command block: the statements of each procedure in place of its calls, the statements of several blocks in order, and
 * those of `main` where there is no block. Null when that cannot be done without another change: the program does not parse otherwise, a
 * procedure calls itself, handles errors or events, or returns before its end, or a call is made in a condition that may not be evaluated, or
 * a handler of its caller clears its errors, or it would be too long.
 */
export function oneBlock(text: string): string | null {
  const found = partsOf(text);
  if (found === null) return null;
  const { procedures, commands } = found;
  const main = procedures.get('main');
  const blocks: readonly (CommandBlock | Procedure)[] =
    commands.length > 0 ? commands : main === undefined || main.needs.length > 0 ? [] : [main];
  if (blocks.length === 0 || blocks.some(({ body }) => goesOn(body, procedures))) return null;
  try {
    const writer = new Writer(text, procedures);
    const statements = blocks.map(({ body }) => writer.body(body, '  ', () => null));
    return `command\n${statements.join('')}endcommand\n`;
  } catch (error) {
    if (error instanceof Impossible) return null;
    throw error;
  }
}

/** Whether a block goes on after an error of a procedure that it calls: behind the whole call, not within the statements of the procedure. */
function goesOn(body: Block, procedures: ReadonlyMap<string, Procedure>): boolean {
  let [clears, calls] = [false, false];
  eachStatement(body, (stmt) => {
    if (stmt.k === 'clear_error') clears = true;
    calls ||= allOf(stmt).some((expr) => expr.k === 'call' && procedures.has(expr.name.name));
  });
  return clears && calls;
}

/** Most characters that are written: a procedure that calls another one twice may stand for any length. */
const MOST_WRITTEN = 65_536;

/** Why a procedure cannot be written in place of its calls. */
class Impossible extends Error {}

const CLOSES = new Map([
  ['func', 'endfunc'],
  ['command', 'endcommand'],
]);

/** The procedures and the command blocks of a text that may have both; null when one of them does not parse. */
function partsOf(
  text: string,
): { readonly procedures: ReadonlyMap<string, Procedure>; readonly commands: readonly CommandBlock[] } | null {
  const kept = new Map([...CLOSES.keys()].map((word) => [word, '']));
  let open: string | null = null;
  for (const line of text.split('\n')) {
    const word = /^\w+/.exec(line.trimStart())?.[0] ?? '';
    if (open === null && CLOSES.has(word)) open = word;
    else if (open === null && line.trim() !== '') return null;
    for (const [each, before] of kept) kept.set(each, `${before}${each === open ? line : ' '.repeat(line.length)}\n`);
    if (open !== null && CLOSES.get(open) === word) open = null;
  }
  const [library, blocks] = [...kept.values()].map((part) => parse(part));
  if (!library?.ok || !blocks?.ok || library.text.length !== text.length + 1) return null;
  const { procedures, events } = library.file;
  if (events.length > 0) return null;
  return { procedures: new Map(procedures.map((each) => [each.name.name, each])), commands: blocks.file.commands };
}

interface Edit extends Span {
  readonly text: string;
}

/** What a `return` with these values becomes; null when there is nothing to write. */
type Returning = (values: readonly string[]) => string | null;

class Writer {
  readonly #text: string;
  readonly #procedures: ReadonlyMap<string, Procedure>;
  readonly #words: ReadonlySet<string>;
  /** The procedures that are being written. */
  readonly #open = new Set<string>();
  #results = 0;
  #written = 0;

  constructor(text: string, procedures: ReadonlyMap<string, Procedure>) {
    this.#text = text;
    this.#procedures = procedures;
    this.#words = new Set(text.match(/[A-Za-z_]\w*/g));
  }

  /** The lines of a block at an indentation. `renamed` has other names for its variables. */
  body(block: Block, indent: string, onReturn: Returning, renamed: ReadonlyMap<string, string> = new Map()): string {
    const [first] = block.stmts;
    const last = block.stmts.at(-1);
    if (first === undefined || last === undefined) return '';
    const edits: Edit[] = [];
    this.#statements(block, true, { onReturn, renamed, edits });
    const from = this.#lineStart(first.s);
    const written = `${edited(this.#text.slice(from, last.e), edits, from).trimEnd()}\n`;
    this.#written += written.length;
    if (this.#written > MOST_WRITTEN) throw new Impossible();
    const own = /^[ \t]*/.exec(written)?.[0] ?? '';
    return indented(written, indent, own);
  }

  /** Collects the edits of statements. `ends`: whether nothing of the procedure follows them. */
  #statements({ stmts, onError }: Block, ends: boolean, writing: Writing): void {
    if (onError !== undefined && this.#open.size > 0) throw new Impossible();
    for (const [index, stmt] of stmts.entries()) {
      const isLast = ends && index === stmts.length - 1;
      this.#statement(stmt, isLast, writing);
      for (const inner of blocksOf(stmt)) this.#statements(inner, isLast && stmt.k === 'if', writing);
    }
    if (onError !== undefined) this.#statements(onError.body, false, writing);
  }

  #statement(stmt: Stmt, isLast: boolean, { onReturn, renamed, edits }: Writing): void {
    if (stmt.k === 'on_event' || (stmt.k === 'return' && stmt.values.length > 0 && this.#open.size === 0)) throw new Impossible();
    const values: Edit[] = [];
    const before: string[] = [];
    for (const target of targetsOf(stmt)) rename(target.name, target.name.name, renamed, values);
    if (stmt.k === 'for') for (const name of [stmt.item, stmt.key]) if (name) rename(name, name.name, renamed, values);
    for (const expr of expressionsOf(stmt)) this.#expression(expr, stmt.k !== 'while', { renamed, values, before, stmt });
    const at = this.#lineStart(stmt.s);
    const indent = /^[ \t]*/.exec(this.#text.slice(at))?.[0] ?? '';
    const isCall = stmt.k === 'call' && stmt.call.k === 'call' && this.#calledBy(stmt.call) !== undefined;
    if (stmt.k === 'return' && this.#open.size > 0) {
      if (!isLast) throw new Impossible();
      const texts = stmt.values.map(({ s, e }) => edited(this.#text.slice(s, e), within(values, s, e), s));
      edits.push({ s: stmt.s, e: stmt.e, text: onReturn(texts) ?? '' });
    } else if (isCall) edits.push({ s: at, e: stmt.e + 1, text: '' });
    else edits.push(...values);
    if (before.length > 0) edits.push({ s: at, e: at, text: indented(before.join(''), indent) });
  }

  /** Collects the edits of an expression; calls of procedures are replaced by the variables that hold their results. */
  #expression(expr: Expr, mayCall: boolean, into: Values): void {
    const { renamed, values } = into;
    if (expr.k === 'eval') throw new Impossible();
    if (expr.k === 'name') rename(expr, expr.name, renamed, values);
    for (const [index, child] of childrenOf(expr).entries()) {
      const isSure = expr.k !== 'binary' || index === 0 || !['and', 'or'].includes(expr.rest[index - 1]?.op ?? '');
      this.#expression(child, mayCall && isSure, into);
    }
    if (expr.k !== 'call') return;
    const called = this.#calledBy(expr);
    if (called === undefined) return;
    if (!mayCall) throw new Impossible();
    this.#call(expr, called, into);
  }

  #call(call: CallExpr, called: Procedure, { values, before, stmt }: Values): void {
    const name = called.name.name;
    const given = call.args.map(({ s, e }) => edited(this.#text.slice(s, e), within(values, s, e), s));
    const parameters = [...called.needs, ...called.optional];
    if (this.#open.has(name) || given.length < called.needs.length || given.length > parameters.length) throw new Impossible();
    this.#results += 1;
    const result = this.#newName(`${name}_result${this.#results === 1 ? '' : this.#results}`);
    const renamed = new Map([...variablesOf(called)].map((each) => [each, this.#newName(`${name}_${each}`)]));
    const sets = parameters.map((each, index) => `set ${renamed.get(each.name)} = ${given[index] ?? 'nil'}\n`);
    this.#open.add(name);
    const returning: Returning = (texts) =>
      texts.length === 0 ? null : `set ${result} = ${texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`}`;
    const isRead = stmt.k !== 'call' || stmt.call !== call;
    const initial = isRead && !returnsAlways(called.body) ? [`set ${result} = nil\n`] : [];
    before.push(...sets, ...initial, this.body(called.body, '', returning, renamed));
    this.#open.delete(name);
    // The edits within the call are in its arguments already.
    values.splice(0, values.length, ...values.filter(({ s, e }) => s < call.s || e > call.e), {
      s: call.s,
      e: call.e,
      text: result,
    });
  }

  /** The procedure of the program that an expression calls. */
  #calledBy({ name: { name } }: CallExpr): Procedure | undefined {
    return builtinNamed(name) === undefined ? this.#procedures.get(name) : undefined;
  }

  #newName(name: string): string {
    if (this.#words.has(name)) throw new Impossible();
    return name;
  }

  #lineStart(offset: number): number {
    return this.#text.lastIndexOf('\n', offset - 1) + 1;
  }
}

/** What the statements of a block are written with. */
interface Writing {
  readonly onReturn: Returning;
  readonly renamed: ReadonlyMap<string, string>;
  readonly edits: Edit[];
}

/** The edits of the expressions of a statement, and the lines before it. */
interface Values {
  readonly renamed: ReadonlyMap<string, string>;
  readonly values: Edit[];
  readonly before: string[];
  readonly stmt: Stmt;
}

/** Whether a block returns whichever way it is left. */
function returnsAlways({ stmts }: Block): boolean {
  const last = stmts.at(-1);
  if (last?.k === 'if') return returnsAlways(last.then) && last.else !== undefined && returnsAlways(last.else);
  return last?.k === 'return';
}

/** The names of the parameters and of the variables that a procedure sets. */
function variablesOf({ needs, optional, body }: Procedure): ReadonlySet<string> {
  const names = new Set([...needs, ...optional].map(({ name }) => name));
  eachStatement(body, (stmt) => {
    for (const name of setBy(stmt)) names.add(name);
    if (allOf(stmt).some(({ k }) => k === 'last')) throw new Impossible();
  });
  return names;
}

function rename({ s, e }: Span, name: string, renamed: ReadonlyMap<string, string>, edits: Edit[]): void {
  const text = renamed.get(name);
  if (text !== undefined) edits.push({ s, e: Math.max(e, s + name.length), text });
}

/** The lines with another indentation than `own`. Those of a template are its text and stay. */
function indented(text: string, indent: string, own = ''): string {
  if (text.includes('```')) return text;
  const moved = (line: string): string => indent + (line.startsWith(own) ? line.slice(own.length) : line);
  return text
    .split('\n')
    .map((line) => (line === '' ? '' : moved(line)))
    .join('\n');
}

function within(edits: readonly Edit[], from: number, to: number): readonly Edit[] {
  return edits.filter(({ s, e }) => from <= s && e <= to);
}

/** The text with edits, whose offsets begin at `from`. */
function edited(text: string, edits: readonly Edit[], from: number): string {
  let out = '';
  let at = 0;
  for (const { s, e, text: instead } of edits.toSorted((a, b) => a.s - b.s || a.e - b.e)) {
    out += text.slice(at, s - from) + instead;
    at = e - from;
  }
  return out + text.slice(at);
}
