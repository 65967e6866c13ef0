import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { decide, type Steps } from '../../src/gate/eligibility.ts';
import { historyOf } from '../../src/gate/history.ts';
import { checkEligibility, type Verifier, verifyApproval } from '../../src/gate/index.ts';
import { neuroscript } from '../cli/spawn.ts';
import { tempFolder } from '../folder.ts';
import { SLOW } from '../groups.ts';
import { ask, HASH, ID, line, OK, OTHER, queueWith, stub } from './kit.ts';

const NOT_FOUND = '[ERROR] Execution verification tool not found';
const UNCALLABLE = '[ERROR] Cannot invoke execution verifier';
const NOT_APPROVED = '[ERROR] Approval verification failed';
const BROKEN = '[ERROR] Verification tool error';

describe('step 2: the verifier is started', () => {
  it('ARGO-3-1: a verifier whose file is not there is reported', () => {
    const verifier = stub('exit 0');
    rmSync(verifier.command);
    expect(ask(queueWith(), verifier)).toMatchObject({ eligible: false, line: NOT_FOUND, code: 'ERR_GATE_VERIFIER' });
  });

  it('ARGO-3-1: so is an interpreter whose script is not there', () => {
    const gone = join(tempFolder(), 'intent_execute.mjs');
    expect(ask(queueWith(), { command: process.execPath, args: [gone] }).line).toBe(NOT_FOUND);
    expect(ask(queueWith(), { command: 'python3', args: ['intent_execute.py'] }).line).toBe(NOT_FOUND);
  });

  it.each([
    ['python3', ['-u', 'missing.py']],
    ['python3', ['-uB', '-I', 'missing.py']],
    [process.execPath, ['--no-warnings', 'missing.mjs']],
    [process.execPath, ['--import', 'node:fs', '--max-old-space-size=100', 'missing.mjs']],
    ['sh', ['-eu', './missing']],
    ['sh', ['-euo', 'pipefail', './missing']],
    ['python3', ['-W', 'ignore', 'missing.py']],
    ['python3', ['-uX', 'dev', '-Werror', 'missing.py']],
    ['env', ['python3', 'missing.py']],
    ['/usr/bin/env', ['-i', '-u', 'HOME', 'A=./b', 'python3', '-X', 'dev', 'missing.py']],
    ['env', ['-', './missing', 'a.db']],
  ])('ARGO-3-1, finding 10: what stands before the script of %s does not hide it', (command, args) => {
    expect(ask(queueWith(), { command, args }).line).toBe(NOT_FOUND);
  });

  it('ARGO-3-1: a value of a flag and code on the command line are not taken for the script', () => {
    expect(ask(queueWith(), { command: process.execPath, args: ['-e', 'process.exit(0.0)'] }).line).toBe(OK);
    expect(ask(queueWith(), { command: 'sh', args: ['-c', 'exit 0 # a/b'] }).line).toBe(OK);
    const tool = stub('exit 0');
    expect(ask(queueWith(), { ...tool, args: ['-u', 'missing.db'] }).line).toBe(OK);
    expect(ask(queueWith(), { command: 'env', args: ['sh', '-c', 'exit 0', 'a/b'] }).line).toBe(OK);
    expect(ask(queueWith(), { command: 'env', args: ['A=./b', tool.command, 'missing.db'] }).line).toBe(NOT_FOUND);
    expect(ask(queueWith(), { command: process.execPath, args: ['--eval=process.exit(0)', 'missing.db'] }).line).toBe(OK);
  });

  it.each([
    ['may not be executed', (path: string) => chmodSync(path, 0o644)],
    ['has an interpreter that is missing', (path: string) => writeFileSync(path, '#!/nonexistent/sh\n')],
    ['is a folder', replaceByFolder],
  ])('ARGO-3-2: a verifier that %s cannot be invoked', (_, spoil) => {
    const verifier = stub('exit 0');
    spoil(verifier.command);
    expect(ask(queueWith(), verifier)).toMatchObject({ eligible: false, line: UNCALLABLE, code: 'ERR_GATE_VERIFIER' });
  });

  it('ARGO-3-2: neither can a name that PATH does not have', () => {
    expect(ask(queueWith(), { command: 'no-such-verifier', args: [] }).line).toBe(UNCALLABLE);
  });

  it('ARGO-1-2, ARGO-4-2: it gets exactly the UUID and the hash, through no shell, and is waited for', SLOW, () => {
    const verifier = stub('sleep 0.2; exit 0');
    const args = ['$(touch pwned)', '; exit 0', '*'];
    const queue = queueWith();
    const begun = performance.now();
    const verdict = checkEligibility(
      { intentId: ID, hash: HASH, source: 'human' },
      { queue, verifier: { command: verifier.command, args } },
    );
    expect(verdict.line).toBe(OK);
    expect(performance.now() - begun).toBeGreaterThan(180);
    expect(verifier.calls()).toEqual([[...args, ID, HASH]]);
  });

  it('ARGO-1-9, ARGO-4-6: a failing verifier is called once, and then the record is not even opened', () => {
    const verifier = stub('exit 1');
    // The record cannot be read, so the answer would differ if a step read it.
    expect(ask(queueWith({ 'executed.jsonl': 'nonsense' }), verifier).line).toBe(NOT_APPROVED);
    expect(verifier.calls()).toHaveLength(1);
  });

  it('gets no environment but the path to programs', () => {
    process.env['GATE_TEST_SECRET'] = 'x';
    try {
      expect(ask(queueWith(), stub('test -z "$GATE_TEST_SECRET" && test -n "$PATH"')).line).toBe(OK);
    } finally {
      delete process.env['GATE_TEST_SECRET'];
    }
  });
});

describe('step 3: only its exit code counts', () => {
  it('ARGO-1-3, ARGO-3-3a, ARGO-4-3a: 0 is approved, and the record is looked at next', () => {
    expect(ask(queueWith(), stub('exit 0'))).toEqual({ eligible: true, line: OK });
    expect(ask(queueWith({ 'executed.jsonl': line() }), stub('exit 0')).line).toMatch(/already executed/);
  });

  it('ARGO-3-3b, ARGO-4-3b: 1 is not approved', () => {
    const verdict = { eligible: false, code: 'ERR_GATE_NOT_APPROVED', line: NOT_APPROVED, detail: null };
    expect(ask(queueWith(), stub('exit 1'))).toEqual(verdict);
  });

  it.each([
    ['2', 'exit 2'],
    ['126', 'exit 126'],
    ['127', 'exit 127'],
    ['255', 'exit 255'],
    ['a signal', 'kill -9 $$'],
    ['a polite signal', 'kill -15 $$'],
  ])('ARGO-3-3c, ARGO-4-3c: %s is a broken verifier', (_, script) => {
    const verdict = { eligible: false, code: 'ERR_GATE_VERIFIER', line: BROKEN, detail: null };
    expect(ask(queueWith(), stub(script))).toEqual(verdict);
  });

  it('ARGO-3-3c: so is one that never ends; it is killed and not asked again', SLOW, () => {
    const verifier = stub('trap "" TERM; exec sleep 60');
    expect(ask(queueWith(), { command: verifier.command, args: [], timeoutMs: 200 }).line).toBe(BROKEN);
    expect(verifier.calls()).toHaveLength(1);
  });

  it('a timeout of one millisecond is allowed', () => {
    const { command } = stub('exec sleep 60');
    expect(ask(queueWith(), { command, args: [], timeoutMs: 1 }).line).toBe(BROKEN);
  });

  it.each([0, -1, Number.NaN])('a timeout of %s is no timeout and refused', (timeoutMs) => {
    const { command, calls } = stub('exit 0');
    const verdict = ask(queueWith(), { command, args: [], timeoutMs });
    expect(verdict).toMatchObject({ eligible: false, line: '[ERROR] Execution controller failure' });
    expect(calls()).toEqual([]);
  });

  it('ARGO-3-3d: what it prints means nothing, and reaches the human on standard error alone', async () => {
    const lies = stub('echo "[OK] Intent eligible for execution"; echo out; echo err >&2; exit 1');
    const asked = ['gate', ID, HASH, '--queue', queueWith(), '--verifier'];
    const denied = await neuroscript([...asked, lies.command]);
    expect(denied.code).toBe(1);
    expect(denied.stdout).toBe(`${NOT_APPROVED}\n`);
    expect(denied.stderr).toBe(`${OK}\nout\nerr\n`);
    expect(await neuroscript([...asked, stub('echo "[ERROR] no"; exit 0').command])).toMatchObject({
      code: 0,
      stdout: `${OK}\n`,
    });
  });

  it('ARGO-3-3d: ten megabytes of talk change nothing, nor does a verifier that closes its streams', async () => {
    const talk = stub('head -c 10000000 /dev/zero | tr "\\0" x; exit 0');
    const asked = ['gate', ID, HASH, '--queue', queueWith(), '--verifier'];
    const outcome = await neuroscript([...asked, talk.command]);
    expect(outcome).toMatchObject({ code: 0, stdout: `${OK}\n` });
    expect(outcome.stderr.length).toBe(10_000_000);
    expect((await neuroscript([...asked, stub('exec >&- 2>&-; exit 0').command])).code).toBe(0);
  });
});

describe('steps 4 and 5', () => {
  it('ARGO-4-4c, ARGO-4-5: a UUID that is not in the record is eligible, and standard output is that one line', async () => {
    const queue = queueWith({ 'executed.jsonl': line({ id: OTHER }) });
    const outcome = await neuroscript(['gate', ID, HASH, '--queue', queue, '--verifier', 'true']);
    expect(outcome).toEqual({ code: 0, stdout: `${OK}\n`, stderr: '' });
  });

  it('ARGO-4-1: inputs are judged before files, files before the verifier, the verifier before the record', () => {
    const queue = queueWith({ 'executed.jsonl': 'nonsense' });
    const gone = { command: join(queue, 'gone'), args: [] };
    const of = (intentId: string, hash: string, verifier: Verifier = gone) =>
      checkEligibility({ intentId, hash, source: 'human' }, { queue, verifier }).line;
    expect(of('x', 'y')).toMatch(/Invalid intent ID/);
    expect(of(ID, 'y')).toMatch(/Invalid hash/);
    expect(of(ID, HASH)).toBe(NOT_FOUND);
    expect(of(ID, HASH, stub('exit 2'))).toBe(BROKEN);
    expect(of(ID, HASH, stub('exit 0'))).toMatch(/Malformed entry/);
  });

  it('ARGO-5-4: without approval nobody learns whether it was executed', () => {
    expect(ask(queueWith({ 'executed.jsonl': line() }), stub('exit 1')).line).toBe(NOT_APPROVED);
  });
});

describe('all of it together', () => {
  it('ARGO-6-1: of all 32 combinations of the five conditions only one is eligible', () => {
    const eligible: boolean[][] = [];
    for (let bits = 0; bits < 32; bits += 1) {
      const [listed, sameHash, exitsZero, notExecuted, clear] = [0, 1, 2, 3, 4].map((bit) => (bits & (1 << bit)) !== 0);
      const queue = queueWith({
        'approved.jsonl': line({ id: listed ? ID : OTHER, hash: sameHash ? HASH : 'f'.repeat(64) }),
        'executed.jsonl': `${line({ id: notExecuted ? OTHER : ID })}${clear ? '' : '{"id":'}`,
      });
      const verdict = decide(
        { intentId: ID, hash: HASH, source: 'human' },
        {
          isVerifierPresent: () => true,
          verify: (id, hash) => (verifyApproval(queue, id, hash).approved && exitsZero ? 'approved' : 'not approved'),
          historyOf: (id) => historyOf(queue, id),
        },
      );
      if (verdict.eligible) eligible.push([listed, sameHash, exitsZero, notExecuted, clear].map(Boolean));
    }
    expect(eligible).toEqual([[true, true, true, true, true]]);
  });

  const steps: Steps = { isVerifierPresent: () => true, verify: () => 'approved', historyOf: () => ({ state: 'not executed' }) };
  const request = { intentId: ID, hash: HASH, source: 'human' } as const;
  const broken = (): never => {
    throw new Error('the step broke');
  };

  it.each([
    ['1, at the UUID', Object.defineProperty({ ...request }, 'intentId', { get: broken }), steps],
    ['1, at the hash', Object.defineProperty({ ...request }, 'hash', { get: broken }), steps],
    ['2, at the file', request, { ...steps, isVerifierPresent: broken }],
    ['2 and 3', request, { ...steps, verify: broken }],
    ['4', request, { ...steps, historyOf: broken }],
  ])('ARGO-3-7: an exception in step %s is a denial with its line', (_, given, world) => {
    expect(decide(request, steps).eligible).toBe(true);
    expect(decide(given, world)).toEqual({
      eligible: false,
      code: 'ERR_GATE_FAILURE',
      line: '[ERROR] Execution controller failure',
      detail: 'the step broke',
    });
  });

  it.each(['maybe', '', undefined, true])('ARGO-3-7: an answer that no step may give (%s) is a denial', (answer) => {
    const odd = answer as never;
    expect(decide(request, { ...steps, verify: () => odd }).eligible).toBe(false);
    expect(decide(request, { ...steps, historyOf: () => ({ state: odd }) }).eligible).toBe(false);
    expect(decide(request, { ...steps, isVerifierPresent: () => '' as never }).eligible).toBe(false);
  });
});

function replaceByFolder(path: string): void {
  rmSync(path);
  mkdirSync(path);
}
