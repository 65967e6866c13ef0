// The process of a raw isolate (see rawprocess.ts). It runs a script in a new isolate, and answers with the value, the elapsed milliseconds
// from making the isolate to its disposal, and those of CPU time in it; or it sleeps.
import ivm from 'isolated-vm';
import type { RawOrder } from './rawprocess.ts';

process.on('message', (order: RawOrder) => {
  if ('sleepMs' in order) setTimeout(() => process.send?.('slept'), order.sleepMs);
  else process.send?.(evaluated(order.script, order.timeoutMs));
});
process.send?.('ready');

function evaluated(script: string, timeout: number): object {
  const start = performance.now();
  const isolate = new ivm.Isolate({ memoryLimit: 64 });
  const value = valueIn(isolate.createContextSync(), script, timeout);
  const usedMs = Number(isolate.cpuTime) / 1e6;
  isolate.dispose();
  return { value, ms: performance.now() - start, usedMs };
}

/** What a script gives; its error as a text. */
function valueIn(context: ivm.Context, script: string, timeout: number): unknown {
  try {
    return context.evalSync(script, { timeout, copy: true });
  } catch (error) {
    return String(error);
  }
}
