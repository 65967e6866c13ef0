import { generateKeys, type Keyring, keyringFrom } from '../aeiou/index.ts';
import { WARNINGS } from '../wire/codes.ts';
import { ConfigError } from '../wire/errors.ts';
import type { Clock } from './clock.ts';
import type { LoopControllerOptions } from './options.ts';
import { runtimeExecutor, type TurnExecutor } from './turn/executor.ts';

/** The executor that the options of a controller name. Throws {@link ConfigError} (`ERR_CONFIG`). */
export function executorOf({ runtime, executor }: LoopControllerOptions): TurnExecutor {
  if (executor !== undefined && runtime === undefined) return executor;
  if (runtime !== undefined && executor === undefined) return runtimeExecutor(runtime);
  throw new ConfigError('a LoopController needs a runtime, or an executor in its place');
}

let warned = false;

/** A keyring with keys that no other process has. The first one of a process warns. */
export function temporaryKeyring(clock: Clock): Keyring {
  if (!warned)
    process.emitWarning('a LoopController has no keyring: it signs with keys that end with this process', {
      code: WARNINGS.temporaryKeys,
      detail: 'Give it `keyring`, for instance from loadKeyFile of neuroscript-runtime/aeiou.',
    });
  warned = true;
  return keyringFrom(generateKeys('temporary'), { clock });
}
