/** `seccomp` of each architecture, and `prctl`. */
const CALLS: ReadonlyMap<string, { readonly seccomp: bigint; readonly prctl: bigint }> = new Map([
  ['x64', { seccomp: 317n, prctl: 157n }],
  ['arm64', { seccomp: 277n, prctl: 167n }],
]);

const PR_SET_NO_NEW_PRIVS = 38n;
const SECCOMP_SET_MODE_FILTER = 1n;
/** All threads of the process get the filter. */
const SECCOMP_FILTER_FLAG_TSYNC = 1n;

/**
 * Sets the filter of system calls for all threads of this process, through Node 26's interface to native functions, which the worker
 * closes afterwards. Does not check the outcome, because the host asks the kernel whether the filter holds.
 */
export function filterSystemCalls(filter: Uint8Array): void {
  const calls = CALLS.get(process.arch);
  const ffi = process.getBuiltinModule('node:ffi');
  if (calls === undefined || ffi === undefined) return;
  const argument = 'i64';
  const { lib, functions } = ffi.dlopen(null, {
    syscall: { return: 'i64', arguments: [argument, argument, argument, argument, argument, argument] },
  });
  // `struct sock_fprog`: the number of instructions, and a pointer to them.
  const program = new DataView(new ArrayBuffer(16));
  program.setUint16(0, filter.length / 8, true);
  program.setBigUint64(8, ffi.getRawPointer(filter), true);
  functions.syscall(calls.prctl, PR_SET_NO_NEW_PRIVS, 1n, 0n, 0n, 0n);
  const pointer = ffi.getRawPointer(program.buffer);
  functions.syscall(calls.seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, pointer, 0n, 0n);
  lib.close();
}

/**
 * Sets the filter by a library of this package, for a Node without that interface. The library's code runs during the load, which then
 * fails, because the library is no addon.
 */
export function loadFilter(library: string): void {
  try {
    process.dlopen({ exports: {} }, library);
  } catch {}
}
