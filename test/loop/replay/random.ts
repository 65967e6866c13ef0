import type { Runtime } from '../../../src/runtime/index.ts';
import type { LimitOptions } from '../../../src/sandbox/limits.ts';
import { defineTool, ToolError } from '../../../src/tools/index.ts';

/** A source of random numbers that a seed repeats: mulberry32. */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** What random programs are made with. */
export interface Dice {
  chance(of: number): boolean;
  whole(below: number): number;
  pick<T>(items: readonly [T, ...T[]]): T;
}

export function diceOf(random: () => number): Dice {
  const whole = (below: number): number => Math.floor(random() * below);
  return {
    whole,
    chance: (of) => random() < of,
    pick: (items) => items[whole(items.length)] ?? items[0],
  };
}

/** Tools that nobody could repeat: they count, draw lots, tell the time, read and write variables, fail, and are slow. */
export function wildTools() {
  let count = 0;
  return [
    defineTool({ name: 'tool.wild.Count', run: () => ++count }),
    defineTool({ name: 'tool.wild.Random', run: () => Math.random() }),
    defineTool({ name: 'tool.wild.Clock', run: () => ({ now: performance.now(), at: new Date().toISOString() }) }),
    defineTool({
      name: 'tool.wild.Text',
      args: [{ name: 'size', type: 'int' }],
      run: ({ size }) => String.fromCodePoint(...Array.from({ length: size }, () => 0x20 + Math.floor(Math.random() * 0x2fff))),
    }),
    defineTool({
      name: 'tool.wild.Fails',
      run: () => {
        throw new ToolError(
          Math.random() < 0.5 ? 9 : 1234,
          `no luck ${Math.random()}`,
          Math.random() < 0.5 ? 'try again' : undefined,
        );
      },
    }),
    defineTool({ name: 'tool.wild.Broken', run: () => Promise.reject(new Error(`broken at ${performance.now()}`)) }),
    defineTool({
      name: 'tool.wild.Vars',
      run: async (_, runtime) => {
        const seen = await runtime.getVar('x');
        await runtime.setVar('x', Math.random());
        await runtime.setVar('made', [Math.random(), 'by the tool']);
        return seen ?? null;
      },
    }),
    defineTool({
      name: 'tool.wild.Echo',
      args: [{ name: 'value', type: 'any', required: false }],
      run: ({ value }) => ({ value, $key: [1.5, -0, Number.NaN, new Uint8Array([1, 2, Math.floor(Math.random() * 256)])] }),
    }),
    defineTool({ name: 'tool.wild.Nested', run: (_, runtime) => runtime.callTool('tool.wild.Count', []) }),
    defineTool({ name: 'tool.wild.Slow', run: () => new Promise((done) => setTimeout(done, Math.random() * 3, 'slow')) }),
    defineTool({ name: 'tool.wild.Never', run: () => new Promise(() => {}) }),
    defineTool({ name: 'tool.wild.Large', run: () => 'x'.repeat(3_000_000) }),
    defineTool({ name: 'tool.wild.Denied', run: () => 'must not run' }),
  ];
}

/** What is loaded on the root, for programs to call. */
export const LIBRARY = `
func fold(needs items optional start returns total) means
  set total = 0
  if start != nil
    set total = start
  endif
  for each item in items
    set total = total + item
  endfor
  return total
endfunc
func deep(needs n returns r) means
  if n < 1
    return tool.wild.Count()
  endif
  return deep(n - 1) + 1
endfunc
func risky(needs what returns r) means
  set r = 'caught'
  on error do
    clear_error
  endon
  if what == 0
    set r = tool.wild.Fails()
  else
    set r = 1 / what
  endif
  return r
endfunc
`;

export async function openWild(make: (options: object) => Promise<Runtime>): Promise<Runtime> {
  return make({
    tools: wildTools(),
    policy: { allow: ['tool.wild.*'], deny: ['tool.wild.denied'], toolMaxCalls: { 'tool.wild.slow': 1_000_000 } },
    concurrency: 2,
  });
}

/** ACTIONS of a random turn: mostly a program that means well, sometimes one that breaks or breaches something. */
export function programOf(dice: Dice, last: boolean): string {
  if (dice.chance(0.02))
    return dice.pick(['', 'command', 'command\n emit 1 +\nendcommand', 'func f() means\nendfunc', 'nonsense']);
  const lines: string[] = ['set x = 1', "set items = [1, 2.5, 'three', nil]", 'set map = {"a": 1}'];
  const count = 1 + dice.whole(8);
  for (let i = 0; i < count; i += 1) lines.push(...statement(dice, 0));
  if (dice.chance(0.12)) lines.push(...ending(dice));
  const action = dice.chance(0.05) ? 'abort' : last || dice.chance(0.15) ? 'done' : 'continue';
  if (!dice.chance(0.04))
    lines.push(`emit tool.aeiou.magic("LOOP", {"action": "${action}", "telemetry": {"n": ${dice.whole(9)}}})`);
  if (dice.chance(0.05)) lines.push('emit "after the token"');
  return `command\n${lines.map((line) => `  ${line}\n`).join('')}endcommand`;
}

function statement(dice: Dice, depth: number): string[] {
  const inner = (): string[] => (depth > 1 ? ['set x = x + 1'] : statement(dice, depth + 1)).map((line) => `  ${line}`);
  switch (dice.whole(20)) {
    case 0:
      return ['emit tool.wild.Count()'];
    case 1:
      return ['set r = tool.wild.Random()', 'emit "r " + r'];
    case 2:
      return ['emit tool.wild.Clock()'];
    case 3:
      return [`whisper self, tool.wild.Text(${dice.whole(200)})`];
    case 4:
      return ['emit risky(0)', `emit risky(${dice.whole(3)})`];
    case 5:
      return ['emit tool.wild.Vars()', 'emit x'];
    case 6:
      return ['set map["e"] = tool.wild.Echo(items)', 'emit map'];
    case 7:
      return ['emit tool.wild.Nested()'];
    case 8:
      return [`emit deep(${dice.whole(12)})`];
    case 9:
      return [`for each item in [${'1,'.repeat(dice.whole(6))}2]`, ...inner(), 'endfor'];
    case 10:
      return ['set n = 0', `while n < ${dice.whole(400)}`, '  set n = n + 1', ...inner(), 'endwhile', 'emit n'];
    case 11:
      return ['if x > 1', ...inner(), 'else', ...inner(), 'endif'];
    case 12:
      return ['emit fold([1, 2, 3], x)'];
    case 13:
      return ['whisper "someone", {"x": x, "u": userdata}'];
    case 14:
      return ['emit shared', "emit userdata['subject']"];
    case 15:
      return [
        `set text = "${'ab'.repeat(dice.whole(20))}"`,
        'set n = 0',
        'while n < 8',
        '  set text = text + text',
        '  set n = n + 1',
        'endwhile',
        'emit len(text)',
      ];
    case 16:
      return ['emit tool.wild.Slow()'];
    case 17:
      return ['set items = items + [x, x * 2, "more"]', 'emit items'];
    case 18:
      return ['emit 10 / 4', 'emit 7 % 3', 'emit "a" == "a"', 'emit [1,2] == [1,2]'];
    default:
      return ["emit typeof(items) + ' ' + len(items)"];
  }
}

/** What ends a turn before its end. */
function ending(dice: Dice): string[] {
  return dice.pick<string[]>([
    ['fail "on purpose"'],
    ['emit 1 / 0'],
    ['must 1 == 2'],
    ['emit tool.wild.Broken()'],
    ['emit tool.wild.Fails()'],
    ['emit tool.wild.Missing()'],
    ['emit tool.wild.Denied()'],
    ['emit tool.wild.Large()'],
    ['emit tool.wild.Never()'],
    ['set big = "0123456789abcdef"', 'while true', '  set big = big + big', 'endwhile'],
    ['set n = 0', 'while true', '  set n = n + 1', 'endwhile'],
    ['while true', '  emit "0123456789012345678901234567890123456789"', 'endwhile'],
    ['while true', '  whisper self, "0123456789012345678901234567890123456789"', 'endwhile'],
    [
      'set line = "0123456789"',
      'set n = 0',
      'while n < 12',
      '  set line = line + line',
      '  set n = n + 1',
      'endwhile',
      'emit line',
    ],
    ['while true', '  set r = tool.wild.Count()', 'endwhile'],
    ['emit deep(5000)'],
    ['emit tool.aeiou.magic("LOOP", {"action": "sing"})'],
  ]);
}

/** Limits of a random session: tight enough that programs reach them, and quickly. */
export function limitsOf(dice: Dice): LimitOptions {
  return {
    fuel: dice.pick([3_000, 50_000, 2_000_000]),
    memoryBytes: dice.pick([256 * 1024, 4 * 1024 * 1024]),
    toolCalls: dice.pick([3, 20, 200]),
    toolMs: 40,
    wallMs: dice.pick([150, 5_000]),
    ...(dice.chance(0.2) ? { cpuMs: 5 } : {}),
    ...(dice.chance(0.2) ? { outputBytes: 300, scratchBytes: 200 } : {}),
    ...(dice.chance(0.1) ? { journalBytes: 500 } : {}),
  };
}
