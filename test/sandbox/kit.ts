import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type LimitOptions,
  Sandbox,
  type SandboxOptions,
  type SandboxResult,
  type WorkerFiles,
} from '../../src/sandbox/index.ts';
import type { TaggedJson } from '../../src/wire/protocol.ts';
import { tempFolder } from '../folder.ts';
import { HOLED, handlers, inputOf, ROGUE } from './input.ts';

export { HOLED, handlers, inputOf, never, OK, REAL } from './input.ts';

const open: Sandbox[] = [];

/** Closes what {@link sandboxOf} and {@link rogue} have made. A test file calls it at its end. */
export async function closeSandboxes(): Promise<void> {
  await Promise.all(open.splice(0).map((sandbox) => sandbox.close()));
}

/** A sandbox with one worker, and with the holed guest unless told otherwise, until {@link closeSandboxes}. */
export async function sandboxOf(options: SandboxOptions = {}): Promise<Sandbox> {
  const sandbox = await Sandbox.create({ concurrency: 1, files: HOLED, ...options });
  open.push(sandbox);
  return sandbox;
}

/** What a rogue worker does; see rogue.cjs. */
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
  const guest = join(tempFolder(), 'plan.json');
  writeFileSync(guest, JSON.stringify(plan));
  return { worker: ROGUE, guest };
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
