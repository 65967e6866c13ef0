// A worker that has been taken over, or was built wrong. It follows the plan in its "guest" file; if there is no plan, each job
// says what to do: `globals.steps`, or the text of the first source. A run without steps gets an honest answer.
// An `import` of a built-in module loads all that it refers to: a fifth of the CPU time of its start. See `src/worker/node.ts`.
const { readFileSync, readSync, writeSync } = process.getBuiltinModule('node:fs');
const children = () => process.getBuiltinModule('node:child_process');

const frame = (value) => {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const bytes = Buffer.from(text);
  const head = Buffer.alloc(4);
  head.writeUInt32BE(bytes.length);
  return Buffer.concat([head, bytes]);
};
const closed = 'fs.read fs.write child worker addon wasi inspector net ffi'.split(' ');
const hello = { t: 'hello', version: 1, pid: process.pid, node: process.version, dropped: closed };
const planOf = (text) => {
  try {
    return JSON.parse(text);
  } catch {
    return { jobs: true };
  }
};
const planFile = readFileSync(process.argv[2]);
const plan = planOf(planFile.toString());
/** A module of native code in place of the plan. It is loaded now, because a worker that has begun can open nothing. */
const native = { exports: {} };
if (planFile.indexOf('\x7fELF') === 0) process.dlopen(native, process.argv[2]);
const grown = [];
const usage = { fuel: 1, cpuMs: 1, wallMs: 1, peakMemoryBytes: 1, toolCalls: 0, outputBytes: 0 };
const honest = (value) => [
  { frame: { t: 'started', id: 0 } },
  {
    frame: {
      t: 'result',
      id: 0,
      result: { ok: true, phase: 'exec', result: value, eventErrors: [], error: null, ...usage },
      usage,
      errors: [],
      last: false,
    },
  },
];

const write = (bytes) => {
  for (let done = 0; done < bytes.length; ) {
    try {
      done += writeSync(3, bytes, done);
    } catch (error) {
      if (error.code !== 'EAGAIN') process.exit(70);
    }
  }
};
const send = (step) => {
  if (step.grow) grown.push(Buffer.alloc(step.grow, 1));
  // Reading memory that was never written takes a page table of 4 KB for each 2 MB, and no resident memory.
  for (let n = 0; n < (step.tables ?? 0) / 8; n++) {
    const room = new Uint8Array(2 ** 32);
    for (let at = 0; at < room.length; at += 2 ** 21) step.sum = (step.sum ?? 0) + room[at];
    grown.push(room);
  }
  if (step.native) native.exports(...step.native);
  if (step.threads) {
    // Node starts all threads of its pool for the first work; then each computes.
    process.env.UV_THREADPOOL_SIZE = step.threads;
    for (let n = 0; n < step.threads; n++)
      process.getBuiltinModule('node:crypto').pbkdf2('x', 'x', step.iterations ?? 1, 64, 'sha512', () => {});
  }
  if (step.compute) for (const end = performance.now() + step.compute; performance.now() < end; );
  if (step.spawn)
    children().spawn(process.execPath, ['-e', 'process.stdin.on("end", () => {}).resume()'], {
      stdio: ['inherit', 'ignore', 'ignore'],
    });
  if (step.orphan) children().spawnSync('/bin/sh', ['-c', 'sleep 600 >/dev/null 2>&1 &']);
  if (step.daemon) children().spawnSync('/bin/sh', ['-c', `setsid sleep ${step.daemon} >/dev/null 2>&1 &`]);
  if (step.piece) write(step.piece);
  if (step.bytes) write(Buffer.from(step.bytes, 'hex'));
  for (let n = 1; step.frame && n <= (step.times ?? 1); n++) {
    write(frame(filled(step, n)));
    if (step.read && plan.jobs) heard();
  }
  if (step.exit !== undefined) process.exit(step.exit);
  if (step.signal) process.kill(process.pid, step.signal);
  if (step.stderr) writeSync(2, step.stderr);
  if (step.read && !plan.jobs) read();
  if (step.sleep) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, step.sleep);
  if (step.spin) for (;;);
};
/** The frame of a step, with `$fill` and `$n` in it replaced. */
const filled = ({ frame: value, fill }, n) => {
  if (fill === undefined && !JSON.stringify(value).includes('$n')) return value;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.replaceAll('"$n"', n).replaceAll('$fill', fill === undefined ? '' : fill[0].repeat(fill[1]));
};
const answering = (value, id, always) => {
  if (Array.isArray(value)) return value.map((each) => answering(each, id, always));
  if (value?.id === 'next') return { ...value, id: id + 1 };
  return value?.id === undefined || !(always || value.id === 0) ? value : { ...value, id };
};
/** The steps with the id of the run that they answer. */
const echoed = (steps, id, always) =>
  steps.map((step) => (step.frame === undefined ? step : { ...step, frame: answering(step.frame, id, always) }));
/** What is written without a pause between goes out in one piece: the host must not answer the first half before the second. */
function joined(steps) {
  const pieces = [];
  for (const step of steps) {
    const alone = Object.keys(step).length === 1;
    const bytes = alone && step.bytes ? Buffer.from(step.bytes, 'hex') : alone && step.frame ? frame(step.frame) : null;
    const last = pieces.at(-1);
    if (bytes === null) pieces.push(step);
    else if (last?.piece) last.piece = Buffer.concat([last.piece, bytes]);
    else pieces.push({ piece: bytes });
  }
  return pieces;
}

const input = Buffer.alloc(65536);
let held = Buffer.alloc(0);
/** The next bytes of the host; exits when the host is gone. */
function read() {
  const count = readSync(3, input);
  if (count === 0) process.exit(0);
  return input.subarray(0, count);
}
const SILENT = new Set(['prepare', 'tidy', 'keep', 'drop']);
/** The next frame of the host that wants an answer or is one. */
function heard() {
  for (;;) {
    while (held.length < 4 || held.length < 4 + held.readUInt32BE()) held = Buffer.concat([held, read()]);
    const end = 4 + held.readUInt32BE();
    const said = JSON.parse(held.toString('utf8', 4, end));
    held = held.subarray(end);
    if (!SILENT.has(said.t)) return said;
  }
}
/** What to do about a job. A run that names a value and no steps is answered with the value. */
function deed(job) {
  if (job.t === 'run') {
    const { steps, value } = job.input.globals;
    return steps ?? honest(value ?? null);
  }
  return JSON.parse((job.source ?? job.sources[0]).text);
}

for (const step of plan.before ?? []) send(step);
if (plan.hello !== false) write(frame({ ...hello, ...plan.hello }));
for (const step of plan.after ?? []) send(step);
while (plan.jobs) {
  const job = heard();
  for (const step of joined(echoed(deed(job), job.id, false))) send(step);
}
for (;;) {
  const text = read().toString('utf8');
  const id = /"t":"run","id":(\d+)/.exec(text)?.[1];
  const steps = plan.echo ? (id === undefined ? [] : echoed(plan.run ?? [], Number(id), true)) : (plan.run ?? []);
  for (const step of joined(steps)) send(step);
}
