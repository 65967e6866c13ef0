import { chmodSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { verifyApproval } from '../../src/gate/index.ts';
import { neuroscript } from '../cli/spawn.ts';
import { HASH, ID, line, OK, OTHER, queueWith, snapshot } from './kit.ts';

const verify = (content: string | Uint8Array, hash = HASH, id = ID) =>
  verifyApproval(queueWith({ 'approved.jsonl': content }), id, hash);
const no = (text: string) => ({ approved: false, line: `[ERROR] ${text}` });
const YES = { approved: true, line: '[OK] Intent approved' };
const other = line({ id: OTHER });

describe('gate verify: what a human approved', () => {
  it('a UUID with exactly its hash is approved, wherever it stands', () => {
    for (const content of [line(), line() + other, other + line(), line() + line(), line({ id: ID.toUpperCase() })])
      expect(verify(content)).toEqual(YES);
  });

  it('ARGO-6-2: another hash is not approved: example 3 of the specification', () => {
    expect(verify(line({ hash: 'f'.repeat(64) }))).toEqual(no('Hash does not match the approved intent'));
  });

  it('ARGO-7-7: hashes are compared and nothing else: letter case makes another one', () => {
    expect(verify(line(), HASH.toUpperCase())).toEqual(no('Hash does not match the approved intent'));
  });

  it('two different hashes of one UUID are ambiguous, in whatever letter case it stands', () => {
    const ambiguous = no('Intent approved with different hashes');
    expect(verify(line() + line({ hash: 'f'.repeat(64) }))).toEqual(ambiguous);
    expect(verify(line() + line({ id: ID.toUpperCase(), hash: 'f'.repeat(64) }))).toEqual(ambiguous);
  });

  it('ARGO-6-4: no file, an empty one, and one without the UUID approve nothing', () => {
    expect(verifyApproval(queueWith(), ID, HASH)).toEqual(no('Approved queue not found'));
    expect(verifyApproval(join(queueWith(), 'gone'), ID, HASH).line).toMatch(/^\[ERROR\] Cannot read approved queue/);
    expect(verify('')).toEqual(no('Intent not approved'));
    expect(verify(other)).toEqual(no('Intent not approved'));
  });

  it.each([
    ['before', `nonsense\n${line()}`, 1],
    ['behind', `${line()}nonsense\n`, 2],
    ['as a cut line', line() + other.slice(0, 50), 2],
    ['as a blank line', `${line()}\n`, 2],
    ['as a byte order mark', `\ufeff${line()}`, 1],
    ['as a missing hash', line() + line({ id: OTHER, hash: undefined }), 2],
    ['as its own missing timestamp', line({ timestamp: undefined }), 1],
    ['as a second id', `{"id":"${OTHER}","id":"${ID}","timestamp":"","hash":"${HASH}"}\n`, 1],
  ])('trouble %s the match makes the whole file doubtful', (_, content, number) => {
    expect(verify(content)).toEqual(no(`Malformed entry in approved queue (line ${number})`));
  });

  it('input of the wrong form is refused', () => {
    expect(verify(line(), HASH, 'x')).toEqual(no('Invalid intent ID format'));
    expect(verify(line(), 'x')).toEqual(no('Invalid hash format'));
  });

  it('a directory in its place is refused', () => {
    const queue = queueWith();
    mkdirSync(join(queue, 'approved.jsonl'));
    expect(verifyApproval(queue, ID, HASH)).toEqual(no('Cannot read approved queue (approved.jsonl is not a regular file)'));
  });
});

describe('gate verify as a command', () => {
  it('exits 0 or 1, says why on standard error, and changes nothing', async () => {
    const queue = queueWith({ 'approved.jsonl': line() });
    const before = snapshot(queue);
    expect(await neuroscript(['gate', 'verify', ID, HASH, '--queue', queue])).toEqual({
      code: 0,
      stdout: '',
      stderr: '[OK] Intent approved\n',
    });
    expect(await neuroscript(['gate', 'verify', OTHER, HASH, '--queue', queue])).toEqual({
      code: 1,
      stdout: '',
      stderr: '[ERROR] Intent not approved\n',
    });
    expect(snapshot(queue)).toEqual(before);
  });

  it.each([[[]], [[ID]], [[ID, HASH]], [[ID, HASH, '--queue', '.', '--yes']], [['--help']], [[ID, HASH, 'x', '--queue', '.']]])(
    'exits 1 for wrong use: %j',
    async (argv) => {
      const { code, stdout, stderr } = await neuroscript(['gate', 'verify', ...argv]);
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toBe('[ERROR] Usage: neuroscript gate verify <intent-uuid> <sha256-hash> --queue <dir>\n');
    },
  );

  it('ARGO-6-2, ARGO-6-4: is a verifier for the gate, which stops at another hash and without approved.jsonl', async () => {
    const queue = queueWith({ 'approved.jsonl': line() });
    const bin = new URL('../../bin/neuroscript.js', import.meta.url).pathname;
    const verifier = `'${process.execPath}' '${bin}' gate verify --queue '${queue}'`;
    const asked = ['--queue', queue, '--verifier', verifier];
    expect(await neuroscript(['gate', ID, HASH, ...asked])).toEqual({
      code: 0,
      stdout: `${OK}\n`,
      stderr: '[OK] Intent approved\n',
    });
    const stopped = async (id: string, hash: string, why: string) =>
      expect(await neuroscript(['gate', id, hash, ...asked])).toEqual({
        code: 1,
        stdout: '[ERROR] Approval verification failed\n',
        stderr: `[ERROR] ${why}\n`,
      });
    await stopped(OTHER, HASH, 'Intent not approved');
    await stopped(ID, 'f'.repeat(64), 'Hash does not match the approved intent');
    rmSync(join(queue, 'approved.jsonl'));
    await stopped(ID, HASH, 'Approved queue not found');
  });

  it('works where nothing may be written', async () => {
    const queue = queueWith({ 'approved.jsonl': line() });
    chmodSync(join(queue, 'approved.jsonl'), 0o444);
    chmodSync(queue, 0o555);
    expect((await neuroscript(['gate', 'verify', ID, HASH, '--queue', queue])).code).toBe(0);
    chmodSync(queue, 0o755);
  });
});
