/** Corrections of a program that failed while it ran: at the place that failed, and where its values came from. */

import type { RawEdit } from '../lint/finding.ts';
import type { Stmt, Target } from '../syntax/ast.ts';
import type { AccessExpr, AccessStep, BinaryExpr, Expr, ToolCallExpr } from '../syntax/astexpressions.ts';
import type { Span } from '../syntax/position.ts';
import { allOf, expressionsOf, namesIn, setBy, targetsOf } from '../syntax/walk.ts';
import { toolParts } from '../vocabulary/names.ts';
import { nearestName } from '../vocabulary/spelling.ts';
import { replaced, wrapped } from './apply.ts';
import { methodCall } from './calls.ts';
import { ofCall } from './failedcalls.ts';
import { ofCharacter, ofEntries, ofMatch, ofOptional } from './failedforms.ts';
import { accessesIn, type Failure, insideOf, onlyValue, originOf } from './failedplace.ts';

/** The edits that correct the place that failed; none where no correction is evident. */
export function correctionOf(failure: Failure): readonly RawEdit[] {
  const { around, at, message } = failure;
  const stmt = around.at(-1);
  if (stmt === undefined) return [];
  if (stmt.k === 'for' && stmt.over.s === at && message.includes(' cannot iterate over number '))
    return wrapped(stmt.over, 'tool.list.Range(0, ', ')');
  if (stmt.k === 'set' && stmt.s === at) return withoutError(failure, stmt.targets);
  const target = targetsOf(stmt).find(({ steps }) => steps.some(({ s }) => s === at));
  if (target !== undefined) {
    const written = ofCharacter(failure, stmt, target);
    return written.length > 0 ? written : madeMap(failure, target);
  }
  const found = operationAt(stmt, at);
  if (found === undefined) return [];
  if (found.k === 'access') return ofAccess(failure, found, stmt);
  if (found.k !== 'tool') return ofOperator(failure, found, stmt);
  const entries = ofEntries(failure, found);
  const edits = entries.length > 0 ? entries : ofCall(failure, found, stmt);
  return edits.length > 0 || !message.includes(', but was nil') ? edits : onlyOne(found.args.map((arg) => nilKey(failure, arg)));
}

type Operation = AccessExpr | BinaryExpr | ToolCallExpr;

/** The access, operator or call at an offset. */
function operationAt(stmt: Stmt, at: number): Operation | undefined {
  return allOf(stmt).find(
    (expr): expr is Operation =>
      (expr.k === 'access' && expr.steps.some(({ s }) => s === at)) ||
      (expr.k === 'binary' && expr.rest.some((term) => term.at === at)) ||
      (expr.k === 'tool' && expr.s === at),
  );
}

/** `set n, err = f()` of Go, where `f` has one result: errors are not values. */
function withoutError({ message }: Failure, targets: readonly Target[]): readonly RawEdit[] {
  const [first, second, ...more] = targets;
  if (first === undefined || second === undefined || more.length > 0 || !message.startsWith('setting 2 variables')) return [];
  return ERRORS.has(second.name.name) ? [{ s: first.e, e: second.e, text: '' }] : [];
}

const ERRORS: ReadonlySet<string> = new Set(['err', 'error', 'e']);

/** A key of an empty list: a map is meant. */
function madeMap(failure: Failure, { name, steps }: Target): readonly RawEdit[] {
  const value = onlyValue(failure, name.name);
  const isKey = failure.message.startsWith('a list index must be an integer, got string') && steps[0]?.s === failure.at;
  return isKey && value?.k === 'list' && value.items.length === 0 ? [replaced(value, '{}')] : [];
}

/** An element that is not there, or that the value cannot have. */
function ofAccess(failure: Failure, expr: AccessExpr, stmt: Stmt): readonly RawEdit[] {
  const { text, at, message } = failure;
  const index = expr.steps.findIndex(({ s }) => s === at);
  const step = expr.steps[index];
  if (step === undefined) return [];
  const of = text.slice(expr.s, step.s);
  if (message.startsWith('cannot read element') && message.includes(' of nil:')) {
    const other = otherKey(failure, expr, index - 1);
    return other.length > 0 ? other : ofOptional(failure, stmt, expr, index);
  }
  const looped = byKey(failure, of, step);
  if (looped.length > 0) return looped;
  if (step.k === 'index') {
    if (message.includes(' is out of bounds: ')) return otherIndex(failure, of, step.index);
    return message.includes(' must be an integer, got number') ? wrapped(step.index, 'tool.math.Floor(', ')') : [];
  }
  const json = parsedFirst(failure, expr, index);
  if (json.length > 0) return json;
  const groups = ofMatch(failure, expr, index);
  if (groups.length > 0) return groups;
  const entries = ofEntry(failure, expr, step.name);
  if (entries.length > 0) return entries;
  const kind = message.startsWith('a list') ? 'list' : 'text';
  const call = methodCall(step.name, of, kind, [])?.text;
  if (call === undefined || OTHERS[kind].some((group) => call.startsWith(group))) return [];
  return sameSteps(failure, expr, step).map((same) => replaced({ s: same.of.s, e: same.step.e }, call));
}

/** `entry.key` and `entry.value` of what `tool.map.Entries` gives: a list of two. */
function ofEntry(failure: Failure, { base }: AccessExpr, field: string): readonly RawEdit[] {
  const loop = failure.around.findLast((stmt) => stmt.k === 'for' && base.k === 'name' && stmt.item.name === base.name);
  if (loop?.k !== 'for' || ENTRY[field] === undefined) return [];
  const over = originOf(failure, loop.over);
  if (over?.k !== 'tool' || toolParts(over.name)[1] !== 'entries') return [];
  return accessesIn(insideOf(loop, failure)).flatMap(({ base, steps: [step] }) => {
    const isEntry = base.k === 'name' && base.name === loop.item.name && step?.k === 'field';
    return isEntry && ENTRY[step.name] !== undefined ? [replaced(step, ENTRY[step.name] ?? '')] : [];
  });
}

const ENTRY: Readonly<Record<string, string>> = { key: '[0]', value: '[1]' };

/** Groups of tools that take no list, or no text. */
const OTHERS = { list: ['tool.str.', 'tool.map.'], text: ['tool.list.', 'tool.map.', 'tool.math.'] } as const;

/** All places of a program that have the text of an access up to one of its steps. */
function sameSteps(
  { stmts, text }: Failure,
  { s }: AccessExpr,
  { e }: AccessStep,
): readonly { readonly of: AccessExpr; readonly step: AccessStep }[] {
  const written = text.slice(s, e);
  return accessesIn(stmts).flatMap((of) => {
    const step = of.steps.find((each) => text.slice(of.s, each.e) === written);
    return step === undefined ? [] : [{ of, step }];
  });
}

/** A text that holds JSON, and is used as what it describes. */
function parsedFirst(failure: Failure, { base, s, steps }: AccessExpr, index: number): readonly RawEdit[] {
  const value = base.k === 'name' ? onlyValue(failure, base.name) : undefined;
  const inList = index > 0 && value?.k === 'str' && value.v.startsWith('[') && value.v.endsWith(']');
  if (inList) return wrapped(value, 'tool.json.Parse(', ')');
  if (index > 0 || failure.hint?.includes('tool.json.Parse(') !== true) return [];
  return wrapped(value ?? { s, e: steps[0]?.s ?? s }, 'tool.json.Parse(', ')');
}

/** The key of a map that the program spells in another way. */
function otherKey(failure: Failure, expr: AccessExpr, index: number): readonly RawEdit[] {
  const { stmts, text } = failure;
  const step = expr.steps[index];
  if (step === undefined) return [];
  const of = text.slice(expr.s, step.s);
  if (step.k === 'index' && step.index.k !== 'str') return byKey(failure, of, step);
  const key = step.k === 'field' ? step.name : text.slice(step.index.s + 1, step.index.e - 1);
  const keys = expr.base.k === 'name' ? keysOf(stmts, expr.base.name) : new Set<string>();
  const said = meantIn(failure, key);
  const call = step.k === 'field' ? PROPERTIES[key]?.(of) : undefined;
  const isMap = call !== undefined && expr.base.k === 'name' && onlyValue(failure, expr.base.name)?.k === 'map';
  if (keys.has(key) || (keys.size === 0 && said === undefined && !isMap)) return [];
  const same = sameSteps(failure, expr, step);
  if (call !== undefined) return same.map((one) => replaced({ s: one.of.s, e: one.step.e }, call));
  const meant = said ?? nearestName(key, keys);
  if (meant === undefined) return [];
  const written = step.k === 'field' ? `.${meant}` : `[${JSON.stringify(meant)}]`;
  return same.map((one) => replaced(one.step, written));
}

/** What maps have as properties in other languages. */
const PROPERTIES: Readonly<Record<string, (of: string) => string>> = {
  length: (of) => `len(${of})`,
  size: (of) => `len(${of})`,
  keys: (of) => `tool.map.Keys(${of})`,
  values: (of) => `tool.map.Values(${of})`,
};

/** The key that the hint of a failure names instead of a missing one. */
function meantIn({ hint = '' }: Failure, key: string): string | undefined {
  const [begin, middle] = [`there is no key "${key}"`, ': did you mean "'];
  return hint.startsWith(begin + middle) ? hint.slice(begin.length + middle.length, -2) : undefined;
}

/** The corrections of an expression that is nil: of the key that it reads, or that its variable was set to. */
function nilKey(failure: Failure, expr: Expr): readonly RawEdit[] {
  const read = originOf(failure, expr);
  return read?.k === 'access' ? otherKey(failure, read, read.steps.length - 1) : [];
}

/** The corrections of the only one that has some. */
function onlyOne(all: readonly (readonly RawEdit[])[]): readonly RawEdit[] {
  const [first = [], ...more] = all.filter((edits) => edits.length > 0);
  return more.length > 0 ? [] : first;
}

/** The keys of all maps of which a variable may be made; none where a call makes a part of it. */
function keysOf(stmts: readonly Stmt[], variable: string): ReadonlySet<string> {
  const all = [...settersOf(stmts, new Set([variable]))].flatMap(allOf);
  if (all.some(({ k }) => k === 'tool' || k === 'call')) return new Set();
  const entries = all.flatMap((each) => (each.k === 'map' ? each.entries : []));
  return new Set(entries.flatMap(([name]) => (name.k === 'str' ? [name.v] : [])));
}

/** An item that is used as if a loop gave keys or indices: `m[k]` in a loop over `m`. */
function byKey({ text, around }: Failure, of: string, step: AccessStep): readonly RawEdit[] {
  if (step.k !== 'index' || step.index.k !== 'name') return [];
  const { name } = step.index;
  const loop = around.findLast((stmt) => stmt.k === 'for' && stmt.item.name === name);
  const isOver = loop?.k === 'for' && loop.key === undefined && text.slice(loop.over.s, loop.over.e) === of;
  return isOver ? [{ s: loop.item.e, e: loop.item.e, text: ', _item' }] : [];
}

/** An index that counts from 1, or goes one too far. */
function otherIndex(failure: Failure, of: string, index: Expr): readonly RawEdit[] {
  const { text, around, stmts, message } = failure;
  const length = `len(${of})`;
  const written = ({ s, e }: Span): string => text.slice(s, e);
  if (written(index) === length) return [replaced(index, `${length} - 1`)];
  if (index.k !== 'name') return [];
  const { name } = index;
  const items = itemsIn(message);
  const loop = around.findLast(({ k }) => k === 'while' || k === 'for');
  const lessOne = (): readonly RawEdit[] =>
    accessesIn(insideOf(loop, failure)).flatMap(({ s, steps }) =>
      steps.flatMap((step) => {
        const isUse = step.k === 'index' && step.index.k === 'name' && step.index.name === name;
        return isUse && text.slice(s, step.s) === of ? [replaced(step.index, `${name} - 1`)] : [];
      }),
    );
  if (loop?.k === 'for' && loop.item.name === name && loop.over.k === 'tool' && toolParts(loop.over.name)[1] === 'range') {
    const [from, to] = loop.over.args;
    if (from === undefined || to === undefined) return [];
    if (written(from) === '1' && (written(to) === `${length} + 1` || written(to) === `${items + 1}`)) return lessOne();
    return written(from) === '0' && written(to) === `${length} + 1` ? [replaced(to, length)] : [];
  }
  if (loop?.k !== 'while' || loop.cond.k !== 'binary') return [];
  const { first, rest } = loop.cond;
  const [term, ...more] = rest;
  const counts =
    first.k === 'name' && first.name === name && term?.op === '<=' && [length, `${items}`].includes(written(term.right));
  if (!counts || more.length > 0) return [];
  const start = stmts.findLast((stmt) => stmt.e <= loop.s && targetsOf(stmt).some((target) => target.name.name === name));
  const from = start?.k === 'set' ? written(start.value) : '';
  if (from === '1') return lessOne();
  return from === '0' ? [{ s: term.at, e: term.at + term.op.length, text: '<' }] : [];
}

/** The number of items in `list index 3 is out of bounds: the list has 3 items`, where the index is that number; NaN otherwise. */
function itemsIn(message: string): number {
  const [index, length] = [message.split(' ')[2], message.split(' ').at(-2)];
  return index === length ? Number(length) : Number.NaN;
}

const COMPARISONS: ReadonlySet<string> = new Set(['==', '!=', '<', '>', '<=', '>=']);

/** An operator that cannot take its operands. */
function ofOperator(failure: Failure, expr: BinaryExpr, stmt: Stmt): readonly RawEdit[] {
  const { at, message } = failure;
  const index = expr.rest.findIndex((term) => term.at === at);
  const term = expr.rest[index];
  const begin = `'${term?.op}' cannot be applied to `;
  if (term === undefined || !message.startsWith(begin)) return [];
  const left = index === 0 ? expr.first : undefined;
  const given = message.slice(begin.length);
  const operands = [expr.first, ...expr.rest.map(({ right }) => right)];
  if (term.op === '&' && (given.startsWith('string') || given.includes(' and string'))) {
    if (operands.some((part) => part.k === 'binary' && part.rest.some(({ op }) => COMPARISONS.has(op)))) return [];
    const inBrackets = operands.slice(1).flatMap((part) => (part.k === 'binary' ? wrapped(part, '(', ')') : []));
    return [...expr.rest.map((each) => ({ s: each.at, e: each.at + 1, text: '+' })), ...inBrackets];
  }
  if (term.op === '^' && expr.rest.length === 1 && !given.includes('string') && !given.includes('nil'))
    return operands.some(({ k }) => k === 'binary' || k === 'unary') ? [] : [{ s: at, e: at + 1, text: '**' }];
  if (term.op === '+' && expr.rest.length === 1 && given.startsWith('map of ') && given.includes(' and map of '))
    return [
      replaced(
        expr,
        `tool.map.Merge(${failure.text.slice(expr.first.s, expr.first.e)}, ${failure.text.slice(term.right.s, term.right.e)})`,
      ),
    ];
  if (given.startsWith('nil and ')) return left === undefined ? [] : ofNil(failure, left, stmt, term.op, given.slice(8));
  if (given.endsWith(' and nil')) return ofNil(failure, term.right, stmt, term.op, given);
  return term.op === '+' && given.startsWith('list') && left !== undefined && isTarget(failure, stmt, left)
    ? wrapped(term.right, '[', ']')
    : [];
}

/** Whether a statement sets what an expression reads. */
function isTarget({ text }: Failure, stmt: Stmt, { s, e }: Span): boolean {
  const [target, ...more] = targetsOf(stmt);
  return target !== undefined && more.length === 0 && text.slice(target.s, target.e) === text.slice(s, e);
}

/** What a sum, a product or a list begins with. */
const STARTS: Readonly<Record<string, string>> = { '+': '0', '-': '0', '*': '1' };

/** An operand that is nil: what is counted has no value to begin with, or its key is another one. */
function ofNil(failure: Failure, operand: Expr, stmt: Stmt, op: string, other: string): readonly RawEdit[] {
  const { text, stmts, around } = failure;
  const start = op === '+' && other.startsWith('list') ? '[]' : STARTS[op];
  if (start !== undefined && isTarget(failure, stmt, operand)) {
    if (operand.k === 'name') {
      const isSet = stmts.some((each) => each.e <= stmt.s && targetsOf(each).some(({ name }) => name.name === operand.name));
      const [outer] = around;
      if (isSet || outer === undefined) return [];
      const indent = text.slice(text.lastIndexOf('\n', outer.s - 1) + 1, outer.s);
      return indent.trim() === '' ? [{ s: outer.s, e: outer.s, text: `set ${operand.name} = ${start}\n${indent}` }] : [];
    }
    const step = operand.k === 'access' ? operand.steps.at(-1) : undefined;
    if (step === undefined || start === '1') return [];
    const key = step.k === 'field' ? JSON.stringify(step.name) : text.slice(step.index.s, step.index.e);
    return [replaced(operand, `tool.map.Get(${text.slice(operand.s, step.s)}, ${key}, ${start})`)];
  }
  return nilKey(failure, operand);
}

/** Most rounds in which statements are looked for that set the variables of those found before. */
const MOST_ROUNDS = 8;

/** What a value that failed was made of. */
export interface Origins {
  /** The expressions of the statement that failed and of those around it. */
  readonly here: readonly Span[];
  /** Those of the statements that set their variables, directly or by others. */
  readonly before: readonly Span[];
  /** The calls that have such a variable as an argument. */
  readonly calls: readonly Span[];
}

export function originsOf({ stmts, around }: Failure): Origins {
  const names = namesIn(around.flatMap(allOf));
  const others = stmts.filter((stmt) => !around.includes(stmt));
  const setters = settersOf(others, names);
  const spans = (some: Iterable<Stmt>): readonly Span[] =>
    [...some].flatMap((stmt) => [...expressionsOf(stmt), ...targetsOf(stmt)]);
  return {
    here: spans(around),
    before: spans(setters),
    calls: stmts.flatMap((stmt) =>
      stmt.k === 'call' && stmt.call.args.some((arg) => arg.k === 'name' && names.has(arg.name)) ? [stmt] : [],
    ),
  };
}

/** The statements that set some variables, directly or by others. Adds these others to `names`. */
function settersOf(stmts: readonly Stmt[], names: Set<string>): ReadonlySet<Stmt> {
  const found = new Set<Stmt>();
  for (let round = 0, size = -1; round < MOST_ROUNDS && size < found.size; round++) {
    size = found.size;
    for (const stmt of stmts.toReversed()) {
      if (found.has(stmt)) continue;
      if (!setBy(stmt).some((name) => names.has(name))) continue;
      found.add(stmt);
      for (const name of namesIn(allOf(stmt))) names.add(name);
    }
  }
  return found;
}
