// The process of the raw isolate (see peers.ts): each message is a script, each answer its value and its time in milliseconds.
import ivm from 'isolated-vm';

process.on('message', (script: unknown) => {
  const start = performance.now();
  const isolate = new ivm.Isolate({ memoryLimit: 64 });
  const context = isolate.createContextSync();
  const value: unknown = context.evalSync(String(script), { timeout: 10_000, copy: true });
  isolate.dispose();
  process.send?.({ value, ms: performance.now() - start });
});
process.send?.('ready');
