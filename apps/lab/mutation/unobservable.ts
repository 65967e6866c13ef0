/** Mutants that no program of the differential run can notice. The rule: a mutant counts when it changes values, errors or fuel. */

/** Files of `src/guest` that decide nothing of the language. */
export const OTHER_FILES = [
  { path: 'src/guest/pure/', reason: 'tools of the standard library; test/pure compares them with references' },
  { path: 'src/guest/puretool.ts', reason: 'how such a tool is found' },
  { path: 'src/guest/kit.ts', reason: 'what such a tool is given' },
  { path: 'src/guest/probe', reason: 'measured runs' },
  { path: 'src/guest/program.ts', reason: 'the variables that a host asks for after a run' },
  { path: 'src/guest/preview.ts', reason: 'texts of messages' },
  { path: 'src/guest/describe.ts', reason: 'texts of messages' },
  { path: 'src/guest/memory.ts', reason: 'bytes of values: the second interpreter has no limits of memory' },
  { path: 'src/guest/measure.ts', reason: 'bytes of values: the second interpreter has no limits of memory' },
] as const;

/** A mutant that is passed over, named by its source line and its change. */
export interface Unobservable {
  readonly file: string;
  readonly line: string;
  readonly change: string;
  readonly reason: string;
}

/** Mutants in the other files that no program can notice. */
export const UNOBSERVABLE: readonly Unobservable[] = [
  {
    file: 'src/guest/blocks.ts',
    line: 'return { run: probed, fuel: 0, at };',
    change: '{ run: probed, fuel: 0, at } → undefined',
    reason: 'measured runs only',
  },
  {
    file: 'src/guest/steps.ts',
    line: 'if (first !== undefined && steps.length === 1) return one(machine, first);',
    change: '!== → ===',
    reason: '`many` does all that `one` does, more slowly',
  },
  {
    file: 'src/guest/statements.ts',
    line: `return machine.fail('Type', \`the options of ask are a map, got \${describe(value)}\`, 'write \\'with {"max_turns": 3}\\'');`,
    change: `machine.fail('Type', \`the options of ask are a map, got \${describe(value)}\`, 'write \\'with {"max_turns": 3}\\'') → undefined`,
    reason: 'no program asks an agent; test/conformance and test/loop do',
  },
  {
    file: 'src/guest/invoke.ts',
    line: 'machine.spareFrames++;',
    change: 'machine.spareFrames++; → ;',
    reason: 'how many frames are kept for the next calls',
  },
  {
    file: 'src/guest/targets.ts',
    line: 'machine.allocate(VALUE_BYTES.item.amount);',
    change: 'machine.allocate(VALUE_BYTES.item.amount); → ;',
    reason: 'counts bytes, and the second interpreter has no limits of memory',
  },
  {
    file: 'src/guest/machine.ts',
    line: 'this.allocate(VALUE_BYTES.unit.amount * added);',
    change: '* → /',
    reason: 'counts bytes, and the second interpreter has no limits of memory',
  },
  {
    file: 'src/guest/statements.ts',
    line: 'const store = stmt.into === undefined ? undefined : compileTarget(context, stmt.into);',
    change: 'stmt.into === undefined → false',
    reason: 'no program asks an agent; test/conformance and test/loop do',
  },
  {
    file: 'src/guest/main.ts',
    line: 'if (tool !== undefined) this.#machine.pure.set(name, tool);',
    change: 'this.#machine.pure.set(name, tool); → ;',
    reason: 'pure tools',
  },
  {
    file: 'src/guest/output.ts',
    line: 'if (this.#units > 0 && ++this.#checks >= FLUSH_CHECKS) this.flush();',
    change: '&& → ||',
    reason: 'when output is sent, not what',
  },
  {
    file: 'src/guest/codec.ts',
    line: `if (typeof value === 'object' && value !== null) meter.allocate(VALUE_BYTES.other.amount + contentBytes(value));`,
    change: '!== → ===',
    reason: 'counts bytes, and the second interpreter has no limits of memory',
  },
  {
    file: 'src/guest/calls.ts',
    line: 'return tool(machine, values);',
    change: 'tool(machine, values) → undefined',
    reason: 'pure tools',
  },
  {
    file: 'src/guest/program.ts',
    line: 'return similar === undefined',
    change: 'similar === undefined → false',
    reason: 'the hint of an error',
  },
  {
    file: 'src/guest/steps.ts',
    line: 'frame.keep = null;',
    change: 'frame.keep = null; → ;',
    reason: 'what a census of the memory finds: a value that no variable holds any more',
  },
  {
    file: 'src/guest/binary.ts',
    line: 'else if (value instanceof List) machine.release(listBytes(value.items.length));',
    change: 'value instanceof List → false',
    reason: 'counts bytes, and the second interpreter has no limits of memory',
  },
  {
    file: 'src/guest/invoke.ts',
    line: 'machine.spareFrames--;',
    change: 'machine.spareFrames--; → ;',
    reason: 'how many frames are kept for the next calls',
  },
  {
    file: 'src/guest/calls.ts',
    line: "return probe === null ? tool : (meter, values) => probe.call('tool', name, () => tool(meter, values));",
    change: 'probe === null → false',
    reason: 'pure tools',
  },
  {
    file: 'src/guest/output.ts',
    line: 'if (this.#units > 0 && ++this.#checks >= FLUSH_CHECKS) this.flush();',
    change: '0 → (0 + 1)',
    reason: 'when output is sent, not what',
  },
  {
    file: 'src/guest/machine.ts',
    line: 'if (live > this.peakBytes) this.peakBytes = live;',
    change: 'live > this.peakBytes → false',
    reason: 'counts bytes, and the second interpreter has no limits of memory',
  },
  {
    file: 'src/guest/hostcalls.ts',
    line: "checkSize(machine, fields, 0, 'what is asked');",
    change: "checkSize(machine, fields, 0, 'what is asked'); → ;",
    reason: 'no program asks an agent; test/conformance and test/loop do',
  },
  {
    file: 'src/guest/work.ts',
    line: 'compilePattern: heavy(STEP_FUEL.pattern.amount, 1),',
    change: '1 → (1 + 1)',
    reason: 'the price of a pure tool',
  },
  {
    file: 'src/guest/events.ts',
    line: 'registered.delete(name);',
    change: 'registered.delete(name); → ;',
    reason: '`of` passes over cleared handlers by their flag; this frees their memory',
  },
  {
    file: 'src/guest/blocks.ts',
    line: 'context.statementDepth = context.depth;',
    change: 'context.statementDepth = context.depth; → ;',
    reason: 'a nested statement then has at least the depth of the one around it, which has passed the same check',
  },
];
