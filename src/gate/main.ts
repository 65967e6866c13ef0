import { constants, readFileSync, readlinkSync, writeSync } from 'node:fs';
import { resolve } from 'node:path';
import { verifyApproval } from './approval.ts';
import { checkEligibility } from './eligibility.ts';
import { reasonOf } from './queue.ts';
import { denied, type Eligibility, FAILURE } from './verdict.ts';
import { parseVerifier } from './verifier.ts';

/** The usage of the commands. No flag changes an answer: a request for help is no approval, so it is refused as any other call of another form. */
const GATE_USAGE = {
  decide: 'neuroscript gate <intent-uuid> <sha256-hash> --queue <dir> --verifier <command>',
  verify: 'neuroscript gate verify <intent-uuid> <sha256-hash> --queue <dir>',
} as const;

const STDOUT = 1;
const STDERR = 2;

/**
 * Runs `gate …` or `gate verify …`, given the words after `gate`, and returns the exit code. Never throws. An answer that cannot be printed counts as no,
 * because a human must see every decision.
 */
export function main(argv: readonly string[]): 0 | 1 {
  try {
    const [first, ...rest] = argv;
    if (first === 'verify') return verify(rest);
    if (isClosed(STDOUT)) throw new Error('standard output is closed');
    return gate(argv);
  } catch (error) {
    // The stream for the answer may be the part that failed.
    for (const [stream, line] of [
      [STDOUT, `[ERROR] ${FAILURE}`],
      [STDERR, reasonOf(error)],
    ] as const)
      try {
        print(stream, line);
      } catch {
        // Neither stream works; the exit code says no.
      }
    return 1;
  }
}

function gate(argv: readonly string[]): 0 | 1 {
  const verdict = ask(argv);
  if (!verdict.eligible && verdict.detail !== null) print(STDERR, verdict.detail);
  print(STDOUT, verdict.line);
  return verdict.eligible ? 0 : 1;
}

function ask(argv: readonly string[]): Eligibility {
  const call = readCall(argv, ['--queue', '--verifier']);
  if (call === null) return denied('ERR_GATE_INPUT', `Usage: ${GATE_USAGE.decide}`);
  const verifier = parseVerifier(call.flags['--verifier'] ?? '');
  if (verifier === null)
    return denied(
      'ERR_GATE_VERIFIER',
      'Cannot invoke execution verifier',
      'the verifier must be a plain command: it runs without a shell',
    );
  const { intentId, hash } = call;
  return checkEligibility({ intentId, hash, source: 'human' }, { queue: resolve(call.flags['--queue'] ?? ''), verifier });
}

/** Answers on standard error, because standard output belongs to the gate that calls the verifier. */
function verify(argv: readonly string[]): 0 | 1 {
  const call = readCall(argv, ['--queue']);
  if (call === null) {
    print(STDERR, `[ERROR] Usage: ${GATE_USAGE.verify}`);
    return 1;
  }
  const { approved, line } = verifyApproval(resolve(call.flags['--queue'] ?? ''), call.intentId, call.hash);
  print(STDERR, line);
  return approved ? 0 : 1;
}

interface Call {
  readonly intentId: string;
  readonly hash: string;
  readonly flags: Readonly<Partial<Record<string, string>>>;
}

/** Parses exactly two words and each flag exactly once with a value; null for anything else. */
function readCall(argv: readonly string[], names: readonly string[]): Call | null {
  const words: string[] = [];
  const flags: Partial<Record<string, string>> = {};
  for (let at = 0; at < argv.length; at += 1) {
    const word = argv[at] ?? '';
    const [name = '', inline] = word.startsWith('--') ? splitOnce(word) : [word];
    if (!word.startsWith('--')) words.push(word);
    else if (!names.includes(name) || flags[name] !== undefined) return null;
    else {
      flags[name] = inline ?? argv[at + 1] ?? '';
      if (inline === undefined) at += 1;
    }
  }
  const [intentId, hash, ...more] = words;
  if (intentId === undefined || hash === undefined || more.length > 0) return null;
  return names.every((name) => (flags[name] ?? '') !== '') ? { intentId, hash, flags } : null;
}

function splitOnce(word: string): [string, string?] {
  const at = word.indexOf('=');
  return at < 0 ? [word] : [word.slice(0, at), word.slice(at + 1)];
}

/**
 * Whether the process was started without this stream (`>&-`). Node then opens the null device for reading and writing in its
 * place, where a shell's `>/dev/null` only writes. Only Linux tells them apart.
 */
function isClosed(stream: number): boolean {
  if (process.platform !== 'linux' || readlinkSync(`/proc/self/fd/${stream}`) !== '/dev/null') return false;
  const [, flags = '0'] = /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${stream}`, 'utf8')) ?? [];
  return (Number.parseInt(flags, 8) & constants.O_RDWR) !== 0;
}

/** Writes a line synchronously, without control characters. Throws when the stream does not accept all of it. */
function print(stream: number, text: string): void {
  const bytes = Buffer.from(`${text.replace(/\p{Cc}/gu, '?')}\n`);
  if (writeSync(stream, bytes) !== bytes.length) throw new Error('the line could not be written');
}
