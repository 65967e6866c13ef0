/**
 * A shared library (ELF, x64) that filters the system calls of the process that loads it. Node 24 has no other way to make a system call:
 * its workers load the library as an addon, which runs `DT_INIT`. The library has no symbol that Node could call, so the load itself
 * fails afterwards.
 */

const HEADER_BYTES = 64;
const SEGMENT_BYTES = 56;
const SEGMENTS = 4;
/** No symbol but the empty one, as `Elf64_Sym`. */
const SYMBOL_BYTES = 24;
/** One bucket, one chain, both empty. */
const HASH = [1, 1, 0, 0];
/** Distance of the addresses of the two segments: a multiple of the page size of any system. */
const ALIGNMENT = 0x1_0000;

const [EXECUTE, WRITE, READ] = [1, 2, 4];
const [PT_LOAD, PT_DYNAMIC, PT_GNU_STACK] = [1, 2, 0x6474_e551];
const [DT_NULL, DT_HASH, DT_STRTAB, DT_SYMTAB, DT_STRSZ, DT_SYMENT, DT_INIT] = [0, 4, 5, 6, 10, 11, 12];

/** `prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)`. Without it the kernel accepts filters only from privileged processes. */
const NO_NEW_RIGHTS = [
  ...[0xb8, 157, 0, 0, 0], // mov eax, 157
  ...[0xbf, 38, 0, 0, 0], // mov edi, 38
  ...[0xbe, 1, 0, 0, 0], // mov esi, 1
  ...[0x31, 0xd2], // xor edx, edx
  ...[0x45, 0x31, 0xd2], // xor r10d, r10d
  ...[0x45, 0x31, 0xc0], // xor r8d, r8d
  ...[0x0f, 0x05], // syscall
];

/**
 * `seccomp(SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program)`, for all threads. `struct sock_fprog` stands on the stack: the
 * number of instructions and the address of the filter, which follows this code.
 */
function setFilter(instructions: number): readonly number[] {
  const rest = [
    ...[0x50], // push rax
    ...[0x68, instructions & 0xff, instructions >> 8, 0, 0], // push instructions
    ...[0x48, 0x89, 0xe2], // mov rdx, rsp
    ...[0xb8, 0x3d, 1, 0, 0], // mov eax, 317
    ...[0xbf, 1, 0, 0, 0], // mov edi, 1
    ...[0xbe, 1, 0, 0, 0], // mov esi, 1
    ...[0x0f, 0x05], // syscall
    ...[0x48, 0x83, 0xc4, 16], // add rsp, 16
    ...[0xc3], // ret
  ];
  // lea rax, [rip + rest]: the address behind the code
  return [...[0x48, 0x8d, 0x05, rest.length, 0, 0, 0], ...rest];
}

/** The bytes of the library for a filter in the kernel's format, see `seccompFilter`. */
export function filterLibrary(filter: Uint8Array): Uint8Array {
  const code = [...NO_NEW_RIGHTS, ...setFilter(filter.length / 8)];
  const hashAt = HEADER_BYTES + SEGMENTS * SEGMENT_BYTES;
  const symbolsAt = hashAt + 4 * HASH.length;
  const textsAt = symbolsAt + SYMBOL_BYTES;
  const codeAt = textsAt + 8;
  const codeEnd = codeAt + code.length + filter.length;
  const tableAt = Math.ceil(codeEnd / 8) * 8;
  const table = [
    ...[DT_HASH, hashAt, DT_STRTAB, textsAt, DT_SYMTAB, symbolsAt, DT_STRSZ, 1, DT_SYMENT, SYMBOL_BYTES, DT_INIT, codeAt],
    ...[DT_NULL, 0],
  ];
  const tableBytes = 8 * table.length;
  const bytes = new Uint8Array(tableAt + tableBytes);
  const view = new DataView(bytes.buffer);

  // Class 64, little-endian, version 1; a shared object for x64 with headers of segments and none of sections.
  bytes.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]);
  for (const [at, value] of [
    [16, 3],
    [18, 62],
    [20, 1],
    [52, HEADER_BYTES],
    [54, SEGMENT_BYTES],
    [56, SEGMENTS],
    [58, 64],
  ] as const)
    view.setUint16(at, value, true);
  view.setUint8(32, HEADER_BYTES);

  let segment = HEADER_BYTES;
  const put = (type: number, rights: number, at: number, address: number, length: number, alignment: number): void => {
    view.setUint32(segment, type, true);
    view.setUint32(segment + 4, rights, true);
    for (const [index, value] of [at, address, address, length, length, alignment].entries())
      view.setBigUint64(segment + 8 + 8 * index, BigInt(value), true);
    segment += SEGMENT_BYTES;
  };
  put(PT_LOAD, READ | EXECUTE, 0, 0, codeEnd, ALIGNMENT);
  // Loaders write addresses into the table, so it is mapped a second time, writable and not executable.
  put(PT_LOAD, READ | WRITE, tableAt, ALIGNMENT + tableAt, tableBytes, ALIGNMENT);
  put(PT_DYNAMIC, READ | WRITE, tableAt, ALIGNMENT + tableAt, tableBytes, 8);
  // Without it, loaders make all stacks executable.
  put(PT_GNU_STACK, READ | WRITE, 0, 0, 0, 16);

  for (const [index, value] of HASH.entries()) view.setUint32(hashAt + 4 * index, value, true);
  bytes.set(code, codeAt);
  bytes.set(filter, codeAt + code.length);
  for (const [index, value] of table.entries()) view.setBigUint64(tableAt + 8 * index, BigInt(value), true);
  return bytes;
}
