// A worker of hostile JavaScript: it greets with what it captured while it loaded, and at the first job does the deed of its plan.
// Exit code 71 says that it worked.
import { readFileSync, readSync, writeSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';

const plan = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const dropped = 'fs.read fs.write child worker addon wasi inspector net ffi'.split(' ');
const text = Buffer.from(JSON.stringify({ t: 'hello', version: 1, pid: process.pid, node: process.version, dropped }));
const head = Buffer.alloc(4);
head.writeUInt32BE(text.length);
writeSync(3, Buffer.concat([head, text]));
readSync(3, Buffer.alloc(65536));

if (plan.deed === 'read a file') {
  try {
    readFileSync(process.argv[1]);
  } catch {
    process.exit(70);
  }
  process.exit(71);
}
// The permission model does not know the files that V8 writes.
for (const flag of [`--redirect-code-traces-to=${plan.traces}`, '--redirect-code-traces', '--trace-opt', '--trace-deopt'])
  setFlagsFromString(flag);
const add = (a, b) => a + b;
for (let i = 0; i < 1e6; i++) add(i, 1);
add('a', 'b');
process.exit(70);
