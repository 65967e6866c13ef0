// @module-tag slow
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Sandbox } from '../../src/sandbox/index.ts';
import { readWorkerFrame } from '../../src/sandbox/workerframes.ts';
import { RuntimeClosedError, WireError } from '../../src/wire/errors.ts';
import { parseFrame } from '../../src/wire/frames.ts';

const MB = 1024 * 1024;
const range = { line: 1, column: 1, endLine: 1, endColumn: 2 };
const finding = {
  code: 'LINT_NEVER_SET',
  severity: 'warning',
  file: 'a.ns',
  ...range,
  message: 'm',
  fix: { message: 'f', edits: [{ ...range, text: 'x' }] },
};
const cost = { kind: 'procedure', name: 'f', file: 'a.ns', line: 1, column: 1, least: 1, most: 2, because: null };
const because = { message: 'm', file: 'a.ns', line: 1, column: 1 };
const file = {
  ...{ name: 'a.ns', kind: 'library', commandBlocks: 0, procedures: ['f'], signatures: ['f()'] },
  ...{ metadata: [['name', 'text']], events: 0, tools: [] },
};
const checked = { t: 'checked', id: 1, diagnostics: [], files: [], findings: [finding], estimates: [cost] };
const read = (frame: unknown): unknown => readWorkerFrame(JSON.parse(JSON.stringify(frame)));

describe('values in what a worker says', () => {
  const said = (json: string): unknown =>
    readWorkerFrame(parseFrame(`{"t":"out","emits":["x"],"values":[${json}],"whispers":[]}`));

  it('P9: a result shows whole-number keys by their own names, and of one that is there twice the last', () => {
    const frame = said('{"$10":{"$$a":{"$num":"NaN"}},"$2":[{"$7":1,"$3":2}]}');
    expect(frame).toMatchObject({ values: [{ 2: [{ 3: 2, 7: 1 }], 10: { $$a: { $num: 'NaN' } } }] });
    expect(said('{"10":1,"$10":2}')).toMatchObject({ values: [{ 10: 2 }] });
    expect(said('{"__proto__":{"polluted":1},"$1":2}')).toMatchObject({ values: [{ 1: 2 }] });
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  });

  it('as deep as a frame may nest: no more than that, and no stack overflows', () => {
    const nested = (depth: number): string => `${'{"$7":0,"$3":'.repeat(depth)}1${'}'.repeat(depth)}`;
    expect(said(nested(1022))).toMatchObject({ t: 'out' });
    expect(() => said(nested(1023))).toThrow(WireError);
  });
});

describe('what a worker says about a run', () => {
  it('has one value for each text that was emitted', () => {
    const out = { t: 'out', emits: ['x', 'y'], values: [1], whispers: [] };
    expect(() => read(out)).toThrow("the worker's values is not 2 values");
    expect(read({ ...out, values: [1, 2] })).toMatchObject({ values: [1, 2] });
  });

  it.each([
    [true, { kind: 'runtime', code: 'ERR_SCRIPT', name: 'E', message: 'm' }, 'null in a success'],
    [false, null, 'an error in a failure'],
  ])('with ok %s has %j for an error: %s', (ok, error, expected) => {
    const used = { fuel: 1, peakMemoryBytes: 1, toolCalls: 0, outputBytes: 0 };
    const at = { nsCode: null, source: null, line: null, column: null, stack: [] };
    const result = { ok, phase: 'exec', result: null, eventErrors: [], error: error && { ...error, ...at }, ...used };
    const usage = { ...used, cpuMs: 1, wallMs: 1 };
    expect(() => read({ t: 'result', id: 1, result, usage, errors: [], last: false })).toThrow(expected);
  });
});

describe('what a worker says about sources is read field by field', () => {
  it('what is of the agreed form comes through, and nothing else with it', () => {
    expect(read(checked)).toEqual(checked);
    expect(read({ ...checked, files: [file] })).toEqual({ ...checked, files: [file] });
    const more = { ...checked, findings: [{ ...finding, evil: 1, fix: { ...finding.fix, evil: 1 } }], evil: 1 };
    expect(read(more)).toEqual(checked);
    const unbounded = { ...checked, estimates: [{ ...cost, most: null, because }] };
    expect(read(unbounded)).toEqual(unbounded);
    const formatted = { t: 'formatted', id: 1, text: 'x', diagnostics: [] };
    expect(read({ ...formatted, evil: 1 })).toEqual(formatted);
    expect(read({ ...formatted, text: null })).toEqual({ ...formatted, text: null });
  });

  it.each<[string, object]>([
    ['findings[0].code', { findings: [{ ...finding, code: 'unused' }] }],
    ['findings[0].code', { findings: [{ ...finding, code: 'LINT_X\u001b[31m' }] }],
    ['findings[0].severity', { findings: [{ ...finding, severity: 'fatal' }] }],
    ['findings[0].line', { findings: [{ ...finding, line: -1 }] }],
    ['findings[0].endColumn', { findings: [{ ...finding, endColumn: '2' }] }],
    ['findings[0].message', { findings: [{ ...finding, message: 1 }] }],
    ['findings[0].fix', { findings: [{ ...finding, fix: null }] }],
    ['findings[0].fix.edits', { findings: [{ ...finding, fix: { message: 'f', edits: {} } }] }],
    ['findings[0].fix.edits[0].text', { findings: [{ ...finding, fix: { message: 'f', edits: [range] } }] }],
    ['estimates[0].kind', { estimates: [{ ...cost, kind: 'loop' }] }],
    ['estimates[0].least', { estimates: [{ ...cost, least: 1.5 }] }],
    ['estimates[0].most', { estimates: [{ ...cost, most: -1 }] }],
    ['estimates[0].because.line', { estimates: [{ ...cost, because: { ...because, line: null } }] }],
    ['estimates', { estimates: undefined }],
    ['files', { files: 'none' }],
    ['files[0].metadata[0]', { files: [{ ...file, metadata: [['name']] }] }],
    ['files[0].metadata[0]', { files: [{ ...file, metadata: [['name', 'text', 'more']] }] }],
  ])('a wrong %s is a breach of the protocol', (field, change) => {
    expect(() => read({ ...checked, ...change })).toThrow(`the worker's ${field} is not`);
  });

  it('a formatted text is a text or null', () => {
    expect(() => read({ t: 'formatted', id: 1, text: 1, diagnostics: [] })).toThrow("the worker's text is not");
  });
});

describe('checking and formatting happen in a worker', () => {
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await Sandbox.create({ concurrency: 1 });
  });
  afterAll(() => sandbox.close());

  it('findings and costs come for files that parse, and nothing but errors for others', async () => {
    const lib = { name: 'lib.ns', text: 'func f(needs a) means\n  return a + limit\nendfunc\n' };
    const use = { name: 'use.ns', text: 'command\n  emit f(1, 2)\nendcommand\n' };
    const report = await sandbox.check([lib, use], MB, { globals: ['limit'] });
    expect(report.diagnostics).toEqual([]);
    expect(report.files.map(({ name, kind }) => [name, kind])).toEqual([
      ['lib.ns', 'library'],
      ['use.ns', 'commands'],
    ]);
    expect(report.findings.map(({ file, code, line, column }) => [file, code, line, column])).toEqual([
      ['use.ns', 'LINT_ARGUMENT_COUNT', 2, 8],
    ]);
    expect(report.estimates.map(({ kind, name, most }) => [kind, name, most === null])).toEqual([
      ['command', '', false],
      ['procedure', 'f', true],
    ]);
    const broken = await sandbox.check([lib, { name: 'b.ns', text: 'command\n' }], MB, {});
    expect(broken).toMatchObject({ findings: [], estimates: [], files: [{ name: 'lib.ns' }] });
    expect(broken.diagnostics.map(({ file }) => file)).toEqual(['b.ns']);
  });

  it('finding 8: a report with more values than a frame may have is replaced by one error, and its worker lives on', async () => {
    const many = (name: string) => ({
      name,
      text: Array.from({ length: 20_000 }, (_, index) => `func ${name}${index}() means\nreturn 1\nendfunc\n`).join(''),
    });
    const report = await sandbox.check([many('a'), many('b')], MB, {});
    expect(report).toMatchObject({ files: [], findings: [], estimates: [], diagnostics: [{ file: 'a', line: 1 }] });
    expect(report.diagnostics[0]?.message).toMatch(/larger than 16777216 bytes or 1000000 values; ask about fewer/);
    expect(sandbox.boundaryBreaches).toBe(0);
  });

  it('a source is formatted, or what is wrong with it is said', async () => {
    expect(await sandbox.format({ name: 'a.ns', text: 'command\nemit 1+2\nendcommand' }, MB)).toEqual({
      text: 'command\n  emit 1 + 2\nendcommand\n',
      diagnostics: [],
    });
    const { text, diagnostics } = await sandbox.format({ name: 'a.ns', text: 'command\n' }, MB);
    expect([text, diagnostics.map(({ file, line }) => [file, line])]).toEqual([null, [['a.ns', 1]]]);
  });

  it('the worker goes on afterwards; a closed sandbox refuses', async () => {
    expect((await sandbox.parse([{ name: 'a.ns', text: '' }], MB)).files).toHaveLength(1);
    const closed = await Sandbox.create({ concurrency: 1 });
    await closed.close();
    await expect(closed.check([], MB, {})).rejects.toThrow(RuntimeClosedError);
    await expect(closed.format({ name: 'a', text: '' }, MB)).rejects.toThrow(RuntimeClosedError);
  });
});
