import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { seccompFilter } from '../../src/sandbox/seccomp.ts';

const ALLOW = 0x7fff0000;
const NO_SUCH_CALL = 0x00050026;
const KILL = 0x80000000;
const X64 = 0xc000003e;
const ARM64 = 0xc00000b7;

/** Runs the program as the kernel would (the part of classic BPF that filters use) and gives what it returns. */
function decide(program: Uint8Array, audit: number, number: number, args: readonly number[] = []): number {
  const view = new DataView(program.buffer);
  const data = new DataView(new ArrayBuffer(64));
  data.setUint32(0, number, true);
  data.setUint32(4, audit, true);
  for (const [index, arg] of args.entries()) data.setUint32(16 + 8 * index, arg, true);
  let accumulator = 0;
  for (let at = 0; at < program.length; at += 8) {
    const code = view.getUint16(at, true);
    const [yes, no] = [view.getUint8(at + 2), view.getUint8(at + 3)];
    const k = view.getUint32(at + 4, true);
    if (code === 0x20) accumulator = data.getUint32(k, true);
    else if (code === 0x54) accumulator = (accumulator & k) >>> 0;
    else if (code === 0x15) at += 8 * (accumulator === k ? yes : no);
    else if (code === 0x35) at += 8 * (accumulator >= k ? yes : no);
    else if (code === 0x06) return k;
    else throw new Error(`an instruction ${code} that filters do not have`);
  }
  throw new Error('the program ends without a decision');
}

/** The kernel's own tables. */
const NUMBERS: ReadonlyMap<string, readonly [x64: number | null, arm64: number | null]> = new Map(
  readFileSync(new URL('golden/syscalls.txt', import.meta.url), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [name = '', onX64, onArm64] = line.split(' ');
      return [name, [onX64 === '-' ? null : Number(onX64), onArm64 === '-' ? null : Number(onArm64)]];
    }),
);

/** What a worker may call with any arguments, and `prlimit64` and `fcntl`, which have a value that is zero. */
const ALLOWED =
  'futex getppid read write getpid mmap munmap mprotect madvise brk clock_gettime clock_nanosleep readv writev pread64 close open openat stat lstat fstat newfstatat statx access faccessat readlink readlinkat lseek getcwd getdents64 dup dup3 pipe2 eventfd2 epoll_create1 epoll_ctl epoll_wait epoll_pwait poll ppoll getsockname getsockopt mremap membarrier pkey_mprotect pkey_alloc pkey_free rt_sigaction rt_sigprocmask rt_sigreturn sigaltstack restart_syscall kill tgkill gettid getuid getgid geteuid getegid capget uname sysinfo getrusage times time gettimeofday clock_getres nanosleep getrandom sched_getaffinity sched_getscheduler sched_getparam sched_yield set_tid_address set_robust_list rseq arch_prctl exit exit_group execve wait4 fcntl prlimit64'.split(
    ' ',
  );

const x64 = seccompFilter('x64', true) ?? new Uint8Array();
const arm64 = seccompFilter('arm64', true) ?? new Uint8Array();

describe('the filter of system calls', () => {
  it('is small enough for the kernel', () => {
    for (const program of [x64, arm64]) expect(program.length / 8).toBeLessThan(4096);
    expect(seccompFilter('ia32', true)).toBeNull();
  });

  it.each([
    ['x64', x64, X64, 0],
    ['arm64', arm64, ARM64, 1],
  ] as const)(
    'allows the calls of these names on %s by the numbers of the kernel, and no other',
    (_arch, program, audit, column) => {
      const expected = ALLOWED.map((name) => NUMBERS.get(name)?.[column]).filter((number) => number !== null);
      expect(expected).not.toContain(undefined);
      const allowed = Array.from({ length: 1024 }, (_, number) => number).filter(
        (number) => decide(program, audit, number) === ALLOW,
      );
      expect(allowed).toEqual(expected.sort((a = 0, b = 0) => a - b));
    },
  );

  it.each<[call: string, argument: number, values: readonly number[]]>([
    // FIONBIO, FIOCLEX, TCGETS
    ['ioctl', 1, [0x5401, 0x5421, 0x5451]],
    // F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_DUPFD_CLOEXEC
    ['fcntl', 1, [0, 1, 2, 3, 4, 1030]],
    ['prlimit64', 0, [0]],
    // PR_SET_NAME, PR_GET_NAME, PR_CAPBSET_READ, PR_SET_VMA ("SVMA")
    ['prctl', 0, [15, 16, 23, 0x5356_4d41]],
  ])('allows %s only with these values of argument %i', (call, argument, values) => {
    const near = new Set([
      ...values.flatMap((value) => [value - 1, value, value + 1]),
      ...Array.from({ length: 64 }, (_, n) => n),
    ]);
    for (const [column, program, audit] of [[0, x64, X64] as const, [1, arm64, ARM64] as const]) {
      const number = NUMBERS.get(call)?.[column] ?? -1;
      const decided = [...near].filter(
        (value) => value >= 0 && decide(program, audit, number, [...Array(argument).fill(7), value]) === ALLOW,
      );
      expect(decided.sort((a, b) => a - b)).toEqual(values);
    }
  });

  it.each([
    ['socket', 41, 198],
    ['connect', 42, 203],
    ['bind', 49, 200],
    ['sendto', 44, 206],
    ['recvmsg', 47, 212],
    ['ptrace', 101, 117],
    ['process_vm_readv', 310, 270],
    ['unshare', 272, 97],
    ['setns', 308, 268],
    ['mount', 165, 40],
    ['pivot_root', 155, 41],
    ['bpf', 321, 280],
    ['perf_event_open', 298, 241],
    ['io_uring_setup', 425, 425],
    ['clone3', 435, 435],
    ['execveat', 322, 281],
    ['memfd_create', 319, 279],
    ['userfaultfd', 323, 282],
    ['keyctl', 250, 219],
    ['setuid', 105, 146],
    ['unlinkat', 263, 35],
    ['pidfd_getfd', 438, 438],
  ])('%s does not exist', (_name, onX64, onArm64) => {
    expect(decide(x64, X64, onX64)).toBe(NO_SUCH_CALL);
    expect(decide(arm64, ARM64, onArm64)).toBe(NO_SUCH_CALL);
  });

  it('fork and vfork, which only x64 has, do not exist', () => {
    expect([57, 58].map((number) => decide(x64, X64, number))).toEqual([NO_SUCH_CALL, NO_SUCH_CALL]);
  });

  it('clone makes threads, and neither processes nor namespaces', () => {
    const thread = 0x3d0f00;
    for (const [program, audit, number] of [
      [x64, X64, 56],
      [arm64, ARM64, 220],
    ] as const) {
      expect(decide(program, audit, number, [thread])).toBe(ALLOW);
      expect(decide(program, audit, number, [0x11])).toBe(NO_SUCH_CALL);
      for (const namespace of [0x10000000, 0x20000000, 0x40000000, 0x08000000, 0x04000000, 0x02000000, 0x00020000, 0x80])
        expect(decide(program, audit, number, [thread | namespace])).toBe(NO_SUCH_CALL);
    }
  });

  it('ioctl types nothing into a terminal', () => {
    expect(decide(x64, X64, 16, [0, 0x5421])).toBe(ALLOW);
    expect(decide(x64, X64, 16, [0, 0x5412])).toBe(NO_SUCH_CALL);
  });

  it('finding 4: fcntl has no signal sent to another process, and prlimit64 sets no limit of one', () => {
    const setOwner = 8;
    expect([4, 1030, setOwner].map((command) => decide(x64, X64, 72, [3, command]))).toEqual([ALLOW, ALLOW, NO_SUCH_CALL]);
    expect([0, 4711].map((pid) => decide(arm64, ARM64, 261, [pid]))).toEqual([ALLOW, NO_SUCH_CALL]);
  });

  it('finding 4: a worker that has loaded signals, opens and starts nothing any more', () => {
    const loaded = seccompFilter('x64', false) ?? new Uint8Array();
    for (const number of [2, 257, 59, 61, 62, 234]) expect(decide(loaded, X64, number)).toBe(NO_SUCH_CALL);
    expect(decide(loaded, X64, 0)).toBe(ALLOW);
  });

  it('calls by the numbers of another architecture end the process', () => {
    expect(decide(x64, ARM64, 63)).toBe(KILL);
    expect(decide(x64, 0x40000003, 3)).toBe(KILL);
    expect(decide(x64, X64, 0x40000000 + 41)).toBe(KILL);
    expect(decide(arm64, X64, 0)).toBe(KILL);
  });
});
