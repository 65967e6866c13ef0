import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll } from 'vitest';
import {
  type FinalReply,
  type LimitOptions,
  type RunHandlers,
  Sandbox,
  type SandboxOptions,
  type SandboxResult,
  type WorkerFiles,
} from '../../src/sandbox/index.ts';
import { packageFiles } from '../../src/sandbox/launch.ts';
import { defaultLimits } from '../../src/wire/limits.ts';
import type { GuestCall, RunInput, TaggedJson } from '../../src/wire/protocol.ts';

/** The bundles of the package. */
export const REAL: WorkerFiles = packageFiles();

/** The real worker with a guest that does what no program can. */
export const HOLED: WorkerFiles = { worker: REAL.worker, guest: fileURLToPath(new URL('guest.js', import.meta.url)) };

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

const open: Sandbox[] = [];
const folders: string[] = [];

afterAll(async () => {
  await Promise.all(open.map((sandbox) => sandbox.close()));
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** A sandbox with one worker, and with the holed guest unless told otherwise, which the test file closes at its end. */
export async function sandboxOf(options: SandboxOptions = {}): Promise<Sandbox> {
  const sandbox = await Sandbox.create({ concurrency: 1, files: HOLED, ...options });
  open.push(sandbox);
  return sandbox;
}

/** What a rogue worker does; see rogue.mjs. */
export interface Plan {
  readonly hello?: object | false;
  readonly before?: readonly object[];
  readonly after?: readonly object[];
  readonly run?: readonly object[];
  /** Answers runs only, each with its own id; otherwise every frame of the host is answered with the ids of the plan. */
  readonly echo?: true;
}

/** A worker that follows a plan of its own. */
export function rogue(plan: Plan): WorkerFiles {
  const folder = mkdtempSync(join(tmpdir(), 'rogue-'));
  folders.push(folder);
  const guest = join(folder, 'plan.json');
  writeFileSync(guest, JSON.stringify(plan));
  return { worker: fileURLToPath(new URL('rogue.mjs', import.meta.url)), guest };
}

/** Runs a deed with handlers that answer at once. */
export function run(
  sandbox: Sandbox,
  deed: string,
  globals: Record<string, TaggedJson> = {},
  limits: LimitOptions = {},
): Promise<SandboxResult> {
  return sandbox.run(inputOf(deed, globals, limits), handlers());
}

/** Milliseconds that something took. */
export async function timed<T>(work: () => Promise<T>): Promise<{ value: T; ms: number }> {
  const start = performance.now();
  const value = await work();
  return { value, ms: performance.now() - start };
}
