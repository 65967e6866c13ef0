import { describe, expect, it } from 'vitest';
import { checkEligibility, type GateRequest } from '../../src/gate/index.ts';
import { parseVerifier } from '../../src/gate/verifier.ts';
import { neuroscript } from '../cli/spawn.ts';
import { ask, HASH, ID, OK, queueWith, stub } from './kit.ts';

const BAD_ID = '[ERROR] Invalid intent ID format';
const BAD_HASH = '[ERROR] Invalid hash format';
const USAGE = '[ERROR] Usage: neuroscript gate <intent-uuid> <sha256-hash> --queue <dir> --verifier <command>';

const BAD_IDS = {
  empty: '',
  'too short': ID.slice(1),
  'too long': `${ID}0`,
  'without hyphens': ID.replaceAll('-', ''),
  'one hyphen missing': ID.replace('-', ''),
  'a digit for a hyphen': ID.replace('-', '0'),
  'hyphens elsewhere': 'b2831d732-708-4f50-944b-7b54f11bfbb4',
  'a letter beyond f': `g${ID.slice(1)}`,
  'in braces': `{${ID}}`,
  'a blank in front': ` ${ID}`,
  'a line feed behind': `${ID}\n`,
  'a NUL inside': `\0${ID.slice(1)}`,
  'digits of another script': `\u0662${ID.slice(1)}`,
  'a leading hyphen': `-${ID.slice(1)}`,
};

const BAD_HASHES = {
  empty: '',
  '63 digits': HASH.slice(1),
  '65 digits': `${HASH}0`,
  'a letter beyond f': `g${HASH.slice(1)}`,
  'a prefix 0x': `0x${HASH}`,
  'a prefix 0x within the length': `0x${HASH.slice(2)}`,
  'a line feed behind': `${HASH}\n`,
  'full-width digits': `\uff11${HASH.slice(1)}`,
};

describe('the three inputs', () => {
  it.each(Object.entries(BAD_IDS))('ARGO-2-1: a UUID that is %s stops before the verifier is called', (_, intentId) => {
    const verifier = stub('exit 0');
    expect(ask(queueWith(), verifier, intentId)).toMatchObject({ eligible: false, line: BAD_ID, code: 'ERR_GATE_INPUT' });
    expect(verifier.calls()).toEqual([]);
  });

  it('ARGO-2-1: any version and either letter case is a UUID, and the verifier gets it as it was given', () => {
    for (const intentId of [ID.toUpperCase(), '00000000-0000-0000-0000-000000000000', '019b9c3e-7a11-7b22-8c33-0123456789ab']) {
      const verifier = stub('exit 0');
      expect(ask(queueWith(), verifier, intentId).line).toBe(OK);
      expect(verifier.calls()).toEqual([[intentId, HASH]]);
    }
  });

  it.each(Object.entries(BAD_HASHES))('ARGO-2-2: a hash that is %s stops before the verifier is called', (_, hash) => {
    const verifier = stub('exit 0');
    const verdict = checkEligibility({ intentId: ID, hash, source: 'human' }, { queue: queueWith(), verifier });
    expect(verdict).toMatchObject({ eligible: false, line: BAD_HASH, code: 'ERR_GATE_INPUT' });
    expect(verifier.calls()).toEqual([]);
  });

  it('ARGO-2-1, ARGO-2-2: at no place stands another sign', () => {
    const verdict = (intentId: string, hash: string) => checkEligibility({ intentId, hash, source: 'human' }, gone).line;
    const gone = { queue: '', verifier: { command: '/gone', args: [] } };
    expect(verdict(ID, HASH)).toMatch(/not found/);
    for (const sign of ['g', 'G', ' ', '_', '\n'])
      for (let at = 0; at < HASH.length; at += 1) {
        const spoilt = (text: string): string => text.slice(0, at) + sign + text.slice(at + 1);
        if (at < ID.length) expect(verdict(spoilt(ID), HASH)).toBe(BAD_ID);
        expect(verdict(ID, spoilt(HASH))).toBe(BAD_HASH);
      }
  });

  it('ARGO-2-3: a call that does not say that a human made it is denied', () => {
    for (const source of ['loop', 'HUMAN', '', undefined, null, true]) {
      const verifier = stub('exit 0');
      // Values that plain JavaScript can pass.
      const request = { intentId: ID, hash: HASH, source } as unknown as GateRequest;
      expect(checkEligibility(request, { queue: queueWith(), verifier })).toMatchObject({
        eligible: false,
        line: '[ERROR] Not triggered by a human',
      });
      expect(verifier.calls()).toEqual([]);
    }
  });

  it('ARGO-3-7: what is no request at all is denied, never thrown', () => {
    const verifier = stub('exit 0');
    const hostile = {
      get intentId(): string {
        throw new Error('gone');
      },
    };
    for (const request of [null, undefined, 7, {}, hostile, { intentId: { toString: () => ID }, hash: HASH, source: 'human' }])
      expect(checkEligibility(request as unknown as GateRequest, { queue: queueWith(), verifier }).eligible).toBe(false);
    expect(verifier.calls()).toEqual([]);
  });

  it('ARGO-3-7: a call without a request or an option is denied, and says which one is missing', () => {
    const verifier = stub('exit 0');
    const verdict = (...given: readonly unknown[]) => Reflect.apply(checkEligibility, undefined, given);
    expect(verdict()).toMatchObject({
      eligible: false,
      code: 'ERR_GATE_INPUT',
      line: '[ERROR] No request: it needs intentId, hash and source',
    });
    const request = { intentId: ID, hash: HASH, source: 'human' };
    const failure = { eligible: false, code: 'ERR_GATE_FAILURE' };
    for (const options of [undefined, null, {}, { verifier }])
      expect(verdict(request, options)).toMatchObject({
        ...failure,
        detail: expect.stringContaining('the option queue is missing'),
      });
    for (const missing of [{}, { verifier: null }, { verifier: { command: 'x' } }])
      expect(verdict(request, { queue: queueWith(), ...missing })).toMatchObject({
        ...failure,
        detail: expect.stringContaining('the option verifier is missing'),
      });
    expect(verifier.calls()).toEqual([]);
  });
});

describe('the command line', () => {
  it('ARGO-1-1: takes the UUID and the hash from a human', async () => {
    const queue = queueWith();
    const verifier = stub('exit 0');
    const outcome = await neuroscript(['gate', ID, HASH, '--queue', queue, '--verifier', verifier.command]);
    expect(outcome).toEqual({ code: 0, stdout: `${OK}\n`, stderr: '' });
    expect(verifier.calls()).toEqual([[ID, HASH]]);
  });

  const verifier = ['--verifier', 'true'];
  const queue = ['--queue', '.'];
  it.each([
    ['no word', [...queue, ...verifier]],
    ['one word', [ID, ...queue, ...verifier]],
    ['three words', [ID, HASH, HASH, ...queue, ...verifier]],
    ['no queue', [ID, HASH, ...verifier]],
    ['no verifier', [ID, HASH, ...queue]],
    ['an empty queue', [ID, HASH, '--queue', '', ...verifier]],
    ['a queue twice', [ID, HASH, ...queue, ...queue, ...verifier]],
    ['an unknown flag', [ID, HASH, ...queue, ...verifier, '--force']],
    ['a flag for the last word', [ID, HASH, ...queue, '--verifier']],
    ['a cry for help', ['--help']],
    ['a question for the version', ['--version']],
    ['an end of flags', ['--', ID, HASH, ...queue, ...verifier]],
  ])('ARGO-2-4: %s is a usage error, exit 1', async (_, argv) => {
    expect(await neuroscript(['gate', ...argv])).toEqual({ code: 1, stdout: `${USAGE}\n`, stderr: '' });
  });

  it('ARGO-2-4: flags may stand anywhere and be written with an equals sign', async () => {
    const outcome = await neuroscript(['gate', `--queue=${queueWith()}`, ID, '--verifier=true', HASH]);
    expect(outcome).toMatchObject({ code: 0, stdout: `${OK}\n` });
  });

  it.each([
    ['no word at all', ''],
    ['a pipe', 'true | true'],
    ['a second command', 'false; true'],
    ['an alternative', 'false || true'],
    ['a variable', '$HOME/verify'],
    ['a substitution', '`verify`'],
    ['an open quote', "'verify"],
  ])('a verifier that has %s is not a plain command', async (_, command) => {
    const outcome = await neuroscript(['gate', ID, HASH, '--queue', queueWith(), `--verifier=${command}`]);
    expect(outcome.code).toBe(1);
    expect(outcome.stdout).toBe(command === '' ? `${USAGE}\n` : '[ERROR] Cannot invoke execution verifier\n');
  });

  it('whatever only a shell could do is refused, wherever it stands', () => {
    for (const sign of '|&;<>()$`\'"')
      for (const text of [sign, `verify ${sign}`, `${sign} verify`, `veri${sign}fy`]) expect(parseVerifier(text)).toBeNull();
    expect(parseVerifier(`verify '|&;<>()$\`"' "'"`)).toEqual({ command: 'verify', args: ['|&;<>()$`"', "'"] });
    expect(parseVerifier('  \t ')).toBeNull();
    expect(parseVerifier("verify ''")).toEqual({ command: 'verify', args: [''] });
  });

  it('quotes hold words of the verifier together, and nothing in them is expanded', async () => {
    const { command, calls } = stub('exit 0');
    const outcome = await neuroscript([
      'gate',
      ID,
      HASH,
      '--queue',
      queueWith(),
      '--verifier',
      `'${command}' "a  b" '$HOME' c"d"`,
    ]);
    expect(outcome.code).toBe(0);
    expect(calls()).toEqual([['a  b', '$HOME', 'cd', ID, HASH]]);
  });
});
