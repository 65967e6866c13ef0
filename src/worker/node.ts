/**
 * What a worker uses of Node. The worker starts without Node's snapshot (`sandbox/launch.ts`), so whatever it touches of Node is compiled
 * at its start. An `import` of a built-in module reads all exports of the module, and some of them load further modules, as `node:fs` loads
 * its streams: 30 ms. These lines take what is used and nothing else.
 */
export const { readFileSync, readSync, writeSync } = process.getBuiltinModule('node:fs');
export const os = process.getBuiltinModule('node:os');
export const v8 = process.getBuiltinModule('node:v8');
export const { Script } = process.getBuiltinModule('node:vm');

/** Elapsed time since some moment, milliseconds, as `performance.now()`, which would load its module: 9 ms. */
export function nowMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1e3 + nanoseconds / 1e6;
}
