import { generateKeys, type Keyring, keyringFrom, ProgressGuard, ReplayCache, resolveLifetimes } from '../aeiou/index.ts';
import { WARNINGS } from '../wire/codes.ts';
import { ConfigError } from '../wire/errors.ts';
import { agentBrief } from './agents/index.ts';
import { type Clock, systemClock } from './clock.ts';
import { randomIds } from './ids.ts';
import { Metrics } from './metrics.ts';
import type { LoopControllerOptions } from './options.ts';
import type { Stepper } from './plan.ts';
import { DEFAULT_MAX_WAIT_MS } from './record/suspension.ts';
import { SessionCoordinator } from './sessions/coordinator.ts';
import { DEFAULT_MAX_ATTEMPTS } from './sessions/interrupted.ts';
import { MemoryStore } from './sessions/sqlite.ts';
import { runtimeExecutor, type TurnExecutor } from './turn/executor.ts';

/** The settings of a controller, with the defaults of its options. Throws {@link ConfigError} (`ERR_CONFIG`). */
export function stepperOf(options: LoopControllerOptions): Stepper {
  const { clock = systemClock, owner, leaseMs } = options;
  const lifetimes = resolveLifetimes(options.lifetimes);
  const { replayTtl } = lifetimes;
  const executor = executorOf(options);
  const host = {
    executor,
    keyring: options.keyring ?? temporaryKeyring(clock),
    clock,
    ids: options.ids ?? randomIds,
    replay: new ReplayCache({ clock, ttl: replayTtl }),
    lifetimes,
    noProgressN: new ProgressGuard(options.noProgressN, 'noProgressN').n,
    checks: options.checks ?? [],
  };
  const coordinator =
    options.coordinator ??
    new SessionCoordinator({
      store: options.store ?? new MemoryStore(),
      log: options.log ?? null,
      clock,
      replayTtl,
      owner,
      leaseMs,
    });
  return {
    host,
    coordinator,
    metrics: options.metrics ?? new Metrics(),
    system: options.system ?? agentBrief({ tools: executor.tools, library: executor.library }),
    grammar: options.grammar ?? null,
    limits: options.limits ?? {},
    onExpired: options.onExpired ?? 'halt',
    mayWait: options.mayWait ?? true,
    maxWaitMs: options.maxWaitMs ?? DEFAULT_MAX_WAIT_MS,
    takeApart: options.takeApart ?? null,
    repair: options.repair ?? {},
    maxReasks: options.maxReasks,
    approve: options.approve,
    maxAttempts: options.onInterrupted === 'halt' ? 0 : (options.maxAttempts ?? DEFAULT_MAX_ATTEMPTS),
  };
}

function executorOf({ runtime, executor }: LoopControllerOptions): TurnExecutor {
  if (executor !== undefined && runtime === undefined) return executor;
  if (runtime !== undefined && executor === undefined) return runtimeExecutor(runtime);
  throw new ConfigError('a LoopController needs a runtime, or an executor in its place');
}

let warned = false;

/** A keyring with new keys, which no other process has. Logs a warning once per process. */
function temporaryKeyring(clock: Clock): Keyring {
  if (!warned)
    process.emitWarning('a LoopController has no keyring: it signs with keys that end with this process', {
      code: WARNINGS.temporaryKeys,
      detail: 'Give it `keyring`, for instance from loadKeyFile of neuroscript-runtime/aeiou.',
    });
  warned = true;
  return keyringFrom(generateKeys('temporary'), { clock });
}
