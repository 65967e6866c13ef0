const around = (before: string, after: string, levels: number): string =>
  `return ${before.repeat(levels)}f(n - 1)${after.repeat(levels)}`;

const guardedFor = (handler: string): string => `for each k, v in {'a': 1}\non error do\n${handler}\nendon\n`;

const SHAPES: Readonly<Record<string, string>> = {
  brackets: around('(1 + ', ')', 90),
  chains: around('(1 + 1 + 1 + 1 + 1 + 1 + ', ')', 90),
  logic: around('(true and ', ')', 90),
  powers: around('(2 ** ', ')', 60),
  unary: around('not ', '', 150),
  lists: around('[', ']', 150),
  longLists: around('[1, 2, 3, 4, ', ']', 150),
  maps: around('{"k": ', '}', 150),
  indices: around('[1][', ']', 150),
  builtins: around('len(', ')', 150),
  evals: around('eval(', ')', 150),
  calls: around('id(', ')', 150),
  manyArguments: around('last_of(1, 2, 3, ', ')', 150),
  tools: around('tool.t.take(1, ', ')', 150),
  templates: around('```{{[', ']}}```', 1),
  ifs: `${'if true\nset a = 1\n'.repeat(90)}return f(n - 1)\n${'endif\n'.repeat(90)}`,
  whiles: `${'while true\n'.repeat(90)}return f(n - 1)\n${'endwhile\n'.repeat(90)}`,
  fors: `${'for each x in [1]\n'.repeat(90)}return f(n - 1)\n${'endfor\n'.repeat(90)}`,
  guarded: `${'if true\non error do\nset q = 1\nendon\nset a = 1\n'.repeat(90)}return f(n - 1)\n${'endif\n'.repeat(90)}`,
  // The largest frames for their depth. The innermost handler clears the error, because each further one would take its time.
  guardedFors: `${guardedFor('set q = 1').repeat(89)}${guardedFor('emit system_error.message\ncall cleared(n)\nclear_error')}return f(n - 1)\n${'endfor\n'.repeat(90)}`,
  // At the bottom a procedure is called that was never compiled, and nests as deeply as a source may.
  late: `on error do\ncall late(n)\nendon\n${around('[1, 2, 3, 4, ', ']', 150)}`,
  handlers: `${'on error do\n'.repeat(60)}call f(n - 1)\n${'endon\nfail 1\n'.repeat(60)}`,
};

const LIBRARY = `func id(needs x) means
  return x
endfunc
func late(needs n) means
  emit ${'[1, 2, 3, 4, '.repeat(190)}n${']'.repeat(190)}
endfunc
func cleared(needs n) means
  on error do
    clear_error
  endon
  emit ${'[1, 2, 3, 4, '.repeat(190)}n${']'.repeat(190)}
endfunc
func last_of(needs a, b, c, d) means
  return d
endfunc
`;

/** Programs whose `f(1000000)` reaches the evaluation depth of 10,000, through every construct that nests, by its name. */
export const DEEP_PROGRAMS: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(SHAPES).map(([name, body]) => [
    name,
    `${LIBRARY}func f(needs n) means\nif n == 0\nreturn 0\nendif\n${body}\nendfunc\n`,
  ]),
);
