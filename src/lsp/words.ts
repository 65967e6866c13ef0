/** What hover and completion say of the words of the language. */

import type { Procedure } from '../../grammar/index.ts';
import { BUILTINS, type BuiltinName } from '../../grammar/vocabulary/builtins.ts';

/** One sentence for each keyword that a program writes by itself. */
export const KEYWORD_WORDS: Readonly<Record<string, string>> = {
  and: 'True if both operands are true; evaluates the right one only if it has to.',
  ask: '`ask model, prompt [with options] [into x]`: asks an agent.',
  break: 'Leaves the innermost loop.',
  call: '`call f(…)`: calls for the effect and drops the result.',
  clear: '`clear event e` or `clear event named "x"`: removes event handlers.',
  clear_error: 'Ends the handling of an error; the program continues after the failed statement. Only in an `on error` block.',
  command: '`command … endcommand`: a run executes each of its command blocks once, in order.',
  continue: 'Starts the next pass of the innermost loop.',
  each: '`for each x in list` or `for each key, value in map`.',
  else: 'The branch of an `if` whose condition is false.',
  emit: '`emit value`: writes to the output of the run.',
  eval: '`eval(text)`: fills the placeholders `{{name}}` of a text.',
  fail: '`fail [value]`: fails with code 1.',
  false: 'The boolean value false.',
  for: '`for each x in list … endfor`.',
  func: '`func name(needs a optional b returns c) means … endfunc`: defines a procedure.',
  if: '`if condition … [else …] endif`.',
  last: 'The value of the latest statement that has one.',
  means: 'Ends the head of a procedure.',
  must: '`must condition`: fails with code 5 if the condition is false.',
  needs: 'The parameters that every call must give.',
  nil: 'No value.',
  no: '`no x`: whether `x` is empty, zero, false or nil.',
  not: 'True if the operand is false.',
  on: '`on error do … endon` guards its block; `on event "name" as e do … endon` handles an event.',
  optional: 'Parameters that a call may leave out; they are nil then.',
  or: 'True if one operand is true; evaluates the right one only if it has to.',
  promptuser: '`promptuser text into x`: reads one line from the host.',
  return: '`return a, b`: ends the procedure with these values.',
  returns: 'Names of the values that the procedure returns.',
  set: '`set x = value`, `set a, b = list`, `set m["key"] = value`.',
  some: '`some x`: whether `x` is neither empty nor zero, false or nil.',
  together:
    '`together … endtogether`: calls of tools that run at the same time; behind the head of a loop, those of all its passes.',
  true: 'The boolean value true.',
  typeof: '`typeof(x)`: the name of the type of a value.',
  while: '`while condition … endwhile`.',
  whisper: '`whisper handle, value`: writes to the scratchpad, which the next turn sees.',
};

export function headOf({ name, needs, optional, returns }: Procedure): string {
  const list = (word: string, names: readonly { readonly name: string }[]): string[] =>
    names.length === 0 ? [] : [`${word} ${names.map((each) => each.name).join(', ')}`];
  const clauses = [...list('needs', needs), ...list('optional', optional), ...list('returns', returns)];
  return `func ${name.name}(${clauses.join(' ')})`;
}

/** What the one parameter of a built-in function is called. */
export function builtinParameter(name: BuiltinName): string {
  const { takes } = BUILTINS[name];
  return takes === 'any' ? 'value' : takes;
}

export function builtinForm(name: BuiltinName): string {
  return `${name}(${builtinParameter(name)}) -> ${BUILTINS[name].returns}`;
}
