import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { differenceOf } from '../../src/cli/conformance/driver.ts';
import { LanguageRuns } from '../../src/cli/conformance/language.ts';
import { bytesOf, readVectors } from '../../src/cli/conformance/vectors.ts';
import { SLOW } from '../groups.ts';
import { requirements } from '../traceability/ids.ts';
import { folder, linesOf } from './spawn.ts';
import { within } from './terminal.ts';

const FOLDER = new URL('../../conformance/aeiou/', import.meta.url);
const validate = new Ajv2020({ strict: true }).compile(
  JSON.parse(readFileSync(new URL('../../docs/schemas/conformance.schema.json', import.meta.url), 'utf8')),
);
const BIN = fileURLToPath(new URL('../../bin/neuroscript.js', import.meta.url));
const NODE = JSON.stringify(process.execPath);
const OURS = `${NODE} ${JSON.stringify(BIN)} test conformance --serve`;

/** What the generator would write. */
const FILES = z
  .record(z.string(), z.looseObject({ vectors: z.array(z.looseObject({ id: z.string(), requirements: z.array(z.string()) })) }))
  .parse((await import(new URL('generate.mjs', FOLDER).href)).FILES);

/** An implementation that passes requests on to ours and changes the answers. */
function broken(change: string): string {
  const cwd = folder({
    'impl.mjs': `
      import { spawn } from 'node:child_process';
      import { createInterface } from 'node:readline';
      const ours = spawn(process.execPath, [${JSON.stringify(BIN)}, 'test', 'conformance', '--serve'], { stdio: ['pipe', 'pipe', 'inherit'] });
      const answers = createInterface({ input: ours.stdout })[Symbol.asyncIterator]();
      let request;
      for await (const line of createInterface({ input: process.stdin })) {
        request = JSON.parse(line);
        ours.stdin.write(line + '\\n');
        const answer = JSON.parse((await answers.next()).value);
        ${change}
        console.log(JSON.stringify(answer));
      }
      ours.stdin.end();`,
  });
  return `${NODE} ${cwd}/impl.mjs`;
}

describe('test conformance', () => {
  it('our own implementation passes every vector', async () => {
    const ended = await within(['test', 'conformance', '--impl', OURS, '--json']);
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    const report = JSON.parse(ended.stdout);
    expect(validate(report), JSON.stringify(validate.errors)).toBe(true);
    expect(report).toMatchObject({ failed: 0, unsupported: 0, failures: [] });
    expect(report.implementation).toMatch(/^neuroscript-runtime \d/);
    expect(report.passed).toBe(readVectors(FOLDER).length);
  });

  it('an implementation that ignores the ttl and trims bodies fails, with a clear report', SLOW, async () => {
    const impl = broken(`
      if (answer.error === 'ERR_TOKEN_TTL') { delete answer.error; answer.ok = { action: 'done', kid: 'k', jti: 'j' }; }
      if (request.op === 'envelope.parse' && answer.ok?.scratchpad) {
        answer.ok.scratchpad = Buffer.from(Buffer.from(answer.ok.scratchpad, 'base64').toString().trim()).toString('base64');
      }`);
    const ended = await within(['test', 'conformance', '--impl', impl]);
    expect(ended).toMatchObject({ code: 1, stderr: '' });
    const lines = linesOf(ended.stdout);
    const expired = lines.indexOf('tokens.json T6-expired: one second later');
    expect(lines[expired + 1]).toMatch(/^ {2}expected ERR_TOKEN_TTL, got acceptance: /);
    const space = lines.indexOf('envelopes.json M-space: a marker with a space in front is body text');
    expect(lines[space + 1]).toMatch(/^ {2}scratchpad: expected "ID.*", got "/);
    expect(ended.stdout).toMatch(/^tokens\.json +\d+ of 143 passed, 5 failed$/m);
    expect(lines.at(-1)).toMatch(/^\d+ passed, \d+ failed, 0 unsupported$/);
  });

  it('operations that are not there are counted and no failure', SLOW, async () => {
    const impl = broken("if (request.op === 'token.mint') { delete answer.ok; delete answer.error; answer.unsupported = true; }");
    const ended = await within(['test', 'conformance', '--impl', impl, '--only', 'minting']);
    expect(ended).toMatchObject({ code: 0 });
    expect(linesOf(ended.stdout).at(-1)).toBe('0 passed, 0 failed, 7 unsupported');
  });

  it.each([
    ['ends', "if (request.input.output === '' && request.op === 'progress.digest') process.exit(3);", /it ended \(exit code 3\)/],
    [
      'falls silent',
      "if (request.input.output === '' && request.op === 'progress.digest') continue;",
      /did not answer within 4000 ms/,
    ],
    [
      'writes no JSON',
      "if (request.input.output === '' && request.op === 'progress.digest') { console.log('hm'); continue; }",
      /not JSON: hm/,
    ],
    [
      'nests without end',
      "if (request.input.output === '' && request.op === 'progress.digest') { console.log('['.repeat(100_000)); continue; }",
      /a line that nests too deep, or has too many values/,
    ],
    [
      'answers another request',
      "if (request.input.output === '' && request.op === 'progress.digest') answer.id = 99;",
      /answered request 99/,
    ],
  ])('one that %s fails that vector and is started again for the next', SLOW, async (_, change, says) => {
    const ended = await within([
      'test',
      'conformance',
      '--impl',
      broken(change),
      '--only',
      'digests',
      '--timeout',
      '4s',
      '--json',
    ]);
    expect(ended.code).toBe(1);
    const report = JSON.parse(ended.stdout);
    expect(validate(report), JSON.stringify(validate.errors)).toBe(true);
    const { passed, failures } = report;
    expect(passed).toBe(5);
    expect(failures).toMatchObject([{ file: 'digests.json', id: 'D0', why: expect.stringMatching(says) }]);
  });

  it.each([
    [['test', 'conformance'], /--impl CMD/],
    [['test', 'conformance', '--impl', 'exit 4'], /does not speak the protocol of the kit: it ended \(exit code 4\)/],
    [
      ['test', 'conformance', '--impl', 'echo hello; cat >/dev/null'],
      /does not speak the protocol of the kit: it wrote a line that is not JSON/,
    ],
    [['test', 'conformance', '--impl', 'x', '--only', 'nothing-like-this'], /no vector has/],
    [['test', 'conformance', '--impl', 'x', '--serve'], /cannot be combined/],
    [['test', 'conformance', '--impl', 'x', '--timeout', '2147483648ms'], /is too large; the maximum is/],
  ])('%j is wrong use: exit 2, one sentence', async (args, says) => {
    const ended = await within(args);
    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(linesOf(ended.stderr)).toHaveLength(1);
    expect(ended.stderr).toMatch(says);
  });
});

describe('the files of the kit', () => {
  it('are what generate.mjs writes', () => {
    const names = readdirSync(FOLDER).filter((name) => name.endsWith('.json'));
    expect(names.sort()).toEqual(Object.keys(FILES).sort());
    for (const [name, file] of Object.entries(FILES))
      expect(JSON.parse(readFileSync(new URL(name, FOLDER), 'utf8'))).toEqual(JSON.parse(JSON.stringify({ format: 1, ...file })));
  });

  it('have no id twice, and name requirements that exist', () => {
    const known = new Set(requirements());
    for (const { vectors } of Object.values(FILES)) {
      const ids = vectors.map(({ id }) => id);
      expect(ids.length).toBe(new Set(ids).size);
      expect(vectors.flatMap(({ requirements: named }) => named).filter((id) => !known.has(id))).toEqual([]);
    }
  });

  it('write bytes as text, hexadecimal, repetition and lists', () => {
    expect(bytesOf(['é', { hex: 'ff00' }, { repeat: ['a', { hex: '0a' }], times: 2 }]).toString('hex')).toBe('c3a9ff00610a610a');
  });

  it('are judged by what was expected', () => {
    expect(differenceOf({ ok: { a: [1, { b: null }] } }, { id: 1, ok: { a: [1, { b: null }], more: 1 } })).toBeNull();
    expect(differenceOf({ ok: { a: 1 } }, { id: 1, ok: { a: '1' } })).toBe('a: expected 1, got "1"');
    expect(differenceOf({ ok: { a: [1] } }, { id: 1, ok: {} })).toBe('a: expected [1], got nothing');
    expect(differenceOf({ ok: {} }, { id: 1, error: 'E' })).toBe('expected acceptance, got the error E');
    expect(differenceOf({ error: ['A', 'B'] }, { id: 1, error: 'C' })).toBe('expected A or B, got C');
    expect(differenceOf({ error: 'any' }, { id: 1, error: 'C' })).toBeNull();
    expect(differenceOf({ error: 'any' }, { id: 1, ok: {} })).toBe('expected an error, got acceptance: {}');
    expect(differenceOf({ accepted: true }, { id: 1, ok: { x: 1 } })).toBeNull();
  });
});

describe('the programs of the language', () => {
  const LANGUAGE = new URL('../../conformance/language/', import.meta.url);
  const vectors = readVectors(LANGUAGE);

  it('issue 23: are what the second interpreter makes of them', async () => {
    const { programsFile } = await import(new URL('generate.ts', LANGUAGE).href);
    expect(readFileSync(new URL('programs.json', LANGUAGE), 'utf8')).toBe(programsFile());
    expect(vectors.length).toBeGreaterThan(100);
  });

  it('issue 23: our own implementation passes them, and one that is a unit of fuel off does not', async () => {
    await using language = new LanguageRuns();
    for (const { id, input, expect: wanted } of vectors.filter((_, index) => index % 8 === 0)) {
      const done = await language.run(input);
      expect({ id, difference: differenceOf(wanted, { id: 0, ...done }) }).toEqual({ id, difference: null });
      if (!('ok' in done)) expect.fail('a program is always answered');
      const off = { ...done.ok, fuel: Number(done.ok['fuel']) + 1 };
      expect(differenceOf(wanted, { id: 0, ok: off })).toContain('fuel: expected');
    }
  });

  it('issue 23: the command runs them against any implementation', async () => {
    const ended = await within(['test', 'conformance', '--suite', 'language', '--only', '2300002', '--impl', OURS]);
    expect(ended).toMatchObject({ code: 0, stdout: expect.stringMatching(/programs\.json +(\d+) of \1 passed/) });
  });
});
