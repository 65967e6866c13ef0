import { os, v8 } from './node.ts';

/** Empty where the permission model closes the inspector: loading the module takes a fiftieth of the worker's start. */
const inspector = process.allowedNodeEnvironmentFlags.has('--allow-inspector') ? {} : process.getBuiltinModule('node:inspector');

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
 * Removes functions with which hostile JavaScript in the worker's own realm could signal other processes, change their priority, make V8
 * write files, or load code. Only the operating system stops native code, and code that captured a function before. The worker has imported no
 * built-in module, so a later import gets what is left.
 */
export function removeFunctions(): void {
  for (const [owner, names] of REMOVED)
    for (const name of names)
      if (!Reflect.deleteProperty(owner, name)) throw new Error(`the worker cannot remove the function ${name}`);
}
