import children from 'node:child_process';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FinalReply, LimitOptions, RunHandlers, WorkerFiles } from '../../src/sandbox/index.ts';
import { packageFiles } from '../../src/sandbox/launch.ts';
import { BUILD_MARK, buildOf } from '../../src/wire/codecache.ts';
import { defaultLimits } from '../../src/wire/limits.ts';
import type { GuestCall, RunInput, TaggedJson } from '../../src/wire/protocol.ts';

// Needs no test runner: the harnesses of test/attack also run in processes of their own.

/** The bundles of the package. */
export const REAL: WorkerFiles = packageFiles();

/**
 * The real worker with another guest, of which a copy says that it is of the worker's build. Without that, each of the hundreds of workers
 * that attacks end would compile everything: a third of the CPU time of its start.
 */
export function withGuest(path: URL): WorkerFiles {
  const build = buildOf(readFileSync(REAL.worker, 'latin1'));
  const folder = fileURLToPath(new URL('../../.cache/guests', import.meta.url));
  mkdirSync(folder, { recursive: true });
  const guest = join(folder, basename(path.pathname));
  // Another process may write it at the same time.
  const own = `${guest}.${process.pid}`;
  writeFileSync(own, `${readFileSync(path, 'utf8')}${BUILD_MARK}${build}\n`);
  renameSync(own, guest);
  return { worker: REAL.worker, guest };
}

/** The real worker with a guest that does what no program can. */
export const HOLED: WorkerFiles = withGuest(new URL('guest.js', import.meta.url));

/**
 * A worker that follows a plan: that of the file in place of its guest, else that of each job. Not an ECMAScript module, because Node's
 * loader of those is a tenth of the CPU time of its start; it imports nothing, so a launcher may start it as one.
 */
export const ROGUE = fileURLToPath(new URL('rogue.cjs', import.meta.url));

/**
 * Starts rogue workers from Node's snapshot, which takes a third of the CPU time; only isolated-vm must not have it. `spawn` stays changed in
 * this process, for commands that name the rogue worker alone.
 */
function spareSnapshots(): void {
  const { spawn } = children;
  const sparing = (command: string, args: unknown, ...rest: unknown[]): unknown => {
    const rogue = Array.isArray(args) && args.some((arg) => String(arg).includes(ROGUE));
    return Reflect.apply(spawn, children, [command, rogue ? args.filter((arg) => arg !== '--no-node-snapshot') : args, ...rest]);
  };
  Object.assign(children, { spawn: sparing });
  syncBuiltinESMExports();
}
spareSnapshots();

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
