/** A mistake: a file of `src/guest`, a text in it, and the text in its place. The text is whole statements, or one expression. */
export type Plant = readonly [file: string, text: string, planted: string];

/** Interpreters that lose a label somewhere. */
export const PLANTS: Readonly<Record<string, Plant>> = {
  'a variable': ['flow/expressions.ts', 'flow.acc |= frame.labels[place] ?? 0;', ''],
  'the last value': ['flow/expressions.ts', 'flow.acc |= frame.labels[LAST] ?? 0;', ''],
  'what a condition decides': ['flow/statements.ts', 'flow.pc = pc | label;', ''],
  'what a branch left unset': ['flow/statements.ts', 'if (label !== 0) spread(flow, frame, effects, flow.pc);', ''],
  'an early exit': ['flow/statements.ts', 'if (!leaves) flow.pc = pc;', 'flow.pc = pc;'],
  'the left side of a condition': ['flow/expressions.ts', 'flow.pc |= flow.acc;', ''],
  'the count of passes': ['flow/statements.ts', 'flow.decides(flow.acc);', ''],
  'the item of a loop': ['flow/passing.ts', 'part | label | flow.pc', 'flow.pc'],
  'an item of a list': ['flow/evaluated.ts', 'mark(list, index, labels[index] ?? 0, deepOf(item));', ''],
  'an entry of a map': ['flow/expressions.ts', 'replaceMark(map, name, label, deepOf(item));', ''],
  'a key of a map': [
    'flow/expressions.ts',
    'flow.acc = acc;\n      machine.at = at;\n      putEntry(machine, map, name, item);',
    'flow.acc = 0;\n      machine.at = at;\n      putEntry(machine, map, name, item);',
  ],
  'an element that is read': ['flow/expressions.ts', 'flow.acc |= partOf(value, keyValue);', ''],
  'an element that is written': ['flow/targets.ts', 'replaceMark(container, at, label, deep);', ''],
  'a key that is written': ['flow/targets.ts', 'keys | known', 'known'],
  'the labels of a copy': [
    'flow/targets.ts',
    '{ parts: new Map(original.parts), deep: original.deep }',
    '{ parts: new Map(), deep: 0 }',
  ],
  'one of several targets': ['flow/targets.ts', 'label | partOf(value, index)', 'label'],
  'the argument of one built-in': [
    'flow/calls.ts',
    'compileCall(context, expr)',
    "((run: Eval): Eval => name.toLowerCase() !== 'len' ? run : (frame) => { const { acc } = flow; const made = run(frame); flow.acc = acc; return made; })(compileCall(context, expr))",
  ],
  'what is looked into': ['flow/expressions.ts', 'flow.acc |= deepOf(made);', ''],
  'a text that is evaluated': ['flow/expressions.ts', "flow.acc |= labelOf(run, flow, frame, path[0] ?? '');", ''],
  'a parameter': ['flow/calls.ts', 'flow.enter(called, labels);', 'flow.enter(called);'],
  'a result': ['flow/calls.ts', 'flow.acc = acc | flow.result;', 'flow.acc = acc;'],
  'the call of a procedure': ['flow/compilers.ts', 'flow.ambient = flow.deciding;', 'flow.ambient = 0;'],
  'the control of a handler': ['flow/guarded.ts', 'flow.pc = pc | fault;', 'flow.pc = pc;'],
  'what an error left unset': ['flow/guarded.ts', 'spread(flow, frame, effects, label);', ''],
  'what is emitted': ['flow/statements.ts', 'flow.output |= label | flow.ambient;', ''],
  'a variable of a loop in the form without labels': ['flow/statements.ts', 'labels[FIRST + slot] !== 0', 'false'],
  'an argument of a call in that form': ['flow/calls.ts', 'labels[index] !== 0', 'false'],
  'a tool in it': ['flow/unlabelled.ts', '!this.machine.pure.has(name)', 'false'],
  'an answer among others': ['together.ts', 'if (flow !== null) flow.acc = labels?.[index] ?? 0;', ''],
};
