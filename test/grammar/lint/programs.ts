import fc from 'fast-check';

/** Random programs that stop: loops run over literals and counters, and calls go downwards only. */
const names = ['a', 'b', 'c', 'd'];
const name = fc.constantFrom(...names);
const literal = fc.constantFrom(
  '0',
  '1',
  '2.5',
  '17',
  '"x"',
  '"añ😀\\n"',
  '"12"',
  'true',
  'false',
  'nil',
  '[]',
  '[1, "z", [2]]',
  '{"k": 1, "m": {"n": "v"}}',
);

function expressions(depth: number, callable: readonly string[]): fc.Arbitrary<string> {
  const leaf = fc.oneof(literal, name, name);
  if (depth === 0) return leaf;
  const inner = expressions(depth - 1, callable);
  const operator = fc.constantFrom('+', '-', '*', '/', '%', '==', '!=', '<', '>=', 'and', 'or', '&', '**');
  const builtin = fc.constantFrom('len', 'is_nil', 'is_number', 'typeof', 'char', 'ord', 'sin', 'log');
  return fc.oneof(
    leaf,
    fc.tuple(inner, operator, inner).map(([a, op, b]) => `(${a}) ${op} (${b})`),
    fc.tuple(fc.constantFrom('-', 'not ', 'some ', 'typeof '), inner).map(([op, a]) => `${op}(${a})`),
    fc.tuple(builtin, inner).map(([f, a]) => `${f}(${a})`),
    fc.array(inner, { maxLength: 3 }).map((items) => `[${items.join(', ')}]`),
    fc.tuple(inner, inner).map(([key, value]) => `{${key}: ${value}, "k": 1}`),
    fc.tuple(name, inner).map(([base, key]) => `${base}[${key}]`),
    name.map((base) => `${base}.k`),
    inner.map((part) => (part.includes('"') ? part : `\`\`\`t {{ ${part} }} \`\`\``)),
    ...(callable.length === 0 ? [] : [fc.tuple(fc.constantFrom(...callable), inner).map(([f, a]) => `${f}(${a})`)]),
  );
}

function statements(
  depth: number,
  callable: readonly string[],
  inLoop: boolean,
  serial: { next: number },
): fc.Arbitrary<string[]> {
  const expr = expressions(2, callable);
  const simple = fc.oneof(
    fc.tuple(name, expr).map(([n, e]) => [`set ${n} = ${e}`]),
    fc.tuple(name, expr, expr).map(([n, k, e]) => [`set ${n}[${k}] = ${e}`]),
    fc.tuple(name, expr).map(([n, e]) => [`set ${n}.k = ${e}`]),
    fc.tuple(expr, expr).map(([x, y]) => [`set a, b = [${x}, ${y}]`]),
    expr.map((e) => [`emit ${e}`]),
    expr.map((e) => [`whisper self, ${e}`]),
    expr.map((e) => [`must ${e}`]),
    fc.constant(['fail "no"']),
    fc.constant(['return']),
    ...(inLoop ? [fc.constant(['break']), fc.constant(['continue'])] : []),
  );
  if (depth === 0) return fc.array(simple, { minLength: 1, maxLength: 3 }).map((all) => all.flat());
  const body = (loop: boolean) => statements(depth - 1, callable, loop, serial);
  const handled = fc
    .tuple(body(inLoop), fc.boolean(), statements(0, callable, inLoop, serial))
    .map(([before, clear, after]) => [
      'on error do',
      ...after.filter((line) => line !== 'return'),
      ...(clear ? ['clear_error'] : ['set d = 1']),
      'endon',
      ...before.filter((line) => !line.startsWith('on error')),
    ]);
  const block = fc.oneof(
    simple,
    fc.tuple(expr, body(inLoop), body(inLoop)).map(([e, then, otherwise]) => [`if ${e}`, ...then, 'else', ...otherwise, 'endif']),
    fc.tuple(expr, handled).map(([e, then]) => [`if ${e}`, ...then, 'endif']),
    fc.tuple(name, literal, body(true)).map(([n, over, inside]) => [`for each ${n} in ${over}`, ...inside, 'endfor']),
    fc.tuple(name, name, expr, body(true)).map(([k, v, over, inside]) => [`for each ${k}, ${v} in ${over}`, ...inside, 'endfor']),
    fc.tuple(fc.integer({ min: 0, max: 4 }), body(true)).map(([passes, inside]) => {
      const counter = `i${serial.next++}`;
      return [`set ${counter} = 0`, `while ${counter} < ${passes}`, `set ${counter} = ${counter} + 1`, ...inside, 'endwhile'];
    }),
  );
  return fc.array(block, { minLength: 1, maxLength: 4 }).map((all) => all.flat());
}

/** Source of two procedures and a command block. A source in which a block has two handlers does not parse. */
export const programs: fc.Arbitrary<{ readonly library: string; readonly commands: string }> = fc
  .tuple(
    statements(1, [], false, { next: 0 }),
    statements(1, ['g'], false, { next: 100 }),
    statements(2, ['f', 'g'], false, { next: 200 }),
  )
  .map(([g, f, main]) => ({
    library: `func g(needs a) means\n${g.join('\n')}\nendfunc\nfunc f(needs b optional c) means\n${f.join('\n')}\nendfunc\n`,
    commands: `command\n${main.join('\n')}\nendcommand\n`,
  }));
