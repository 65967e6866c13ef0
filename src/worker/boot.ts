import { buildOf, type CacheOrder, NO_END, PROGRAM_MARK } from '../wire/codecache.ts';
import { setFlags } from './flags.ts';
import type { main } from './main.ts';
import { readFileSync, Script } from './node.ts';
import { descriptorPipe, FRAMES_FD } from './pipe.ts';

/**
 * What Node starts as a worker. The build appends the worker's own program (`main.ts`) as a comment, because Node gives no code cache to a
 * module, and a script can have one.
 */
function boot([, file = '', ...args]: readonly string[]): void {
  const order: CacheOrder = JSON.parse(args.at(-1) ?? '"none"');
  const text = readFileSync(file, 'latin1');
  const build = buildOf(text);
  const given = typeof order === 'object' ? order.sizes.map(received) : [];
  const caches = typeof order === 'object' && order.build === build ? given : [];
  const start = text.lastIndexOf(PROGRAM_MARK) + PROGRAM_MARK.length;
  const program = text.slice(start, text.lastIndexOf('\n*/')).replaceAll(NO_END, '*/');
  setFlags();
  const script = new Script(program, { filename: file, cachedData: caches[0] });
  const run: typeof main = script.runInThisContext();
  run(args, {
    build,
    sent: given.length > 0,
    caches,
    rejected: script.cachedDataRejected === true,
    make: order === 'make' ? script : null,
  });
}

/** The next bytes of the pipe. */
function received(size: number): Uint8Array<ArrayBuffer> {
  const pipe = descriptorPipe(FRAMES_FD);
  const bytes = new Uint8Array(size);
  for (let have = 0; have < size; ) {
    const more = pipe.read(bytes.subarray(have));
    if (more === 0) throw new Error('the host closed the pipe while it sent the code caches');
    have += more;
  }
  return bytes;
}

try {
  boot(process.argv);
  process.exit(0);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
  process.exit(70);
}
