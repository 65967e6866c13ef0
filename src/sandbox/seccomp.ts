/**
 * The system calls that a worker may make, as a program for the kernel's filter (seccomp BPF). Every other call fails with
 * `ENOSYS`: there are no sockets, new processes, mounts, namespaces, tracing, io_uring, keys or modules. The list has the calls
 * that Node and V8 were observed to make, and the alternatives that their libraries may use.
 */

/** The numbers of one system call on x64 and arm64 (`asm/unistd_64.h`, `asm-generic/unistd.h`). */
type Numbers = readonly [x64: number | null, arm64: number | null];

/** Ordered by frequency: the kernel scans linearly. */
const ALLOWED: Readonly<Record<string, Numbers>> = {
  futex: [202, 98],
  getppid: [110, 173],
  read: [0, 63],
  write: [1, 64],
  getpid: [39, 172],
  mmap: [9, 222],
  munmap: [11, 215],
  mprotect: [10, 226],
  madvise: [28, 233],
  brk: [12, 214],
  clock_gettime: [228, 113],
  clock_nanosleep: [230, 115],
  readv: [19, 65],
  writev: [20, 66],
  pread64: [17, 67],
  close: [3, 57],
  open: [2, null],
  openat: [257, 56],
  stat: [4, null],
  lstat: [6, null],
  fstat: [5, 80],
  newfstatat: [262, 79],
  statx: [332, 291],
  access: [21, null],
  faccessat: [269, 48],
  readlink: [89, null],
  readlinkat: [267, 78],
  lseek: [8, 62],
  getcwd: [79, 17],
  getdents64: [217, 61],
  dup: [32, 23],
  dup3: [292, 24],
  pipe2: [293, 59],
  eventfd2: [290, 19],
  epoll_create1: [291, 20],
  epoll_ctl: [233, 21],
  epoll_wait: [232, null],
  epoll_pwait: [281, 22],
  poll: [7, null],
  ppoll: [271, 73],
  getsockname: [51, 204],
  getsockopt: [55, 209],
  mremap: [25, 216],
  membarrier: [324, 283],
  pkey_mprotect: [329, 288],
  pkey_alloc: [330, 289],
  pkey_free: [331, 290],
  rt_sigaction: [13, 134],
  rt_sigprocmask: [14, 135],
  rt_sigreturn: [15, 139],
  sigaltstack: [131, 132],
  restart_syscall: [219, 128],
  // A worker kills itself with this call. Its namespace has no other process to signal.
  kill: [62, 129],
  tgkill: [234, 131],
  gettid: [186, 178],
  getuid: [102, 174],
  getgid: [104, 176],
  geteuid: [107, 175],
  getegid: [108, 177],
  capget: [125, 90],
  uname: [63, 160],
  sysinfo: [99, 179],
  getrusage: [98, 165],
  times: [100, 153],
  time: [201, null],
  gettimeofday: [96, 169],
  clock_getres: [229, 114],
  nanosleep: [35, 101],
  getrandom: [318, 278],
  sched_getaffinity: [204, 123],
  sched_getscheduler: [145, 120],
  sched_getparam: [143, 121],
  sched_yield: [24, 124],
  set_tid_address: [218, 96],
  set_robust_list: [273, 99],
  rseq: [334, 293],
  arch_prctl: [158, null],
  exit: [60, 93],
  exit_group: [231, 94],
  // The launcher starts Node with this call, under this filter. The worker's root contains no other program.
  execve: [59, 221],
  // The first process of the namespace waits for the worker, under the same filter.
  wait4: [61, 260],
};

/** Calls that a worker makes only while it loads, and signals: without namespaces, it could send them to other processes. */
const LOADING: ReadonlySet<string> = new Set(['execve', 'wait4', 'open', 'openat', 'kill', 'tgkill']);

/** A system call that is allowed only where `argument & mask` is one of `values`. */
interface Guarded {
  readonly numbers: Numbers;
  readonly argument: number;
  readonly mask: number;
  readonly values: readonly number[];
}

const GUARDED: readonly Guarded[] = [
  // clone: threads (CLONE_THREAD), but no namespaces (CLONE_NEW…). clone3 has its flags in memory, where the filter cannot read
  // them; when clone3 does not exist, the C library uses clone.
  { numbers: [56, 220], argument: 0, mask: 0x7e03_0080, values: [0x0001_0000] },
  // ioctl: FIONBIO, FIOCLEX, TCGETS.
  { numbers: [16, 29], argument: 1, mask: 0xffff_ffff, values: [0x5421, 0x5451, 0x5401] },
  // fcntl: F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_DUPFD_CLOEXEC. F_SETOWN could have a signal sent to another process.
  { numbers: [72, 25], argument: 1, mask: 0xffff_ffff, values: [0, 1, 2, 3, 4, 1030] },
  // prlimit64: the limits of this process.
  { numbers: [302, 261], argument: 0, mask: 0xffff_ffff, values: [0] },
  // prctl: PR_SET_NAME, PR_GET_NAME, PR_CAPBSET_READ, PR_SET_VMA.
  { numbers: [157, 167], argument: 0, mask: 0xffff_ffff, values: [15, 16, 23, 0x5356_4d41] },
];

const ARCHITECTURES: ReadonlyMap<string, { readonly index: 0 | 1; readonly audit: number }> = new Map([
  ['x64', { index: 0, audit: 0xc000_003e }],
  ['arm64', { index: 1, audit: 0xc000_00b7 }],
]);

const LOAD = 0x20;
const AND = 0x54;
const JUMP_EQUAL = 0x15;
const JUMP_AT_LEAST = 0x35;
const RETURN = 0x06;
const ALLOW = 0x7fff_0000;
const KILL = 0x8000_0000;
const NO_SUCH_CALL = 0x0005_0000 | 38;
/** Offsets within `struct seccomp_data`; the low half of an argument comes first on both architectures. */
const AT_NUMBER = 0;
const AT_ARCHITECTURE = 4;
const atArgument = (index: number): number => 16 + 8 * index;
/** On x64, numbers from here on are the same calls with 32-bit pointers. */
const X32 = 0x4000_0000;

type Instruction = readonly [code: number, jumpTrue: number, jumpFalse: number, k: number];

/**
 * The filter in the kernel's format; null for an architecture that is not supported. A worker that `loads` under the filter needs more
 * calls than one that has loaded.
 */
export function seccompFilter(arch: string, loads: boolean): Uint8Array | null {
  const architecture = ARCHITECTURES.get(arch);
  if (architecture === undefined) return null;
  const { index, audit } = architecture;
  const program: Instruction[] = [
    [LOAD, 0, 0, AT_ARCHITECTURE],
    [JUMP_EQUAL, 1, 0, audit],
    [RETURN, 0, 0, KILL],
    [LOAD, 0, 0, AT_NUMBER],
    [JUMP_AT_LEAST, 0, 1, X32],
    [RETURN, 0, 0, KILL],
  ];
  for (const [name, numbers] of Object.entries(ALLOWED)) {
    const number = numbers[index];
    if (number !== null && (loads || !LOADING.has(name))) program.push([JUMP_EQUAL, 0, 1, number], [RETURN, 0, 0, ALLOW]);
  }
  for (const { numbers, argument, mask, values } of GUARDED) {
    const number = numbers[index];
    if (number === null) continue;
    const block: Instruction[] = [
      [LOAD, 0, 0, atArgument(argument)],
      [AND, 0, 0, mask],
      ...values.flatMap((value): Instruction[] => [
        [JUMP_EQUAL, 0, 1, value],
        [RETURN, 0, 0, ALLOW],
      ]),
      [RETURN, 0, 0, NO_SUCH_CALL],
    ];
    program.push([JUMP_EQUAL, 0, block.length, number], ...block);
  }
  program.push([RETURN, 0, 0, NO_SUCH_CALL]);
  return encode(program);
}

/** `struct sock_filter`, in the byte order of both architectures. */
function encode(program: readonly Instruction[]): Uint8Array {
  const bytes = new Uint8Array(8 * program.length);
  const view = new DataView(bytes.buffer);
  for (const [at, [code, jumpTrue, jumpFalse, k]] of program.entries()) {
    view.setUint16(8 * at, code, true);
    view.setUint8(8 * at + 2, jumpTrue);
    view.setUint8(8 * at + 3, jumpFalse);
    view.setUint32(8 * at + 4, k >>> 0, true);
  }
  return bytes;
}
