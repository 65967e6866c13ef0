/** Interpreters that lose a label somewhere: a file of `src/guest`, a text in it, and the text in its place. */
export const PLANTS: Readonly<Record<string, readonly [file: string, text: string, planted: string]>> = {
  'a variable': ['flow/expressions.ts', '    flow.acc |= frame.labels[place] ?? 0;\n    const local', '    const local'],
  'what a condition decides': ['flow/statements.ts', '    flow.pc = pc | label;\n', ''],
  'what a branch left unset': ['flow/statements.ts', '    if (label !== 0) spread(flow, frame, effects, flow.pc);\n', ''],
  'an early exit': ['flow/statements.ts', '    if (!leaves) flow.pc = pc;', '    flow.pc = pc;'],
  'the item of a loop': ['flow/passing.ts', 'part | label | flow.pc;', 'flow.pc;'],
  'an item of a list': ['flow/evaluated.ts', 'mark(list, index, labels[index] ?? 0, deepOf(item));', 'mark(list, index, 0, 0);'],
  'an entry of a map': ['flow/expressions.ts', '      replaceMark(map, name, label, deepOf(item));\n', ''],
  'an element that is read': ['flow/expressions.ts', '      flow.acc |= partOf(value, keyValue);\n', ''],
  'an element that is written': [
    'flow/targets.ts',
    'if (isLast) replaceMark(container, at, label, deep);',
    'if (isLast) replaceMark(container, at, 0, 0);',
  ],
  'a key that is written': ['flow/targets.ts', 'more: keys | known', 'more: known'],
  'the labels of a copy': ['flow/targets.ts', 'parts: new Map(original.parts), deep: original.deep', 'parts: new Map(), deep: 0'],
  'a parameter': ['flow/calls.ts', 'flow.enter(callee.blank.length, labels);', 'flow.enter(callee.blank.length);'],
  'a result': ['flow/calls.ts', 'flow.acc = acc | flow.result;', 'flow.acc = acc;'],
  'the call of a procedure': ['flow/compilers.ts', 'flow.ambient = flow.deciding;', 'flow.ambient = 0;'],
  'what an error left unset': ['flow/guarded.ts', '    spread(flow, frame, effects, label);\n', ''],
  'an answer among others': [
    'together.ts',
    'if (flow !== null) flow.acc = labels?.[index] ?? 0;',
    'if (flow !== null) flow.acc = 0;',
  ],
};
