import { realpathSync } from 'node:fs';
import { type Command, Option } from 'commander';
import {
  announceKey,
  formatKeys,
  type KeyInit,
  keyringFrom,
  publicKeys,
  rotateKeys,
  saveKeyFile,
  secondsOf,
} from '../../aeiou/index.ts';
import { systemClock } from '../../loop/index.ts';
import { formatReceiptKey, publicReceiptKey } from '../../receipt/index.ts';
import { printable } from '../../report/index.ts';
import { hasReceiptKey, readEitherReceiptKey, readTokenKeys } from '../flags/keyfiles.ts';
import { wholeNumber } from '../flags/options.ts';
import { named, usable } from '../flags/setup.ts';
import { openStore } from '../flags/store.ts';
import { EXIT, type ExitCode } from '../terminal/exit.ts';
import { UsageError } from '../terminal/failure.ts';
import type { Execute, Terminal } from '../terminal/terminal.ts';

interface RotateFlags {
  readonly role: 'primary' | 'fallback';
  readonly kid?: string;
  readonly buffer?: number;
  readonly json?: true;
  readonly store?: string;
}

/** Adds `keys rotate FILE` and `keys export-public FILE`. */
export function addKeyChanges(keys: Command, execute: Execute): void {
  keys
    .command('rotate')
    .summary('replace a key of a key file')
    .description(
      'Replaces the key of a role. The old key loses its private half and still verifies until every token that it signed has expired; older keys are dropped. With --store, in two phases: the first adds a key that verifies and does not sign; the second, when every host of the store knows it, lets it sign.',
    )
    .argument('<FILE>', 'key file')
    .addOption(new Option('--role <ROLE>', 'which key').choices(['primary', 'fallback']).default('primary'))
    .option('--kid <NAME>', "name of the new key (default: the old one's with the next number)")
    .option('--buffer <SECONDS>', 'how long the old key verifies beyond the lifetime of a token (60)', wholeNumber('--buffer', 0))
    .option('--store <FILE>', 'the store of the hosts that use the keys, or its postgres:// address: rotates in two phases')
    .option('--json', 'print what was done as JSON')
    .action(execute(rotate));
  keys
    .command('export-public')
    .summary('print the public halves of a key file')
    .description('Prints a key file with the public halves of the Ed25519 keys: it verifies and cannot sign.')
    .argument('<FILE>', 'key file')
    .action(execute(exportPublic));
}

async function rotate(file: string, flags: RotateFlags, terminal: Terminal): Promise<ExitCode> {
  const { role, kid, buffer, json, store } = flags;
  const keys = named(file, () => readTokenKeys(file));
  if (keys.every((key) => key.alg === 'Ed25519' && !('seed' in key)))
    throw new UsageError(`${printable(file)} has only public halves; rotate the file that has the private ones`);
  if (store !== undefined) {
    const announced = named(file, () => announceKey(keys, { role, kid }));
    const known = await hostsWithout(store, announced.kid);
    const isNew = announced.keys !== keys;
    if (isNew) named(file, () => save(file, announced.keys));
    if (isNew || known.missing.length > 0) return tellFirst(file, announced.kid, known, flags, terminal);
  }
  const { minted, retired, dropped } = named(file, () => {
    const rotation = rotateKeys(keys, {
      role,
      now: secondsOf(systemClock),
      kid,
      lifetimes: buffer === undefined ? undefined : { rotationBuffer: buffer },
    });
    save(file, rotation.keys);
    return rotation;
  });
  if (json) terminal.out.json({ role, minted, retired, dropped });
  else {
    terminal.out.line(`${printable(file)}: ${minted} is the new ${role} key`);
    if (retired !== null) terminal.out.line(`${retired.kid} verifies until ${utc(retired.verifyUntil)}`);
    for (const gone of dropped) terminal.out.line(`${gone} was dropped`);
    if (store !== undefined) {
      const until = retired === null ? '' : ` before ${utc(retired.verifyUntil)}: until then, tokens of the old key are good`;
      terminal.out.line(`phase 2 of 2: copy the file to all hosts${until}`);
    }
  }
  return EXIT.ok;
}

/** Hosts of a store that live, and those of them that do not know a key. */
interface Known {
  readonly hosts: number;
  readonly missing: readonly string[];
}

async function hostsWithout(place: string, kid: string): Promise<Known> {
  await using store = await usable(() => openStore(place, { mustExist: true }));
  const hosts = ((await store.hosts?.list()) ?? []).filter(({ lives }) => lives);
  return { hosts: hosts.length, missing: hosts.filter(({ kids }) => !kids.includes(kid)).map(({ owner }) => owner) };
}

/** Says that a key is announced, and which hosts have still to learn of it. */
function tellFirst(
  file: string,
  kid: string,
  { hosts, missing }: Known,
  { role, json }: RotateFlags,
  terminal: Terminal,
): ExitCode {
  if (json) terminal.out.json({ role, announced: kid, hosts, missing });
  else {
    terminal.out.line(`${printable(file)}: phase 1 of 2: ${kid} is announced as the next ${role} key, and signs nothing yet`);
    for (const owner of missing) terminal.out.line(`missing: host ${printable(owner)} does not know it`);
    terminal.out.line(
      hosts === 0
        ? 'no host serves the store now; copy the file to all hosts, then run the command again'
        : 'copy the file to all hosts, which read it by themselves, then run the command again',
    );
  }
  return EXIT.ok;
}

/** Saves keys that can be loaded; an unusable file never replaces a good one. */
function save(file: string, keys: readonly KeyInit[]): void {
  keyringFrom(keys, { clock: systemClock, allowHs256: true });
  // Replaces the target of a link, not the link.
  saveKeyFile(realpathSync(file), keys);
}

async function exportPublic(file: string, _flags: object, terminal: Terminal): Promise<ExitCode> {
  const text = named(file, () => {
    if (hasReceiptKey(file)) return formatReceiptKey(publicReceiptKey(readEitherReceiptKey(file)));
    return formatKeys(publicKeys(readTokenKeys(file)));
  });
  terminal.out.line(text.trimEnd());
  return EXIT.ok;
}

/** A Unix second as a date and time in UTC. */
export function utc(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replace('.000Z', 'Z');
}
