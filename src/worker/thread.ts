import type { MessagePort } from 'node:worker_threads';
import { parse } from '../../grammar/index.ts';
import { type BytePipe, FramePipe } from '../wire/frames.ts';
import { PROTOCOL_VERSION, type WorkerFrame } from '../wire/protocol.ts';
import type { GuestPorts, Image, Prepared } from './image.ts';
import { readFileSync, Script } from './node.ts';
import { Parser } from './parser.ts';
import { PART_NAMES, type PartName, scriptsIn } from './parts.ts';
import { Server } from './server.ts';

/** What the host gives to a thread that it starts as a worker. */
export interface ThreadStart {
  readonly guest: string;
  readonly port: MessagePort;
  /** Counts what the host has sent; the thread sleeps on it. */
  readonly sent: Int32Array;
}

/** The interpreter's `boot`, as its bundle declares it. */
type GuestBoot = (...ports: readonly [GuestPorts['clock'], GuestPorts['host'], GuestPorts['tree']]) => GuestRun;
type GuestRun = (input: string, ...loads: (LoadPart | undefined)[]) => string;
/** Takes what the interpreter gives to its parts, and returns what one exports. */
type LoadPart = (kit: unknown) => unknown;

/**
 * The interpreter in the realm of this thread. Nothing but the interpreter keeps a program within its limits, and the heap has no limit of
 * its own: for programs of tests.
 */
class ThreadImage implements Image {
  readonly #boot: GuestBoot;
  readonly #parts: ReadonlyMap<PartName, LoadPart>;
  readonly #ports: GuestPorts;

  constructor(guestFile: string, ports: GuestPorts) {
    const { own, parts } = scriptsIn(readFileSync(guestFile, 'utf8'));
    this.#boot = evaluated(`(() => {${own}\n;return (...ports) => guest.boot(...ports, guest.kit); })()`, guestFile);
    this.#parts = new Map([...parts].map(([name, text]) => [name, evaluated<LoadPart>(text, guestFile)]));
    this.#ports = ports;
  }

  prepare(): Prepared {
    const ports = this.#ports;
    const run = this.#boot(
      (measured) => ports.clock(measured === true),
      (frame, follows) => ports.host(frame, follows === true),
      (file, part) => ports.tree(file, part),
    );
    const loaded = new Set<PartName>();
    return {
      get cpuMs() {
        const { user, system } = process.threadCpuUsage();
        return (user + system) / 1e3;
      },
      heapBytes: 0,
      lost: false,
      load: (names) => {
        for (const name of names) loaded.add(name);
      },
      run: (input) => run(input, ...PART_NAMES.map((name) => (loaded.has(name) ? this.#parts.get(name) : undefined))),
      dispose: () => {},
    };
  }
}

function evaluated<T>(text: string, filename: string): T {
  return new Script(text, { filename }).runInThisContext();
}

/** The port as a blocking pipe. */
function portPipe(port: MessagePort, sent: Int32Array): BytePipe {
  const { receiveMessageOnPort } = process.getBuiltinModule('node:worker_threads');
  let bytes = new Uint8Array(0);
  const next = (): Uint8Array<ArrayBuffer> => {
    for (;;) {
      // Read before the port, so that what comes in between wakes the thread at once.
      const before = Atomics.load(sent, 0);
      const received: { message: Uint8Array<ArrayBuffer> } | undefined = receiveMessageOnPort(port);
      if (received !== undefined) return received.message;
      Atomics.wait(sent, 0, before);
    }
  };
  return {
    read: (into) => {
      if (bytes.length === 0) bytes = next();
      const part = bytes.subarray(0, into.length);
      into.set(part);
      bytes = bytes.subarray(part.length);
      return part.length;
    },
    write: (part) => {
      const copy = new Uint8Array(part);
      port.postMessage(copy, [copy.buffer]);
      return part.length;
    },
  };
}

/** Answers the frames of the host, as `main` of a process does. Ends when the host ends the thread. */
export function serve(): void {
  const { guest, port, sent }: ThreadStart = process.getBuiltinModule('node:worker_threads').workerData;
  const end = (): never => process.exit(0);
  const server = new Server(new Parser(parse), { isHostGone: () => false, end }, null);
  server.prepare(new ThreadImage(guest, server), 0);
  const pipe = new FramePipe(portPipe(port, sent));
  const hello = { t: 'hello', version: PROTOCOL_VERSION, pid: process.pid, node: process.version, dropped: [] } as const;
  pipe.write(JSON.stringify(hello satisfies WorkerFrame));
  server.serve(pipe);
  port.close();
}
