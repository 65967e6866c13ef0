/** Stands for `node:fs`, `node:child_process` and `node:crypto` in the gate's code. `world.ts` says what it does. */
import { Disk } from './disk.ts';

export const QUEUE = '/queue';

/** The program that the gate starts as its verifier. */
export const VERIFIER = '/verifier';

interface SpawnResult {
  readonly error?: Error;
  readonly status: number | null;
}

export const system = {
  disk: new Disk(QUEUE),
  /** Who acts now: a lock holds this in place of a random text. */
  actor: '',
  verifierExists: true,
  verify: (_intentId: string, _hash: string): SpawnResult => ({ status: 1 }),
};

type Fs = Disk['fs'];

export const constants = system.disk.fs.constants;
export const openSync: Fs['openSync'] = (...args) => system.disk.fs.openSync(...args);
export const closeSync: Fs['closeSync'] = (...args) => system.disk.fs.closeSync(...args);
export const readSync: Fs['readSync'] = (...args) => system.disk.fs.readSync(...args);
export const writeSync: Fs['writeSync'] = (...args) => system.disk.fs.writeSync(...args);
export const writeFileSync: Fs['writeFileSync'] = (...args) => system.disk.fs.writeFileSync(...args);
export const fsyncSync: Fs['fsyncSync'] = (...args) => system.disk.fs.fsyncSync(...args);
export const fstatSync: Fs['fstatSync'] = (...args) => system.disk.fs.fstatSync(...args);
export const lstatSync: Fs['lstatSync'] = (...args) => system.disk.fs.lstatSync(...args);
export const rmSync: Fs['rmSync'] = (...args) => system.disk.fs.rmSync(...args);
export const statSync = (path: string): ReturnType<Fs['statSync']> =>
  path === VERIFIER ? (system.verifierExists ? system.disk.fs.statSync(QUEUE) : undefined) : system.disk.fs.statSync(path);

export const randomUUID = (): string => system.actor;

export const spawnSync = (_command: string, args: readonly string[]): SpawnResult => {
  const [intentId = '', hash = ''] = args.slice(-2);
  return system.verify(intentId, hash);
};
