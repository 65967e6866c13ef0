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
 * Has the kernel filter the system calls of this process from now on, in all its threads. Node reaches the kernel through its
 * interface to native functions, which Node 26 has and the worker closes afterwards. The host asks the kernel whether the filter
 * holds, so that nothing depends on the outcome here.
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
 * The same by a library of this package, for a Node without that interface. Its code runs while it is loaded; then Node refuses it, because
 * it is no addon.
 */
export function loadFilter(library: string): void {
  try {
    process.dlopen({ exports: {} }, library);
  } catch {}
}
