import { realpathSync } from 'node:fs';
import { type Command, Option } from 'commander';
import { formatKeys, keyringFrom, publicKeys, rotateKeys, saveKeyFile, secondsOf } from '../../aeiou/index.ts';
import { systemClock } from '../../loop/index.ts';
import { formatReceiptKey, publicReceiptKey } from '../../receipt/index.ts';
import { printable } from '../../report/index.ts';
import { wholeNumber } from '../flags/options.ts';
import { hasReceiptKey, readEitherReceiptKey } from '../flags/receiptkey.ts';
import { named } from '../flags/setup.ts';
import { readTokenKeys } from '../flags/tokenkeys.ts';
import { EXIT, type ExitCode } from '../terminal/exit.ts';
import { UsageError } from '../terminal/failure.ts';
import type { Execute, Terminal } from '../terminal/terminal.ts';

interface RotateFlags {
  readonly role: 'primary' | 'fallback';
  readonly kid?: string;
  readonly buffer?: number;
  readonly json?: true;
}

/** Adds `keys rotate FILE` and `keys export-public FILE`. */
export function addKeyChanges(keys: Command, execute: Execute): void {
  keys
    .command('rotate')
    .summary('replace a key of a key file')
    .description(
      'Replaces the key of a role. The old key loses its private half and still verifies until every token that it signed has expired; older keys are dropped.',
    )
    .argument('<FILE>', 'key file')
    .addOption(new Option('--role <ROLE>', 'which key').choices(['primary', 'fallback']).default('primary'))
    .option('--kid <NAME>', "name of the new key (default: the old one's with the next number)")
    .option('--buffer <SECONDS>', 'how long the old key verifies beyond the lifetime of a token (60)', wholeNumber('--buffer', 0))
    .option('--json', 'print what was done as JSON')
    .action((file: string, flags: RotateFlags) => execute((terminal) => rotate(file, flags, terminal)));
  keys
    .command('export-public')
    .summary('print the public halves of a key file')
    .description('Prints a key file with the public halves of the Ed25519 keys: it verifies and cannot sign.')
    .argument('<FILE>', 'key file')
    .action((file: string) => execute((terminal) => exportPublic(file, terminal)));
}

async function rotate(file: string, { role, kid, buffer, json }: RotateFlags, terminal: Terminal): Promise<ExitCode> {
  const { minted, retired, dropped } = named(file, () => {
    const keys = readTokenKeys(file);
    if (keys.every((key) => key.alg === 'Ed25519' && !('seed' in key)))
      throw new UsageError(`${printable(file)} has only public halves; rotate the file that has the private ones`);
    const rotation = rotateKeys(keys, {
      role,
      now: secondsOf(systemClock),
      kid,
      lifetimes: buffer === undefined ? undefined : { rotationBuffer: buffer },
    });
    // Loads the new text before it replaces the file, so that an unusable one never does.
    keyringFrom(rotation.keys, { clock: systemClock, allowHs256: true });
    // Replaces the target of a link, not the link.
    saveKeyFile(realpathSync(file), rotation.keys);
    return rotation;
  });
  if (json) terminal.out.json({ role, minted, retired, dropped });
  else {
    terminal.out.line(`${printable(file)}: ${minted} is the new ${role} key`);
    if (retired !== null) terminal.out.line(`${retired.kid} verifies until ${utc(retired.verifyUntil)}`);
    for (const gone of dropped) terminal.out.line(`${gone} was dropped`);
  }
  return EXIT.ok;
}

async function exportPublic(file: string, terminal: Terminal): Promise<ExitCode> {
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
