import inspector from 'node:inspector';
import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import v8 from 'node:v8';

/** Functions of Node that the permission model does not close and that a worker does not need once it has loaded. */
const REMOVED: readonly (readonly [owner: object, names: readonly string[]])[] = [
  [
    process,
    [
      ...['kill', '_kill', '_debugProcess', '_debugEnd', 'binding', '_linkedBinding', 'dlopen', 'execve', 'chdir', 'umask'],
      ...['setuid', 'seteuid', 'setgid', 'setegid', 'setgroups', 'initgroups', 'loadEnvFile'],
    ],
  ],
  [os, ['setPriority']],
  [v8, ['setFlagsFromString', 'writeHeapSnapshot', 'getHeapSnapshot', 'setHeapSnapshotNearHeapLimit', 'takeCoverage']],
  [inspector, ['open', 'Session']],
];

/**
 * Removes what hostile JavaScript in the worker's own realm could use to signal other processes, change their priority, make V8
 * write files, or load code. Code that captured a function before, and native code, are held only by the operating system.
 */
export function disarm(): void {
  for (const [owner, names] of REMOVED)
    for (const name of names)
      if (!Reflect.deleteProperty(owner, name)) throw new Error(`the worker cannot remove the function ${name}`);
  syncBuiltinESMExports();
}
