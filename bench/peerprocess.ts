import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** A program for every language of the peers. */
export interface PeerProgram {
  readonly javascript: string;
  readonly python: string;
}

/** What a peer is told to keep, and whether it watches its event loop meanwhile. */
export interface PeerLimits {
  readonly ms: number;
  readonly memoryMb: number;
  readonly watch?: boolean;
}

/** One run in the process of a peer. */
export interface PeerAnswer {
  readonly value: unknown;
  readonly error: { readonly name: string; readonly code: string | null; readonly message: string } | null;
  /** Elapsed milliseconds in that process. */
  readonly ms: number;
  /** The longest time for which its event loop stood still, milliseconds. */
  readonly stall: number;
}

/** What stands between a program and the process, and the language, of each peer. */
export type PeerList = Readonly<Record<string, { readonly boundary: string; readonly language: keyof PeerProgram }>>;

const FOLDER = new URL('apps/lab/peers/', import.meta.resolve('#package'));

/** The package of the peers is not installed. The message is the command that installs it. */
export class PeersMissing extends Error {}

/** A module of the second package. Throws {@link PeersMissing}. */
export async function peerModule<T>(file: string): Promise<T> {
  if (!existsSync(new URL(file, FOLDER)))
    throw new PeersMissing('the peers come with a checkout of the repository; the published package has none');
  if (!existsSync(new URL('node_modules/', FOLDER)))
    throw new PeersMissing('the peers are not installed: npm --prefix apps/lab/peers ci');
  // The package is part of this repository.
  return await import(new URL(file, FOLDER).href);
}

/** The peers of the second package. Throws {@link PeersMissing}. */
export async function listPeers(): Promise<PeerList> {
  const { PEERS } = await peerModule<{ readonly PEERS: PeerList }>('engines.mjs');
  return PEERS;
}

/** Time beyond a limit after which a peer counts as hung, milliseconds. */
const HANG_MS = 5_000;
const START_MS = 60_000;

/** A process that runs programs on one peer. */
export class PeerProcess implements AsyncDisposable {
  readonly pid: number;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, pid: number) {
    this.#child = child;
    this.pid = pid;
  }

  /** Starts the process and loads the engine. */
  static async open(name: string): Promise<PeerProcess> {
    const child = fork(fileURLToPath(new URL('child.mjs', FOLDER)), [name], {
      execArgv: ['--no-node-snapshot', '--no-warnings'],
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    const ready = await answerOf(child, START_MS);
    if (ready !== 'ready' || child.pid === undefined) throw new Error(`${name} cannot be started`);
    return new PeerProcess(child, child.pid);
  }

  /** Runs a program. Null when the process died or hung; it is gone then. */
  async run(program: PeerProgram, limits: PeerLimits): Promise<PeerAnswer | null> {
    this.#child.send({ program, limits });
    const answer = await answerOf(this.#child, limits.ms + HANG_MS);
    return isAnswer(answer) ? answer : null;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const gone = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await gone;
  }
}

/** The next message of a process; null when it ends or is silent for too long, which ends it. */
async function answerOf(child: ChildProcess, ms: number): Promise<unknown> {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  const onExit = (): void => resolve(null);
  const late = setTimeout(() => {
    child.kill('SIGKILL');
  }, ms);
  child.once('message', resolve);
  child.once('exit', onExit);
  const message = await promise;
  clearTimeout(late);
  child.off('message', resolve);
  child.off('exit', onExit);
  return message;
}

function isAnswer(message: unknown): message is PeerAnswer {
  return typeof message === 'object' && message !== null && 'ms' in message && typeof message.ms === 'number';
}
