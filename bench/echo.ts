// The other side of a bare pipe (see contexts.ts): for each pair of numbers from descriptor 3, the bytes to send and
// the bytes to wait for, one round trip, in blocking calls as a worker makes them. Node may start it as a module or as a script, as it does a worker.
const { readSync, writeSync } = process.getBuiltinModule('node:fs');

const FD = 3;
const order = new Uint8Array(12);
const buffer = new Uint8Array(64 * 1024);
const sleeper = new Int32Array(new SharedArrayBuffer(4));

function read(into: Uint8Array): number {
  for (;;) {
    try {
      return readSync(FD, into);
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) throw error;
      Atomics.wait(sleeper, 0, 0, 1);
    }
  }
}

function fill(into: Uint8Array): boolean {
  for (let held = 0; held < into.length; ) {
    const count = read(into.subarray(held));
    if (count === 0) return false;
    held += count;
  }
  return true;
}

while (fill(order)) {
  const view = new DataView(order.buffer);
  const [trips, asked, answered] = [view.getUint32(0), view.getUint32(4), view.getUint32(8)];
  const question = new Uint8Array(asked);
  for (let trip = 0; trip < trips; trip++) {
    writeSync(FD, question);
    for (let left = answered; left > 0; ) {
      const count = read(buffer.subarray(0, left));
      if (count === 0) process.exit(0);
      left -= count;
    }
  }
}
