/** Calls of tools as other languages have them: with a function or a field for each item, or under the name of an operator. */

import { toolParts } from '../vocabulary/names.ts';
import { operand } from './calls.ts';
import { overItems } from './members.ts';
import type { Scope } from './scope.ts';
import { SEARCHES, searched } from './search.ts';
import { called, plain, settled, type Value } from './values.ts';

/** The places of a call in the text. */
interface CallSpans {
  readonly s: number;
  readonly e: number;
}

/** What a call of a tool means whose arguments are those of another language; null where it is a call like any other. */
export function foreignToolCall(scope: Scope, name: string, args: readonly Value[], { s, e }: CallSpans): Value | null {
  const [list, by, start, ...more] = args;
  const [group, local] = toolParts(name.toLowerCase());
  if (list === undefined || by === undefined || more.length > 0 || list.form?.k === 'arrow') return null;
  const of = (): string => plain(settled(scope, list));
  const field = fieldOf(by);
  if (group === 'tool.math' && start === undefined && /^(?:sum|max|min|mean|median)$/.test(local)) {
    const each =
      by.form?.k === 'arrow' ? overItems(of(), 'map', by, undefined) : field === null ? null : fieldsOf(of(), field, by);
    return each === null ? null : called(`${name}(${plain(settled(scope, each))})`, s, e);
  }
  if (group === 'tool.str' && local === 'substring' && start === undefined) {
    const text = of();
    return called(`${name}(${text}, ${plain(settled(scope, by))}, len(${text}))`, s, e);
  }
  // A function is no argument of any tool.
  if (group !== 'tool.list' || (scope.tools.has(`${group}.${local}`) && by.form === undefined)) return null;
  if (/^(?:concat|extend|addall|combine)$/.test(local) && start === undefined && by.form === undefined)
    return { text: `(${operand(of())} + ${operand(plain(by))})`, kind: 'list', s, e };
  if (/^(?:map|pluck|column)$/.test(local) && field !== null && start === undefined)
    return { ...fieldsOf(of(), field, by), s, e };
  if (by.form?.k !== 'arrow') return null;
  const search = SEARCHES[local] ?? (/^(?:any|all)$/.test(local) ? (local as 'any' | 'all') : undefined);
  const [item = '_item'] = by.form.params;
  if (search !== undefined) return searched(scope, search, { names: item, of: of(), cond: plain(by.form.body), item }, s, e);
  if (/^(?:map|filter|reduce)$/.test(local)) return { ...overItems(of(), local, by, start), s, e };
  return byKey(name, local, of(), by.form, { s, e });
}

/** `SortBy(rows, r => r.price)`: the key alone. A minus before it is the other order. */
function byKey(
  name: string,
  local: string,
  of: string,
  { params, body }: { readonly params: readonly string[]; readonly body: Value },
  { s, e }: CallSpans,
): Value | null {
  const [, minus, item, key] = /^(-?)(\w+)\.(\w+)$/.exec(plain(body)) ?? [];
  if (params.length !== 1 || item !== params[0] || key === undefined) return null;
  if (local !== 'groupby' && local !== 'sortby' && local !== 'sort') return null;
  if (local === 'groupby') return minus === '' ? called(`${name}(${of}, "${key}")`, s, e) : null;
  return called(`tool.list.SortBy(${of}, "${key}"${minus === '' ? '' : ', true'})`, s, e);
}

/** The field that a text names; null for any other value. */
function fieldOf({ text, literal, kind }: Value): string | null {
  return (literal === true && kind === 'text' && /^(["'])[A-Za-z_]\w*\1$/.exec(text) && text.slice(1, -1)) || null;
}

/** The list of a field of each item. */
function fieldsOf(of: string, field: string, { s, e }: CallSpans): Value {
  return { text: '', kind: 'list', s, e, form: { k: 'each', names: '_item', of, cond: null, item: `_item.${field}` } };
}
