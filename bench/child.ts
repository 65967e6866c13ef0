// The process of a raw isolate (see rawprocess.ts). It runs a script in a new isolate or in one that is kept, and answers with the value, the
// elapsed milliseconds, the making and disposal of a new isolate included, and those of CPU time in it; or it sleeps.
import { readSync, writeSync } from 'node:fs';
import ivm from 'isolated-vm';
import { CALLS_FD, type RawOrder, type RawScript } from './rawprocess.ts';

/** An isolate that was made before it is needed. */
let spare: Made | null = null;
/** Isolates that are kept, by what was evaluated in them first. */
const keptIsolates = new Map<string, Made>();

process.on('message', async (order: RawOrder) => {
  if ('sleepMs' in order) setTimeout(() => process.send?.('slept'), order.sleepMs);
  else {
    const { source, ahead = false } = order;
    process.send?.(evaluated(order, source === undefined ? null : await parsed(source)));
    if (ahead) spare ??= made();
  }
});
process.send?.('ready');

interface Made {
  readonly isolate: ivm.Isolate;
  readonly context: ivm.Context;
}

function made(): Made {
  const isolate = new ivm.Isolate({ memoryLimit: 64 });
  return { isolate, context: isolate.createContextSync() };
}

function evaluated({ script, timeoutMs, kept, ahead = false }: RawScript, tree: string | null): object {
  const start = performance.now();
  const { isolate, context } = kept === undefined ? newOne() : keptFor(kept);
  const cpuTime = Number(isolate.cpuTime);
  if (tree !== null) {
    context.global.setSync('tree', tree);
    context.global.setSync('host', new ivm.Callback(askHost));
  }
  const value = valueIn(context, script, timeoutMs);
  const usedMs = (Number(isolate.cpuTime) - cpuTime) / 1e6;
  if (kept === undefined && ahead) setImmediate(() => isolate.dispose());
  else if (kept === undefined) isolate.dispose();
  return { value, ms: performance.now() - start, usedMs };
}

function newOne(): Made {
  const taken = spare ?? made();
  spare = null;
  return taken;
}

function keptFor(first: string): Made {
  const known = keptIsolates.get(first);
  if (known !== undefined) return known;
  const fresh = made();
  fresh.context.evalSync(first);
  keptIsolates.set(first, fresh);
  return fresh;
}

/** What a script gives; its error as a text. */
function valueIn(context: ivm.Context, script: string, timeout: number): unknown {
  try {
    return context.evalSync(script, { timeout, copy: true });
  } catch (error) {
    return String(error);
  }
}

/** The JSON of the first command block. The parser is loaded only here: others measure how soon this process starts. */
async function parsed(source: string): Promise<string> {
  const { parse } = await import('../src/entries/grammar.ts');
  const result = parse(source, { name: 'src' });
  return result.ok ? JSON.stringify(result.file.commands[0]?.body) : '';
}

const answer = new Uint8Array(1024);

/** Sends a text to the host and waits for the same text. */
function askHost(text: string): string {
  writeSync(CALLS_FD, text);
  return new TextDecoder().decode(answer.subarray(0, readSync(CALLS_FD, answer)));
}
