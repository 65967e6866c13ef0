// The process of one peer: `child.mjs NAME`. Each message is `{ program, limits }`; each answer holds the value or the error, the elapsed
// milliseconds inside this process, and the longest time for which the event loop stood still, which is what a neighbour would have felt.
import { PEERS } from './engines.mjs';

const BEAT_MS = 2;
const evaluate = await PEERS[process.argv[2]].open();

process.on('message', async ({ program, limits }) => {
  let stall = 0;
  let last = performance.now();
  const beat = () => {
    const now = performance.now();
    stall = Math.max(stall, now - last - BEAT_MS);
    last = now;
  };
  const timer = limits.watch ? setInterval(beat, BEAT_MS) : undefined;
  const start = performance.now();
  let answer;
  try {
    const value = await evaluate(program, limits);
    answer = { value: typeof value === 'bigint' ? Number(value) : value, error: null };
  } catch (error) {
    const { name, code, message, exception } = error instanceof Error ? error : { name: typeof error, message: String(error) };
    // Monty has one class for all errors of a program and names the exception of Python beside it.
    const kind = code ?? exception?.typeName ?? null;
    answer = { error: { name, code: kind === null ? null : String(kind), message: String(message).slice(0, 200) } };
  }
  const ms = performance.now() - start;
  if (limits.watch) beat();
  clearInterval(timer);
  process.send?.({ ...answer, ms, stall });
});
process.on('disconnect', () => process.exit(0));
process.send?.('ready');
