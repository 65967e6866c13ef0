import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import {
  encodeBase64Url,
  generateKeys,
  type KeyInfo,
  type Keyring,
  keyringFrom,
  loadKeyFile,
  saveKeyFile,
  savePrivateText,
  type TokenClock,
} from '../../aeiou/index.ts';
import { systemClock } from '../../loop/index.ts';
import { formatReceiptKey, generateReceiptKey } from '../../receipt/index.ts';
import { inColumns, printable } from '../../report/index.ts';
import { readTokenKeys } from '../flags/keyfiles.ts';
import { named } from '../flags/setup.ts';
import { EXIT, type ExitCode } from '../terminal/exit.ts';
import { UsageError } from '../terminal/failure.ts';
import type { Execute, Terminal } from '../terminal/terminal.ts';
import { addKeyChanges, utc } from './rotate.ts';

interface GenerateFlags {
  readonly name: string;
  readonly receipts?: true;
}

/** `keys generate|list|rotate|export-public FILE`. */
export function addKeys(program: Command, execute: Execute): void {
  const keys = program
    .command('keys')
    .summary('make, rotate and list keys for control tokens')
    .description('Makes, rotates and lists the Ed25519 keys that sign control tokens.');
  keys
    .command('generate')
    .summary('make a key file')
    .description(
      'Makes a key file with a new primary and a new fallback key, readable by its owner only. Never overwrites a file.',
    )
    .argument('<FILE>', 'the key file to make')
    .option('--name <NAME>', 'prefix of the names of the keys', 'host')
    .option('--receipts', 'make a key that signs receipts and checkpoints, and no control tokens')
    .action(execute(generate));
  keys
    .command('list')
    .summary('list the keys of a key file')
    .description('Lists the keys of a key file: name, role, algorithm, public half. Never shows a private half.')
    .argument('<FILE>', 'key file')
    .option('--json', 'print a JSON list')
    .action(execute(list));
  addKeyChanges(keys, execute);
}

/** The keys of a key file; without one, a new pair for this process. Throws {@link UsageError}. */
export function readKeyring(file: string | undefined, clock: TokenClock): Keyring {
  if (file === undefined) return keyringFrom(generateKeys('session'), { clock });
  return named(file, () => keyringFrom(readTokenKeys(file, loadKeyFile), { clock }));
}

async function generate(file: string, { name, receipts }: GenerateFlags, terminal: Terminal): Promise<ExitCode> {
  if (existsSync(file)) throw new UsageError(`${printable(file)} exists already; keys are never overwritten`);
  if (receipts) {
    const { kid } = named(file, () => {
      const key = generateReceiptKey(`${name}-receipts`);
      savePrivateText(file, formatReceiptKey(key));
      return key;
    });
    terminal.out.line(`${printable(file)}: ${kid} (receipts and checkpoints)`);
    return EXIT.ok;
  }
  const keys = named(file, () => {
    const made = generateKeys(name);
    keyringFrom(made, { clock: systemClock });
    saveKeyFile(file, made);
    return made;
  });
  terminal.out.line(`${printable(file)}: ${keys.map((key) => `${key.kid} (${key.role})`).join(', ')}`);
  return EXIT.ok;
}

async function list(file: string, { json }: { readonly json?: true }, terminal: Terminal): Promise<ExitCode> {
  const ring = named(file, () => keyringFrom(readTokenKeys(file), { clock: systemClock }));
  const keys = keyRows(ring);
  if (json) terminal.out.json(keys);
  else for (const line of keyLines(keys, terminal.outIsTTY ? terminal.paintOut.columns : undefined)) terminal.out.prose(line);
  return EXIT.ok;
}

/** A key as `keys list` shows it: never a private half. */
export interface KeyRow extends Pick<KeyInfo, 'kid' | 'role' | 'alg' | 'canSign' | 'verifyUntil'> {
  /** base64url; null for a shared secret. */
  readonly public: string | null;
}

/** What `keys list --json` prints. */
export function keyRows(ring: Keyring): readonly KeyRow[] {
  return ring.list().map(({ kid, role, alg, publicKey, canSign, verifyUntil }) => {
    const half = publicKey === null ? null : encodeBase64Url(publicKey);
    return { kid, role, alg, public: half, canSign, verifyUntil };
  });
}

/** Keys in a line each, in columns where these fit into the width. */
export function keyLines(keys: readonly KeyRow[], width?: number): readonly string[] {
  const cells = keys.map(({ kid, role, alg, public: half, verifyUntil }) => [
    ...[kid, role, alg, half ?? '-'],
    ...(verifyUntil === null ? [] : [`until ${utc(verifyUntil)}`]),
  ]);
  return inColumns(cells, width);
}
