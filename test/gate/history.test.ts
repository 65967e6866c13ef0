import { execFileSync } from 'node:child_process';
import { closeSync, ftruncateSync, mkdirSync, openSync, readFileSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { neuroscript } from '../cli/spawn.ts';
import { tempFolder } from '../folder.ts';
import { ask, HASH, ID, line, OK, OTHER, queueWith, stub, TIME } from './kit.ts';

const always = stubPath();
const executed = (content: string | Uint8Array) => ask(queueWith({ 'executed.jsonl': content }), always);
const malformed = (number: number) => `[ERROR] Malformed entry in executed queue (line ${number})`;
const UNREADABLE = '[ERROR] Cannot read executed queue';
const REPLAY = `[ERROR] Intent already executed at ${TIME}`;
const other = (fields = {}) => line({ id: OTHER, ...fields });

function stubPath() {
  return { command: 'true', args: [] };
}

describe('finding an execution', () => {
  it.each([
    ['first', [line(), other(), other()]],
    ['middle', [other(), line(), other()]],
    ['last', [other(), other(), line()]],
  ])('ARGO-1-4, ARGO-4-4a: finds it on the %s line', (_, lines) => {
    expect(executed(lines.join(''))).toMatchObject({ eligible: false, code: 'ERR_GATE_EXECUTED', line: REPLAY });
  });

  it('ARGO-4-4b, ARGO-5-6: says when it was executed, as the scenario of the specification has it, and does nothing', async () => {
    const queue = queueWith({ 'executed.jsonl': line() });
    const outcome = await neuroscript(['gate', ID, HASH, '--queue', queue, '--verifier', 'true']);
    expect(outcome).toEqual({ code: 1, stdout: '[ERROR] Intent already executed at 2026-01-15T12:00:00Z\n', stderr: '' });
  });

  it.each([
    ['another format', 'yesterday'],
    ['a forged answer', '2026-01-15T12:00:00Z\n[OK] Intent eligible for execution'],
    ['terminal control', '2026-01-15T12:00:00Z\u001b[2K'],
    ['no text', 1768478400],
    ['nothing', undefined],
  ])('ARGO-4-4b: a time that is %s is not shown', (_, timestamp) => {
    expect(executed(line({ timestamp })).line).toBe('[ERROR] Intent already executed');
  });

  it.each(['2026-01-15T12:00:00.123456', '2026-01-15T12:00:00+00:00', '2026-01-15T12:00:00.5-03:30'])('shows %s', (timestamp) => {
    expect(executed(line({ timestamp })).line).toBe(`[ERROR] Intent already executed at ${timestamp}`);
  });

  it('ARGO-5-5, ARGO-7-8: however long ago, and even in the future', () => {
    for (const timestamp of ['2016-01-15T12:00:00Z', '1970-01-01T00:00:00Z', '9999-12-31T23:59:59Z'])
      expect(executed(line({ timestamp })).line).toBe(`[ERROR] Intent already executed at ${timestamp}`);
  });

  it('the letter case of a UUID hides no replay', () => {
    expect(executed(line({ id: ID.toUpperCase() })).line).toBe(REPLAY);
    expect(ask(queueWith({ 'executed.jsonl': line() }), always, ID.toUpperCase()).line).toBe(REPLAY);
  });

  it('neither does another hash, nor a key that is written with escapes, nor keys that nobody asked for', () => {
    expect(executed(line({ hash: 'f'.repeat(64) })).line).toBe(REPLAY);
    expect(executed(line().replace('"id"', '"\\u0069d"')).line).toBe(REPLAY);
    expect(executed(line({ note: { id: OTHER }, tags: ['id'] })).line).toBe(REPLAY);
    expect(executed(line() + line({ timestamp: '2026-02-01T00:00:00Z' })).line).toBe(REPLAY);
  });

  it('ARGO-5-2: records are objects with id, timestamp and hash, one a line', () => {
    expect(executed(`{"id":"${OTHER}","timestamp":"${TIME}","hash":"${HASH}"}\n`).line).toBe(OK);
    expect(executed(`{"id":"${OTHER}",\n"timestamp":"${TIME}","hash":"${HASH}"}\n`).line).toBe(malformed(1));
  });

  it('ARGO-5-1: the record is executed.jsonl of the queue, and no other file', () => {
    expect(ask(queueWith({ 'approved.jsonl': line(), 'pending.jsonl': 'x', 'executed.json': line() }), always).line).toBe(OK);
    expect(ask(queueWith({ 'executed.jsonl': line() }), always).line).toBe(REPLAY);
  });
});

describe('the record is whole, or everything is denied', () => {
  const fine: Readonly<Record<string, string>> = {
    'nothing in it': '',
    'one record': other(),
    'lines that end in CR LF': other().replace('\n', '\r\n'),
    'blanks around a record': ` \t${other()}`,
    'no line feed at its end': other().trimEnd(),
    'keys that nobody knows': other({ by: 'ann', steps: [{ id: 1 }, { id: 2 }] }),
    'a line of exactly 64 KiB': padded(64 * 1024),
    'a timestamp of no known form': other({ timestamp: 'yesterday' }),
  };
  it.each(Object.entries(fine))('eligible with %s', (_, content) => expect(executed(content).line).toBe(OK));

  const corrupt: Readonly<Record<string, readonly [string | Uint8Array, number]>> = {
    'a byte order mark': [`\ufeff${other()}`, 1],
    'a blank line between': [`${other()}\n${other()}`, 2],
    'a blank line at the end': [`${other()}\n`, 2],
    'only a line feed': ['\n', 1],
    'only blanks': ['   ', 1],
    'only CR LF': ['\r\n', 1],
    'no JSON': [`${other()}executed ${ID}\n`, 2],
    'a list': [`${other()}[]\n`, 2],
    'a number': ['7\n', 1],
    'a text': [`"${ID}"\n`, 1],
    null: ['null\n', 1],
    'two objects on a line': [other().replace('\n', other()), 1],
    'an object without id': [line({ id: undefined }), 1],
    'an id under another name': [line({ id: undefined, intent_id: OTHER }), 1],
    'an id that is no UUID': [line({ id: 'uuid-A' }), 1],
    'an id that is no text': [line({ id: 7 }), 1],
    'an id that is nested': [line({ id: { id: OTHER } }), 1],
    'an id on the prototype': [`{"__proto__":{"id":"${OTHER}"},"timestamp":"${TIME}","hash":"${HASH}"}\n`, 1],
    'no timestamp': [other({ timestamp: undefined }), 1],
    'a timestamp that is no text': [other({ timestamp: 7 }), 1],
    'no hash': [other({ hash: undefined }), 1],
    'a hash that is no text': [other({ hash: null }), 1],
    'a key twice': [other().replace('}', `,"id":"${OTHER}"}`), 1],
    'the id twice, the second time in escapes': [line().replace('}', `,"\\u0069d":"${OTHER}"}`), 1],
    'the id twice, the second time behind nested values': [line().replace('}', `,"by":{"a":[{}]},"id":"${OTHER}"}`), 1],
    'the id twice, once the one that was asked for': [`{"id":"${ID}","id":"${OTHER}","timestamp":"","hash":""}\n`, 1],
    'a NUL': [`${other()}\0${other()}`, 2],
    'NULs at the end, as after a crash': [Buffer.concat([Buffer.from(other()), Buffer.alloc(512)]), 2],
    'invalid UTF-8': [Buffer.concat([Buffer.from(other().slice(0, -2)), Buffer.from([0x20, 0xff, 0x7d, 0x0a])]), 1],
    'invalid UTF-8 in a text': [Buffer.from(other({ by: 'X' }).replace('X', '\u00ff'), 'latin1'), 1],
    'a line one byte above 64 KiB': [padded(64 * 1024 + 1), 1],
    'a line of a megabyte': [other() + padded(1024 * 1024), 2],
    'brackets without end': [`${other()}${'['.repeat(60_000)}\n`, 2],
    'trouble behind the match': [`${line()}nonsense\n`, 2],
    'a carriage return for a line end': [`${other().trimEnd()}\r${other()}`, 1],
  };
  it.each(Object.entries(corrupt))('ARGO-6-5, ARGO-6-7: denied with %s', (_, [content, number]) => {
    expect(executed(content)).toMatchObject({ eligible: false, code: 'ERR_GATE_HISTORY', line: malformed(number) });
  });

  it('ARGO-6-5, ARGO-7-9: a last line that is cut anywhere denies: for its own intent and for every other', () => {
    const record = line();
    const cuts = Array.from({ length: record.length - 2 }, (_, index) => record.slice(0, index + 1));
    const questions = cuts.flatMap((cut) => [
      { content: other() + cut, id: ID },
      { content: cut, id: OTHER },
    ]);
    expect(linesOf(questions)).toEqual(cuts.flatMap(() => [malformed(2), malformed(1)]));
    expect(executed(record.trimEnd()).line).toBe(REPLAY);
  });

  it('ARGO-6-7: records are found at every place of the pieces in which a file is read', () => {
    for (const before of [256 * 1024 - 100, 256 * 1024 - 1, 256 * 1024, 256 * 1024 + 1, 512 * 1024 + 64]) {
      const filler = filled(before);
      expect(filler.length).toBe(before);
      expect(executed(filler + line() + other()).line).toBe(REPLAY);
      expect(executed(`${filler}{"id"`).line).toMatch(/Malformed entry/);
      expect(executed(filler + other()).line).toBe(OK);
    }
  });
});

describe('what is no readable file', () => {
  it('a queue without the file has executed nothing; without the directory there is no queue', () => {
    expect(ask(queueWith(), always).line).toBe(OK);
    expect(ask(join(queueWith(), 'gone'), always)).toMatchObject({ line: UNREADABLE, code: 'ERR_GATE_HISTORY' });
    expect(ask(join(queueWith({ file: '' }), 'file'), always).line).toBe(UNREADABLE);
  });

  it.each([
    ['a directory', (path: string) => mkdirSync(path)],
    ['a pipe that nobody writes to', (path: string) => void execFileSync('mkfifo', [path])],
    ['a link to itself', (path: string) => symlinkSync(path, path)],
    ['a link into nowhere', (path: string) => symlinkSync(`${path}.gone`, path)],
    ['a device', (path: string) => symlinkSync('/dev/null', path)],
  ])('ARGO-6-7: %s in its place is denied', (_, make) => {
    const queue = queueWith();
    make(join(queue, 'executed.jsonl'));
    expect(ask(queue, always)).toMatchObject({ eligible: false, line: UNREADABLE, code: 'ERR_GATE_HISTORY' });
  });

  it('ARGO-6-7: a file that may not be read is denied', () => {
    const queue = queueWith({ 'executed.jsonl': '' });
    // The user who runs the tests may be root, who can read everything; `nobody` cannot.
    const script = `
      const { checkEligibility } = await import(process.argv[1]);
      const { chmodSync } = await import('node:fs');
      const { queue, id, hash } = JSON.parse(process.argv[2]);
      const ask = () => checkEligibility({ intentId: id, hash, source: 'human' }, { queue, verifier: { command: 'true', args: [] } }).line;
      chmodSync(queue, 0o755);
      chmodSync(queue + '/executed.jsonl', 0o000);
      if (process.getuid() === 0) process.setuid(65534);
      console.log(ask());`;
    const gate = new URL('../../src/gate/index.ts', import.meta.url).href;
    const stdout = execFileSync(process.execPath, ['-e', script, gate, JSON.stringify({ queue, id: ID, hash: HASH })]);
    expect(stdout.toString()).toBe(`${UNREADABLE}\n`);
  });

  it('ARGO-6-7: a gigabyte of nothing is denied at its first line', () => {
    const queue = queueWith({ 'executed.jsonl': '' });
    const file = openSync(join(queue, 'executed.jsonl'), 'r+');
    ftruncateSync(file, 2 ** 30);
    closeSync(file);
    expect(ask(queue, always).line).toBe(malformed(1));
  });

  it('ARGO-9-1: nothing is remembered from one call to the next', () => {
    const queue = queueWith();
    const path = join(queue, 'executed.jsonl');
    expect(ask(queue, always).line).toBe(OK);
    writeFileSync(path, line());
    expect(ask(queue, always).line).toBe(REPLAY);
    writeFileSync(path, other());
    expect(ask(queue, always).line).toBe(OK);
    unlinkSync(path);
    expect(ask(queue, always).line).toBe(OK);
  });

  it('ARGO-1-12: what is corrupt stays as it is', () => {
    const queue = queueWith({ 'executed.jsonl': `${other()}{"id":` });
    for (let times = 0; times < 3; times += 1) expect(ask(queue, always).line).toBe(malformed(2));
    expect(readFileSync(join(queue, 'executed.jsonl'), 'utf8')).toBe(`${other()}{"id":`);
  });
});

describe('the examples of the specification, section 6', () => {
  const A = { 'approved.jsonl': line() };
  it('ARGO-6-8: example 1, approved and not executed, is eligible', () => {
    expect(ask(queueWith({ ...A, 'executed.jsonl': other() }), stub('exit 0')).line).toBe(OK);
  });
  it('ARGO-6-3: example 2, approved and executed, is denied', () => {
    expect(ask(queueWith({ ...A, 'executed.jsonl': line() }), stub('exit 0')).line).toBe(REPLAY);
  });
  it('ARGO-6-6: a verifier that fails or is missing is denied', () => {
    expect(ask(queueWith(A), stub('exit 1')).eligible).toBe(false);
    expect(ask(queueWith(A), { command: join(tempFolder(), 'gone'), args: [] }).eligible).toBe(false);
  });
});

/** What the gate says to each question, in a process of its own: a small one starts hundreds of verifiers in a tenth of the time. */
function linesOf(questions: readonly { readonly content: string; readonly id: string }[]): unknown {
  const script = `
    const { checkEligibility } = await import(process.argv[1]);
    const { readFileSync, writeFileSync } = await import('node:fs');
    const { path, queue, hash } = JSON.parse(process.argv[2]);
    const lines = JSON.parse(readFileSync(path, 'utf8')).map(({ content, id }) => {
      writeFileSync(queue + '/executed.jsonl', content);
      return checkEligibility({ intentId: id, hash, source: 'human' }, { queue, verifier: { command: 'true', args: [] } }).line;
    });
    console.log(JSON.stringify(lines));`;
  const gate = new URL('../../src/gate/index.ts', import.meta.url).href;
  const path = join(queueWith({ questions: JSON.stringify(questions) }), 'questions');
  const input = JSON.stringify({ path, queue: queueWith(), hash: HASH });
  return JSON.parse(execFileSync(process.execPath, ['-e', script, gate, input]).toString());
}

/** A record of another intent whose line has exactly this many bytes. */
function padded(bytes: number): string {
  const bare = other({ pad: '' }).trimEnd();
  return `${other({ pad: 'x'.repeat(bytes - bare.length) }).trimEnd()}\n`;
}

/** Records of another intent with exactly this many bytes in total. */
function filled(bytes: number): string {
  const one = padded(1000);
  const whole = Math.floor(bytes / one.length) - 1;
  return one.repeat(whole) + padded(bytes - whole * one.length - 1);
}
