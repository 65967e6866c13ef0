import { fileURLToPath } from 'node:url';
import type { FinalReply, LimitOptions, RunHandlers, WorkerFiles } from '../../src/sandbox/index.ts';
import { packageFiles } from '../../src/sandbox/launch.ts';
import { MAX_MAP_KEYS } from '../../src/wire/frames.ts';
import { defaultLimits } from '../../src/wire/limits.ts';
import type { GuestCall, RunInput, TaggedJson } from '../../src/wire/protocol.ts';

// Needs no test runner: the harnesses of test/attack also run in processes of their own.

/** The bundles of the package. */
export const REAL: WorkerFiles = packageFiles();

/** The real worker with a guest that does what no program can. */
export const HOLED: WorkerFiles = { worker: REAL.worker, guest: fileURLToPath(new URL('guest.js', import.meta.url)) };

/**
 * A worker that follows a plan: that of the file in place of its guest, else that of each job. Not an ECMAScript module, because Node's
 * loader of those is a tenth of the CPU time of its start; it imports nothing, so a launcher may start it as one.
 */
export const ROGUE = fileURLToPath(new URL('rogue.cjs', import.meta.url));

/** One run of the guest's deed `deed`. */
export function inputOf(deed: string, globals: Record<string, TaggedJson> = {}, limits: LimitOptions = {}): RunInput {
  return {
    sources: [],
    globals: { do: deed, ...globals },
    call: null,
    events: [],
    limits: { ...defaultLimits('run'), ...limits },
    forkId: 'f',
    turn: false,
    stdin: false,
    mapKeys: MAX_MAP_KEYS,
  };
}

export const OK: FinalReply = { t: 'ok', value: null };

/** Handlers that keep what was emitted and answer every call at once. */
export function handlers(onCall: RunHandlers['onCall'] = async () => OK): RunHandlers & { emits: string[]; calls: GuestCall[] } {
  const emits: string[] = [];
  const calls: GuestCall[] = [];
  return {
    emits,
    calls,
    onOut: (out) => void emits.push(...out.emits),
    onCall: (call, io) => {
      calls.push(call);
      return onCall(call, io);
    },
  };
}

/** A handler whose answer never comes. */
export const never: RunHandlers['onCall'] = () => new Promise(() => {});
