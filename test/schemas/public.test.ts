import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { answerRequest, createRuntime, defineTool, type Runtime, ToolError } from '../../src/entries/index.ts';
import { requestFromJson } from '../../src/runtime/line.ts';
import type { PublicResult } from '../../src/wire/result.ts';

const schemaText = (name: string): string =>
  readFileSync(new URL(`../../docs/schemas/${name}.schema.json`, import.meta.url), 'utf8');
const ajv = new Ajv2020({ strict: true, strictRequired: false, strictTypes: false, allErrors: true });
for (const name of ['value', 'error', 'request', 'result']) ajv.addSchema(JSON.parse(schemaText(name)));

const problems = (schema: string, value: unknown): unknown => {
  const validate = ajv.getSchema(`${schema}.schema.json`);
  if (validate === undefined) throw new Error(`no schema ${schema}`);
  return validate(value) ? [] : validate.errors;
};

const program = (...lines: readonly string[]): string =>
  ['command', ...lines.map((line) => `  ${line}`), 'endcommand', ''].join('\n');

const LIB =
  'func double(needs n returns r) means\n  return n * 2\nendfunc\non event "tick" as e do\n  emit e["payload"][0]["Payload"]["n"]\n  fail "no"\nendon\n';

/** One request for every kind of result; the golden files hold what comes back. */
const REQUESTS: readonly (readonly [name: string, request: object])[] = [
  ['ok', { id: 1, src: program("emit 'text'", "emit [1, {'$k': nil}]", "whisper self, 'note'") }],
  ['call', { id: 'c', lib: LIB, src: '', call: 'double', args: [21] }],
  [
    'values',
    {
      src: program('emit given', 'emit -0.0'),
      globals: { given: [{ $bytes: 'AQI=' }, { $time: '2025-01-01T00:00:00Z' }, { $num: 'NaN' }] },
    },
  ],
  ['syntax', { id: 2, src: program('emit 1 +') }],
  ['runtime', { id: 3, src: program('emit 1', 'emit 1 / 0') }],
  ['policy', { id: 4, src: program('emit tool.t.Denied()') }],
  ['tool', { id: 5, src: program("emit tool.t.Get('/x')", "emit tool.t.Get('/y')") }],
  ['quota', { id: 6, src: program('emit tool.t.Get("/x")', 'emit tool.t.Get("/x")'), limits: { toolCalls: 1 } }],
  ['timeout', { id: 7, src: program('emit tool.t.Never()'), limits: { wallMs: 50 } }],
  ['events', { id: 8, lib: LIB, src: '', events: [{ name: 'tick', source: 'clock', payload: { n: 5 } }] }],
  ['usage', { id: 9, src: '', limit: {} }],
  ['limit', { id: 10, src: '', limits: { fuel: 0 } }],
];

let runtime: Runtime;
beforeAll(async () => {
  runtime = await createRuntime({
    tools: [
      defineTool({
        name: 'tool.t.Get',
        args: [{ name: 'path', type: 'string' }],
        run: ({ path }) => {
          if (path === '/x') return { path };
          throw new ToolError(9, `nothing at ${path}`);
        },
      }),
      defineTool({ name: 'tool.t.Denied', run: () => 1 }),
      defineTool({ name: 'tool.t.Never', run: () => new Promise<never>(() => {}) }),
    ],
    policy: { allow: ['tool.t.*'], deny: ['*.denied'] },
    concurrency: 1,
  });
});
afterAll(() => runtime.close());

describe('the public JSON', () => {
  it.each(REQUESTS)('%s: request and result are as the schemas and the golden file say', async (name, request) => {
    const line = JSON.stringify(request);
    if (requestFromJson(line).ok && name !== 'limit') expect(problems('request', request)).toEqual([]);
    else expect(problems('request', request)).not.toEqual([]);
    const result = await answerRequest(runtime, line, { journal: true });
    const json: unknown = JSON.parse(JSON.stringify(result));
    expect(problems('result', json)).toEqual([]);
    await expect(`${JSON.stringify(steady(result), null, 2)}\n`).toMatchFileSnapshot(`golden/result.${name}.json.golden`);
  });

  it.each<[string, string, unknown]>([
    ['result', 'a success with an error', { ok: true, error: { kind: 'runtime' } }],
    ['error', 'a code in another form', { code: 'Oops' }],
    ['error', 'a numeric code without its number', { code: 'NS5', nsCode: null }],
    ['value', 'an unknown tag', { $date: 1 }],
    ['value', 'a tag beside a key', { $num: 'NaN', a: 1 }],
    ['request', 'an unknown key', { src: '', source: '' }],
    ['request', 'arguments without a call', { src: '', args: [] }],
  ])('the schema of a %s refuses %s', (schema, _what, change) => {
    const base = schema === 'error' ? ERROR : {};
    expect(problems(schema, { ...base, ...(change as object) })).not.toEqual([]);
    if (schema === 'error') expect(problems(schema, base)).toEqual([]);
  });
});

const ERROR = {
  kind: 'runtime',
  code: 'NS5',
  nsCode: 5,
  name: 'MustFailed',
  message: 'm',
  source: null,
  line: null,
  column: null,
  stack: [],
};

/** Without what differs from run to run or follows the cost table: times, fuel and memory. */
function steady(result: PublicResult): unknown {
  const { usage, journal = [], ...rest } = result;
  const error = result.error === null ? null : { ...result.error, used: result.error.used && 0 };
  return {
    ...rest,
    // Whether the worker could still tell the place before it had to go is a matter of milliseconds.
    error: error?.kind === 'timeout' ? { ...error, message: '', source: null, line: null, column: null, stack: [] } : error,
    usage: { ...usage, fuel: 0, cpuMs: 0, wallMs: 0, peakMemoryBytes: 0 },
    journal: journal.map((entry) => ({
      ...entry,
      at: { ...entry.at, fork: 'fork' },
      begin: 0,
      ms: 0,
      outcome: 'halted' in entry.outcome ? 'halted' : entry.outcome,
    })),
  };
}
