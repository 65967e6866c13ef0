import { buildOf, type CacheOrder, NO_END, PROGRAM_MARK, THREAD } from '../wire/codecache.ts';
import { setFlags } from './flags.ts';
import { readFileSync, Script } from './node.ts';
import { descriptorPipe, FRAMES_FD } from './pipe.ts';
import type * as Program from './program.ts';

/**
 * What Node starts as a worker, a process or a thread. The build appends the worker's own program (`program.ts`) as a comment, because Node
 * gives no code cache to a module, and a script can have one.
 */
function boot([, file = '', ...args]: readonly string[]): void {
  if (args[0] === THREAD) {
    const { serve }: typeof Program = new Script(programIn(readFileSync(file, 'latin1')), { filename: file }).runInThisContext();
    serve();
    return;
  }
  const order: CacheOrder = JSON.parse(args.at(-1) ?? '"none"');
  const text = readFileSync(file, 'latin1');
  const build = buildOf(text);
  const given = typeof order === 'object' ? order.sizes.map(received) : [];
  const caches = typeof order === 'object' && order.build === build ? given : [];
  setFlags();
  const script = new Script(programIn(text), { filename: file, cachedData: caches[0] });
  const { main }: typeof Program = script.runInThisContext();
  main(args, {
    build,
    sent: given.length > 0,
    caches,
    rejected: script.cachedDataRejected === true,
    make: order === 'make' ? script : null,
  });
}

function programIn(text: string): string {
  const start = text.lastIndexOf(PROGRAM_MARK) + PROGRAM_MARK.length;
  return text.slice(start, text.lastIndexOf('\n*/')).replaceAll(NO_END, '*/');
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
