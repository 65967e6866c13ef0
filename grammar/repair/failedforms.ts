/** Corrections of values that have another form here: a match of a pattern, an entry of a map, a character of a text. */

import type { RawEdit } from '../lint/finding.ts';
import type { Stmt, Target } from '../syntax/ast.ts';
import type { AccessExpr, ToolCallExpr } from '../syntax/astexpressions.ts';
import { toolParts } from '../vocabulary/names.ts';
import { replaced } from './apply.ts';
import { accessesIn, type Failure, insideOf, originOf } from './failedplace.ts';

/** The group of the tools for patterns. */
const GROUP = 'tool.regex';

/** `match.groups` where the match is a text, and `match.groups.name`. */
export function ofMatch(failure: Failure, expr: AccessExpr, index: number): readonly RawEdit[] {
  const [step, before] = [expr.steps[index], expr.steps[index - 1]];
  if (step?.k !== 'field') return [];
  if (before?.k === 'field' && before.name === 'groups') return namedGroups(failure, failure.text.slice(expr.s, before.s));
  return step.name === 'groups' && index === 0 && expr.base.k === 'name' ? groupsOfAll(failure, expr.base.name) : [];
}

/** `m.groups.name`: the groups that have names are in `named`. */
function namedGroups({ stmts, text }: Failure, of: string): readonly RawEdit[] {
  return accessesIn(stmts).flatMap(({ s, steps }) => {
    const at = steps.findIndex((step, index) => step.k === 'field' && step.name === 'groups' && steps[index + 1]?.k === 'field');
    const step = steps[at];
    return step !== undefined && text.slice(s, step.s) === of ? [replaced(step, '.named')] : [];
  });
}

/** `match.groups[0]` in a loop over the texts of all matches: another tool gives their groups, behind the whole match. */
function groupsOfAll(failure: Failure, item: string): readonly RawEdit[] {
  const loop = failure.around.findLast((stmt) => stmt.k === 'for' && stmt.item.name === item);
  const over = loop?.k === 'for' ? originOf(failure, loop.over) : undefined;
  if (loop?.k !== 'for' || over?.k !== 'tool' || !/^(?:regex\.findall|str\.findallregex)$/.test(shortName(over))) return [];
  const edits = accessesIn(insideOf(loop, failure)).flatMap(({ base, steps: [field, group] }): RawEdit[] => {
    if (base.k !== 'name' || base.name !== item || field?.k !== 'field' || field.name !== 'groups') return [];
    if (group?.k !== 'index' || group.index.k !== 'num') return [];
    return [{ s: field.s, e: group.e, text: `[${group.index.v + 1}]` }];
  });
  return edits.length === 0 ? [] : [{ s: over.s, e: over.s + over.written.length, text: `${GROUP}.Groups` }, ...edits];
}

/** `tool.list.SortBy(tool.map.Entries(m), "value")`: entries are lists, and are made maps before the statement. */
export function ofEntries(failure: Failure, { name, args }: ToolCallExpr): readonly RawEdit[] {
  const [list, key] = args;
  const [, field] = /^every item must be a map with "(key|value)", got list of 2 items$/.exec(failure.message) ?? [];
  if (list === undefined || key?.k !== 'str' || key.v !== field || toolParts(name)[0] !== 'tool.list') return [];
  const entries = originOf(failure, list);
  const [of] = entries?.k === 'tool' && shortName(entries) === 'map.entries' ? entries.args : [];
  const stmt = failure.stmts.find(({ s, e }) => entries !== undefined && s <= entries.s && entries.e <= e);
  if (of === undefined || entries === undefined || (stmt?.k !== 'set' && stmt?.k !== 'emit')) return [];
  const fill = [
    'set _entries = []',
    `for each _key, _value in ${failure.text.slice(of.s, of.e)}`,
    '  set _entries[len(_entries)] = {"key": _key, "value": _value}',
    'endfor',
  ];
  const lines = before(failure, stmt, fill);
  return lines.length === 0 ? [] : [...lines, replaced(entries, '_entries')];
}

/** Lines before a statement that begins its own line; none elsewhere. */
function before({ text }: Failure, { s }: Stmt, lines: readonly string[]): readonly RawEdit[] {
  const indent = text.slice(text.lastIndexOf('\n', s - 1) + 1, s);
  return indent.trim() === '' ? [{ s, e: s, text: lines.map((line) => `${line}\n${indent}`).join('') }] : [];
}

/** `set word[0] = "A"`: the text is put together from its parts. */
export function ofCharacter({ text, message }: Failure, stmt: Stmt, target: Target): readonly RawEdit[] {
  const [step, ...more] = target.steps;
  if (stmt.k !== 'set' || stmt.targets.length > 1 || step?.k !== 'index' || more.length > 0) return [];
  if (!message.startsWith('cannot write an element of string ')) return [];
  const of = target.name.name;
  const at = text.slice(step.index.s, step.index.e);
  const value = text.slice(stmt.value.s, stmt.value.e);
  if (step.index.k !== 'num' && step.index.k !== 'name') return [];
  const begin = at === '0' ? [] : [`tool.str.Substring(${of}, 0, ${at})`];
  const next = step.index.k === 'num' ? `${step.index.v + 1}` : `${at} + 1`;
  const parts = [...begin, value, `tool.str.Substring(${of}, ${next}, len(${of}))`];
  return [replaced(stmt, `set ${of} = tool.str.Join([${parts.join(', ')}], "")`)];
}

/** `set limit = conf.http.timeout`, where the next statement asks whether that is nil: so the map before it may be missing, too. */
export function ofOptional(failure: Failure, stmt: Stmt, { s, steps }: AccessExpr, index: number): readonly RawEdit[] {
  const missing = steps[index - 1];
  if (stmt.k !== 'set' || missing?.k !== 'field') return [];
  const [target, ...more] = stmt.targets;
  const next = failure.stmts.find((each) => each.s >= stmt.e);
  if (target === undefined || target.steps.length > 0 || more.length > 0 || next?.k !== 'if') return [];
  const cond = failure.text.slice(next.cond.s, next.cond.e);
  const { name } = target.name;
  if (![`${name} == nil`, `nil == ${name}`, `is_nil(${name})`, `no ${name}`, `not ${name}`].includes(cond)) return [];
  const call = `tool.map.Get(${failure.text.slice(s, missing.s)}, ${JSON.stringify(missing.name)}, {})`;
  return [{ s, e: missing.e, text: call }];
}

/** `regex.find` for `tool.regex.Find`. */
function shortName({ name }: ToolCallExpr): string {
  return name.slice('tool.'.length);
}
