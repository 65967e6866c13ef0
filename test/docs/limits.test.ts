import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { breachOf, LIMITS, type LimitKey } from '../../src/wire/limits.ts';
import { ROOT } from '../architecture/source.ts';
import { type DriveOptions, drive } from '../guest/driver.ts';
import { LIMITS_PAGE, limitsPage, REQUEST_SCHEMA, requestSchema } from './limitspage.ts';

it(`${LIMITS_PAGE} is what scripts/limits.mjs writes`, () => {
  expect(readFileSync(join(ROOT, LIMITS_PAGE), 'utf8')).toBe(limitsPage());
});

it(`${REQUEST_SCHEMA} has the limits of the table`, () => {
  const text = readFileSync(join(ROOT, REQUEST_SCHEMA), 'utf8');
  expect(text).toBe(requestSchema(text));
  expect(Object.keys(JSON.parse(text).properties.limits.properties)).toEqual(LIMITS.map(({ key }) => key));
});

const LOOP = 'command\nwhile true\nset n = 1\nendwhile\nendcommand\n';
const RECURSION = 'func f() means\nreturn f()\nendfunc\nfunc main() means\ncall f()\nendfunc\n';
const echo = { tools: { 'tool.t.echo': () => 'text' } };

const TICK = { name: 'x', source: '', payload: null };

interface Breaking {
  readonly key: LimitKey;
  readonly allowed: number;
  readonly source: string;
  readonly options?: DriveOptions;
}

/** One program per limit that the interpreter counts, with a limit so low that it breaks it. */
const BREACHES: readonly Breaking[] = [
  { key: 'fuel', allowed: 1000, source: LOOP },
  { key: 'cpuMs', allowed: 1000, source: LOOP, options: { clock: () => 1 } },
  { key: 'wallMs', allowed: 1000, source: LOOP, options: { clock: () => 2 } },
  { key: 'memoryBytes', allowed: 65536, source: 'command\nset t = "ab" * 50000\nendcommand\n' },
  { key: 'outputBytes', allowed: 10, source: 'command\nemit "0123456789"\nendcommand\n' },
  { key: 'lineBytes', allowed: 9, source: 'command\nemit "0123456789"\nendcommand\n' },
  { key: 'scratchBytes', allowed: 10, source: 'command\nwhisper "a", "0123456789"\nendcommand\n' },
  { key: 'toolCalls', allowed: 1, source: 'command\ncall tool.t.echo()\ncall tool.t.echo()\nendcommand\n', options: echo },
  { key: 'toolBytes', allowed: 100, source: 'command\ncall tool.t.echo("ab" * 100)\nendcommand\n', options: echo },
  { key: 'callDepth', allowed: 20, source: RECURSION, options: { call: 'main' } },
  { key: 'evalDepth', allowed: 100, source: RECURSION, options: { call: 'main' } },
  { key: 'eventCount', allowed: 1, source: 'on event "x" do\nemit 1\nendon\n', options: { events: [TICK, TICK] } },
  { key: 'deliveries', allowed: 1, source: 'on event "x" do\nemit 1\nendon\n'.repeat(2), options: { events: [TICK] } },
  { key: 'emits', allowed: 1, source: 'command\nemit 1\nemit 2\nendcommand\n' },
  {
    key: 'toolCallsPerTool',
    allowed: 1,
    source: 'command\ncall tool.t.echo()\ncall tool.T.Echo()\nendcommand\n',
    options: echo,
  },
  {
    key: 'togetherCalls',
    allowed: 1,
    source: 'command\ntogether\ncall tool.t.echo()\ncall tool.t.echo()\nendtogether\nendcommand\n',
    options: echo,
  },
  { key: 'valueBytes', allowed: 1024, source: 'command\nset l = [["ab" * 200], ["ab" * 200]]\nendcommand\n' },
  { key: 'valueDepth', allowed: 2, source: 'command\nset l = [[[]]]\nendcommand\n' },
  { key: 'textLength', allowed: 10, source: 'command\nset t = "ab" * 6\nendcommand\n' },
  { key: 'listLength', allowed: 2, source: 'command\nset l = [1, 2, 3]\nendcommand\n' },
  { key: 'mapLength', allowed: 1, source: 'command\nset m = {"a": 1, "b": 2}\nendcommand\n' },
];

it('every limit that the interpreter counts is tried below', () => {
  const counted = LIMITS.filter(({ ring, key }) => ring === 1 || key === 'wallMs').map(({ key }) => key);
  expect(BREACHES.map(({ key }) => key).sort()).toEqual(counted.sort());
});

describe('a breach is what the page says', () => {
  it.each(BREACHES)('of $key', ({ key, allowed, source, options }) => {
    const { error } = drive(source, { ...options, limits: { [key]: allowed } });
    expect(promised(key).split(', in a turn ')[0]).toBe(error?.code);
    if (error?.limit !== undefined) expect([error.limit, error.allowed]).toEqual([key, allowed]);
  });

  it.each(BREACHES.filter(({ source }) => source.startsWith('command')))(
    'of $key in a turn',
    ({ key, allowed, source, options }) => {
      const { error } = drive(source, { ...options, limits: { [key]: allowed }, turn: true });
      expect(promised(key).split(', in a turn ').at(-1)).toBe(error?.code);
    },
  );
});

function promised(key: LimitKey): string {
  const limit = LIMITS.find((each) => each.key === key);
  return limit === undefined ? '' : breachOf(limit);
}
