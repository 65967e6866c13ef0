import { describe, expect, it } from 'vitest';
import type { Heat } from '../../src/wire/heat.ts';
import { grouped } from '../../src/wire/text/grouped.ts';
import { eventsOf, globalsOf, isMain } from '../conformance/both.ts';
import { sections } from '../conformance/suite.ts';
import { type Driven, drive } from './driver.ts';

/** A run without its profile: all that a program and its host can see. */
function seen({ profile: _, ...rest }: Driven): Omit<Driven, 'profile'> {
  return rest;
}

function fuelOf(parts: readonly { readonly fuel: number }[]): number {
  return parts.reduce((sum, { fuel }) => sum + fuel, 0);
}

function heatOf({ profile }: Driven): Heat {
  if (profile === null) throw new Error('the run was not measured');
  return profile.heat;
}

describe('a measured run', () => {
  it.each(sections().map((section) => [section.name, section] as const))(
    'gives what it gives without measuring, and its fuel is that of its lines: %s',
    (_name, section) => {
      for (const chunk of section.chunks) {
        const options = () => ({
          call: isMain(chunk) ? 'main' : null,
          globals: globalsOf(chunk),
          stdin: chunk.stdin,
          limits: chunk.limits,
          events: eventsOf(chunk),
          tools: section.tools().here,
          pure: true as const,
        });
        const plain = drive(chunk.source, options());
        if (plain.phase === 'parse') continue;
        const measured = drive(chunk.source, { ...options(), probe: { trace: true, at: { step: 3 } } });
        expect(seen(measured)).toEqual(seen(plain));
        const heat = heatOf(measured);
        expect(heat.fuel).toBe(plain.fuel);
        expect(fuelOf(heat.lines) + heat.outside.fuel).toBe(plain.fuel);
        expect(fuelOf(heat.flame.nodes)).toBe(plain.fuel);
        if (Object.keys(chunk.globals).length === 0 && plain.phase !== 'load') expect(heat.outside.fuel).toBe(0);
      }
    },
  );

  it('counts each line by the published prices, and what it called in its total', () => {
    const heat = heatOf(
      drive(
        [
          'func twice(needs n) means\n  set m = n * 2\n  return m\nendfunc\n',
          'command\n  set i = 0\n  while i < 3\n    set i = i + 1\n    emit twice(i)\n  endwhile\nendcommand\n',
        ],
        { probe: {} },
      ),
    );
    const rows = heat.lines.map(({ source, line, visits, fuel, total }) => [source, line, visits, fuel, total.fuel]);
    // A statement, an operation and a pass cost 1 each, a call 5, an emit 16 more; the loop is left after a fourth test.
    expect(rows).toEqual([
      ['test.ns', 1, 3, 0, 9],
      ['test.ns', 2, 3, 6, 6],
      ['test.ns', 3, 3, 3, 3],
      ['test2.ns', 1, 1, 0, 94],
      ['test2.ns', 2, 1, 1, 1],
      ['test2.ns', 3, 1, 9, 93],
      ['test2.ns', 4, 3, 6, 6],
      ['test2.ns', 5, 3, 69, 78],
    ]);
    const procedures = heat.procedures.map(({ kind, name, line, calls, fuel, total }) => [
      kind,
      name,
      line,
      calls,
      fuel,
      total.fuel,
    ]);
    expect(procedures).toEqual([
      ['procedure', 'twice', 1, 3, 9, 9],
      ['commands', 'Command Block', 1, 1, 85, 94],
    ]);
    expect(heat).toMatchObject({ fuel: 94, steps: 14, outside: { fuel: 0 } });
  });

  it('counts recursion once in the total of a procedure and of its lines', () => {
    const fib = 'func fib(needs n) means\n  if n < 2\n    return n\n  endif\n  return fib(n - 1) + fib(n - 2)\nendfunc\n';
    const run = drive(fib, { call: 'fib', args: [9], probe: {} });
    const heat = heatOf(run);
    expect(heat.procedures).toMatchObject([{ name: 'fib', calls: 109, total: { fuel: run.fuel - 5 } }]);
    for (const { total } of heat.lines) expect(total.fuel).toBeLessThanOrEqual(run.fuel);
  });

  it('keeps the begins and ends of a trace in order and nested, and stops at its limit while heat stays exact', () => {
    const program = 'command\n  for each x in "a" * 5000\n    set y = tool.t.take(x)\n  endfor\nendcommand\n';
    const tools = { 'tool.t.take': () => null };
    for (const [traceEvents, begun] of [
      [20_000, 10_002],
      [100, 100],
      [16, 16],
    ] as const) {
      let now = 0;
      const clock = (measured?: boolean): number => {
        now += 3;
        return measured === true ? now : 0;
      };
      const run = drive(program, { tools, clock, limits: { traceEvents, toolCalls: 5000 }, probe: { trace: true } });
      const { profile } = run;
      expect(profile?.trace?.marks.filter((mark) => mark >= 0)).toHaveLength(begun);
      let open = 0;
      for (const [index, mark] of (profile?.trace?.marks ?? []).entries()) {
        open += mark >= 0 ? 1 : -1;
        expect(open).toBeGreaterThanOrEqual(0);
        expect(profile?.trace?.us[index]).toBeGreaterThanOrEqual(profile?.trace?.us[index - 1] ?? 0);
      }
      const heat = heatOf(run);
      expect(fuelOf(heat.lines)).toBe(run.fuel);
      expect(heat.lines).toMatchObject([{ line: 1 }, { line: 2, visits: 1 }, { line: 3, visits: 5000 }]);
      expect(heat.notices).toEqual(
        begun === 10_002
          ? []
          : [`the trace lacks ${grouped(10_002 - begun)} of 10,002 statements and calls (limit traceEvents: ${traceEvents})`],
      );
    }
  });

  it('folds lines and paths beyond the limit into those around them, and loses no fuel', () => {
    const many = Array.from({ length: 100 }, (_, index) => `  set v${index} = ${index} + 1`);
    const run = drive(`command\n${many.join('\n')}\nendcommand\n`, { limits: { traceEvents: 16 }, probe: { trace: true } });
    const heat = heatOf(run);
    expect(heat.lines).toHaveLength(15);
    expect(fuelOf(heat.lines)).toBe(200);
    expect(fuelOf(heat.flame.nodes)).toBe(200);
    expect(heat.notices).toContain('86 statements and calls count for those around them (limit traceEvents: 16 lines and paths)');
  });

  it('adds up in a breach of every kind, in a halt, and where an error leaves many procedures', () => {
    const deep = 'func f(needs n) means\n  if n == 0\n    fail "bottom"\n  endif\n  call f(n - 1)\nendfunc\n';
    const catching = 'command\n  on error do\n    clear_error\n  endon\n  call f(200)\n  emit "after"\nendcommand\n';
    for (const limits of [{}, { fuel: 500 }, { fuel: 37 }, { callDepth: 50 }, { outputBytes: 3 }, { memoryBytes: 65_536 }]) {
      const plain = drive([deep, catching], { limits });
      const run = drive([deep, catching], { limits, probe: { trace: true } });
      expect(seen(run)).toEqual(seen(plain));
      expect(fuelOf(heatOf(run).lines)).toBe(plain.fuel);
      expect(fuelOf(heatOf(run).flame.nodes)).toBe(plain.fuel);
    }
  });

  it('shows hostile values cut, with a mark', () => {
    const program = [
      'command',
      '  set long = "<b>&!" * 2000000',
      '  set many = []',
      '  set many[900000] = 1',
      '  set deep = []',
      '  for each i in "a" * 3000',
      '    set deep = [{"<k>": deep}]',
      '  endfor',
      '  emit "here"',
      'endcommand',
    ].join('\n');
    const limits = { memoryBytes: 1024 ** 3, fuel: 1e9, valueBytes: 2 ** 50, valueDepth: 1e6 };
    const run = drive(program, { limits, probe: { at: { source: 'test.ns', line: 9, visit: 1 } } });
    expect(run.error).toBeNull();
    const variables = run.profile?.step?.stack[0]?.variables ?? [];
    expect(variables.map(({ name, type, cut, size, text }) => [name, type, cut, size, text.length])).toEqual([
      ['long', 'string', true, 10_000_000, 4000],
      ['many', 'list', true, 900_001, 4000],
      ['deep', 'list', true, 1, expect.any(Number)],
      ['i', 'string', false, 1, 1],
    ]);
    expect(JSON.stringify(run.profile?.step).length).toBeLessThan(50_000);
  });

  it('shows the stack of forks, inner ones first, each at its line, and counts what is left out', () => {
    const deep = 'func f(needs n) means\n  if n == 0\n    return 0\n  endif\n  return f(n - 1)\nendfunc\n';
    const run = drive([deep, 'command\n  set x = 1\n  emit f(150)\nendcommand\n'], {
      probe: { at: { source: 'test.ns', line: 3, visit: 1 } },
    });
    const { stack, more } = run.profile?.step ?? { stack: [], more: 0 };
    expect(stack).toHaveLength(100);
    expect(more).toBe(52);
    expect(stack[0]).toMatchObject({ name: 'f', source: 'test.ns', line: 3, variables: [{ name: 'n', text: '0' }] });
    expect(stack[1]).toMatchObject({ name: 'f', line: 5, variables: [{ name: 'n', text: '1' }] });
  });
});
