/** Translates operators and methods that change their receiver into `set` statements. */
import { operand } from './calls.ts';
import { partsOf } from './operators.ts';
import { type Scope, Unclear } from './scope.ts';
import { filled } from './strings.ts';
import { plain, type Value } from './values.ts';

/** The statement for a method that changes its receiver; null for any other method. */
export function changed(scope: Scope, receiver: Value, name: string, args: readonly string[]): readonly string[] | null {
  const of = plain(receiver);
  const set = statement(of, receiver.kind, name, args);
  if (set === null) return null;
  const [root = ''] = /^\w+/.exec(of) ?? [];
  scope.items.delete(root);
  // NeuroScript copies values that other languages share, and languages differ in these methods.
  if (scope.shared.has(root) || DOUBTFUL.has(`${name}/${args.length}`)) scope.guess();
  if (/^(?:delete|remove|update)$/.test(name) && receiver.kind !== 'map') scope.guess();
  return [set];
}

/** Sets keep one of equal items, `sort` of JavaScript compares texts, `concat` changes nothing there. */
const DOUBTFUL = new Set(['add/1', 'concat/1', 'sort/0', 'insert/2']);

function statement(of: string, kind: Value['kind'], name: string, args: readonly string[]): string | null {
  const [one = '', two = ''] = args;
  const form = `${name}/${args.length}`;
  if (/^(?:append|push|push_back|add)\/1$/.test(form)) return `set ${of}[len(${of})] = ${one}`;
  if (name === 'push') return `set ${of} = ${of} + [${args.join(', ')}]`;
  if (/^(?:extend|concat)\/1$/.test(form)) return `set ${of} = ${of} + ${one}`;
  if (/^(?:set|put)\/2$/.test(form)) return `set ${of}[${one}] = ${two}`;
  if (/^(?:delete|remove)\/1$/.test(form)) return kind === 'list' ? null : `set ${of} = tool.map.Remove(${of}, ${one})`;
  if (form === 'update/1') return `set ${of} = tool.map.Merge(${of}, ${one})`;
  if (form === 'insert/2') return `set ${of} = tool.list.Insert(${of}, ${one}, ${two})`;
  if (form === 'unshift/1') return `set ${of} = tool.list.Prepend(${of}, ${one})`;
  if (form === 'shift/0') return `set ${of} = tool.list.Rest(${of})`;
  if (form === 'sort/0') return `set ${of} = tool.list.Sort(${of})`;
  if (form === 'reverse/0') return `set ${of} = tool.list.Reverse(${of})`;
  if (form === 'pop/0') return `set ${of} = tool.list.Slice(${of}, 0, len(${of}) - 1)`;
  return null;
}

/** `x += 1`, and the other operators that set their left side. Throws `Unclear`. */
export function augmented(scope: Scope, target: Value, operator: string, by: Value): readonly string[] {
  const of = plain(target);
  const value = plain(by);
  if (!/^[A-Za-z_][\w.]*(?:\[[^\]]*\])*$/.test(of)) throw new Unclear();
  if (operator === '//') return [`set ${of} = tool.math.Floor(${of} / ${operand(value)})`];
  if (operator === '/' && scope.whole) return [`set ${of} = tool.math.Trunc(${of} / ${operand(value)})`];
  if (operator === '??') return [`if ${of} == nil`, `  set ${of} = ${value}`, 'endif'];
  if (operator === '||') {
    scope.guess();
    return [`if no ${of}`, `  set ${of} = ${value}`, 'endif'];
  }
  const texts = operator === '..' || (operator === '+' && (target.kind === 'text' || by.kind === 'text'));
  if (texts && by.worded !== true) return [`set ${of} = ${filled([{ value: of }, ...partsOf(by)])}`];
  return [`set ${of} = ${of} ${operator === '..' ? '+' : operator} ${by.literal === true ? value : operand(value)}`];
}

/** `del m["a"]`, `delete m.a`. Throws `Unclear`. */
export function removal({ element }: Value, scope: Scope): readonly string[] {
  if (element === undefined) throw new Unclear();
  const kind = scope.kindOf(element.of);
  if (kind === 'list') return [`set ${element.of} = tool.list.RemoveAt(${element.of}, ${element.key})`];
  if (kind === 'unknown' && !element.key.startsWith('"')) scope.guess();
  return [`set ${element.of} = tool.map.Remove(${element.of}, ${element.key})`];
}
