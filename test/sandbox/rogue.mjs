// A worker that has been taken over, or was built wrong: it writes the bytes that its "guest" file asks for.
import { spawn } from 'node:child_process';
import { readFileSync, readSync, writeSync } from 'node:fs';

const frame = (value) => {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const bytes = Buffer.from(text);
  const head = Buffer.alloc(4);
  head.writeUInt32BE(bytes.length);
  return Buffer.concat([head, bytes]);
};
const closed = 'fs.read fs.write child worker addon wasi inspector net ffi'.split(' ');
const hello = { t: 'hello', version: 1, pid: process.pid, node: process.version, dropped: closed };
const plan = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const grown = [];
const send = (step) => {
  if (step.grow) grown.push(Buffer.alloc(step.grow, 1));
  if (step.compute) for (const end = performance.now() + step.compute; performance.now() < end; );
  if (step.spawn)
    spawn(process.execPath, ['-e', 'process.stdin.on("end", () => {}).resume()'], { stdio: ['inherit', 'ignore', 'ignore'] });
  if (step.piece) writeSync(3, step.piece);
  if (step.bytes) writeSync(3, Buffer.from(step.bytes, 'hex'));
  if (step.frame) writeSync(3, frame(step.frame));
  if (step.exit !== undefined) process.exit(step.exit);
  if (step.signal) process.kill(process.pid, step.signal);
  if (step.stderr) writeSync(2, step.stderr);
  if (step.read) readSync(3, Buffer.alloc(65536));
  if (step.sleep) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, step.sleep);
};
/** The steps with the id of the run that they answer. */
const echoed = (steps, id) =>
  steps.map((step) => (step.frame?.id === undefined ? step : { ...step, frame: { ...step.frame, id } }));
/** What is written without a pause between goes out in one piece: the host must not answer the first half before the second. */
function joined(steps) {
  const pieces = [];
  for (const step of steps) {
    const bytes = step.bytes ? Buffer.from(step.bytes, 'hex') : step.frame === undefined ? null : frame(step.frame);
    const last = pieces.at(-1);
    if (bytes === null) pieces.push(step);
    else if (last?.piece) last.piece = Buffer.concat([last.piece, bytes]);
    else pieces.push({ piece: bytes });
  }
  return pieces;
}

for (const step of plan.before ?? []) send(step);
if (plan.hello !== false) writeSync(3, frame({ ...hello, ...plan.hello }));
for (const step of plan.after ?? []) send(step);
const input = Buffer.alloc(65536);
for (let read = readSync(3, input); read > 0; read = readSync(3, input)) {
  const id = /"t":"run","id":(\d+)/.exec(input.toString('utf8', 0, read))?.[1];
  const steps = plan.echo ? (id === undefined ? [] : echoed(plan.run ?? [], Number(id))) : (plan.run ?? []);
  for (const step of joined(steps)) send(step);
}
