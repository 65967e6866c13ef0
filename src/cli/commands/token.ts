import type { Command } from 'commander';
import {
  canonicalize,
  decodeBase64Url,
  decodeToken,
  encodeBase64Url,
  isTurnNonce,
  type JsonObject,
  keyringFrom,
  type TokenFailure,
  type Verification,
  verifyToken,
} from '../../aeiou/index.ts';
import { systemClock } from '../../loop/index.ts';
import { CHECKS, describeToken, grouped, printable } from '../../report/index.ts';
import { readTokenKeys } from '../flags/keyfiles.ts';
import { wholeNumber } from '../flags/options.ts';
import { named } from '../flags/setup.ts';
import { EXIT, type ExitCode } from '../terminal/exit.ts';
import { UsageError } from '../terminal/failure.ts';
import { readText, STDIN } from '../terminal/input.ts';
import type { Execute, Terminal } from '../terminal/terminal.ts';

interface VerifyFlags {
  readonly keys: string;
  readonly sid: string;
  readonly turn: number;
  readonly nonce: string;
  readonly now?: number;
  readonly clockSkew?: number;
  readonly allowHs256?: true;
  readonly json?: true;
}

const HELP = `
A token is one line that begins with <<<NSMAG:. Quote it for the shell, or give
'-' and pass the line on standard input. The command asks no server. A token
cannot show that it was used before; only the host's replay cache knows. Exits
with 0 for a genuine token (inspect: a well-formed one), with 1 for any other,
and with 2 for wrong use.

Examples:
  neuroscript token inspect '<<<NSMAG:V3:LOOP:…>>>'
  neuroscript keys export-public keys.json >public.json
  neuroscript token verify - --keys public.json --sid demo --turn 2 \\
    --nonce AAECAwQFBgcICQoLDA0ODw --now 1760000000
`;

/** Maximum bytes from standard input; a token has at most 1024. */
const TOKEN_BYTES = 64 * 1024;

/** `token inspect TOKEN` and `token verify TOKEN`: decode and verify a control token without a host. */
export function addToken(program: Command, execute: Execute): void {
  const token = program
    .command('token')
    .summary('inspect and verify control tokens, offline')
    .description('Takes control tokens apart and verifies them, offline.')
    .addHelpText('after', HELP);
  token
    .command('inspect')
    .summary('show what a token claims, unverified')
    .description('Shows what a token claims. Nothing is verified: anybody can write such a line.')
    .argument('<TOKEN>', "the line, or '-' for standard input")
    .option('--json', 'print a JSON object')
    .addHelpText('after', HELP)
    .action(execute(inspect));
  token
    .command('verify')
    .summary('verify a token for one turn')
    .description('Verifies that a key of the file signed the token for exactly this session, turn and nonce.')
    .argument('<TOKEN>', "the line, or '-' for standard input")
    .requiredOption('--keys <FILE>', 'key file; the public halves suffice (see "keys export-public")')
    .requiredOption('--sid <ID>', 'session id')
    .requiredOption('--turn <N>', 'index of the turn', wholeNumber('--turn', 0))
    .requiredOption('--nonce <B64URL>', 'the nonce of the turn: 16 bytes in base64url')
    .option('--now <UNIX>', 'the time of verification (default: now)', wholeNumber('--now', 0))
    .option('--clock-skew <SECONDS>', 'refuse tokens issued further in the future', wholeNumber('--clock-skew', 0))
    .option('--allow-hs256', 'accept shared secrets in the key file')
    .option('--json', 'print a JSON object')
    .addHelpText('after', HELP)
    .action(execute(verify));
}

/** The token of an argument or of standard input; one final line feed is not part of it. */
async function lineOf(text: string, terminal: Terminal): Promise<string> {
  if (text !== STDIN) return text;
  return (await readText(STDIN, TOKEN_BYTES, () => terminal.stdin)).replace(/\n$/, '');
}

async function inspect(text: string, { json }: { readonly json?: true }, terminal: Terminal): Promise<ExitCode> {
  const line = await lineOf(text, terminal);
  const { ok } = inspection(line);
  if (json) terminal.out.json(inspection(line));
  else {
    if (ok) terminal.out.line('NOT VERIFIED: this is what the token claims; anybody can write such a line.');
    for (const each of claims(line)) terminal.out.line(ok ? `  ${each}` : each);
  }
  return ok ? EXIT.ok : EXIT.runtime;
}

/** What `token inspect --json` prints (`docs/schemas/token.schema.json`): nothing of it is verified. */
export type Inspection =
  | {
      readonly authenticated: false;
      readonly ok: true;
      readonly kind: string;
      readonly bytes: number;
      readonly payloadBytes: number;
      readonly tag: string;
      readonly canonical: boolean;
      readonly payload: JsonObject;
    }
  | ({ readonly authenticated: false; readonly ok: false } & Pick<TokenFailure, 'code' | 'detail' | 'message'>);

/** Decodes a token without keys. */
export function inspection(line: string): Inspection {
  const decoded = decodeToken(line);
  if (!decoded.ok) return { authenticated: false, ok: false, ...failureOf(decoded) };
  const { kind, payload, text, tag, message } = decoded.token;
  const facts = { kind, bytes: line.length, payloadBytes: message.length, tag: encodeBase64Url(tag) };
  return { authenticated: false, ok: true, ...facts, canonical: canonicalize(payload) === text, payload };
}

/** A decoded token as lines for a terminal; one line for a text that is not a token. */
export function claims(line: string): readonly string[] {
  const found = inspection(line);
  if (!found.ok) return [`${found.code}: ${printable(found.message)}`];
  const { bytes, tag, canonical } = found;
  const form = `${grouped(bytes)} bytes; a tag of ${decodeBase64Url(tag)?.length}; the payload is ${canonical ? '' : 'NOT '}in canonical form`;
  return [...describeToken(line, false).map(printable), form];
}

async function verify(text: string, flags: VerifyFlags, terminal: Terminal): Promise<ExitCode> {
  const line = await lineOf(text, terminal);
  if (!isTurnNonce(flags.nonce)) throw new UsageError('--nonce must be 16 bytes in base64url (22 characters)');
  const now = flags.now ?? Math.floor(systemClock.now() / 1000);
  const clock = { now: () => now * 1000 };
  const keys = named(flags.keys, () => keyringFrom(readTokenKeys(flags.keys), { clock, allowHs256: flags.allowHs256 === true }));
  const result = verifyToken(line, {
    keys,
    sessionId: flags.sid,
    turnIndex: flags.turn,
    turnNonce: flags.nonce,
    now,
    clockSkew: flags.clockSkew,
  });
  if (flags.json)
    terminal.out.json(
      result.ok
        ? { authenticated: true, ok: true, payload: result.payload }
        : { authenticated: false, ok: false, ...failureOf(result) },
    );
  else for (const each of explain(line, result, terminal)) terminal.out.line(each);
  return result.ok ? EXIT.ok : EXIT.runtime;
}

function failureOf({ code, detail, message }: TokenFailure) {
  return { code, detail, message };
}

function explain(line: string, result: Verification, { paintOut }: Terminal): string[] {
  // A line that cannot be decoded claims nothing.
  const facts = decodeToken(line).ok ? describeToken(line, result.ok).map((each) => `  ${printable(each)}`) : [];
  const failedAt = result.ok ? -1 : CHECKS.findIndex(({ details }) => details.includes(result.detail));
  const passed = CHECKS.slice(0, failedAt < 0 ? CHECKS.length - 1 : failedAt).map(({ name }) => name);
  const checks = passed.length === 0 ? [] : [`  passed: ${passed.join(', ')}`];
  if (result.ok)
    return [paintOut.green('genuine'), ...facts, ...checks, '  not checked: whether it was used before (only its host knows)'];
  const failed = failedAt < 0 ? '' : `  failed: ${CHECKS[failedAt]?.name}`;
  return [paintOut.red(`${result.code}: ${printable(result.message)}`), ...checks, failed, ...facts].filter(
    (each) => each !== '',
  );
}
