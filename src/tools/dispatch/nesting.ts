import { AsyncLocalStorage } from 'node:async_hooks';

/** The call on whose behalf the current code runs. */
const current = new AsyncLocalStorage<{ open: boolean; readonly depth: number }>();

/** How many scripts wait, each within the other, for the call on whose behalf the current code runs; 0 outside of any call. */
export function callDepth(): number {
  const call = current.getStore();
  return call?.open === true ? call.depth : 0;
}

/** Does the work on behalf of a call: until the work is done, {@link callDepth} is `depth` in everything that the work starts. */
export async function onBehalfOfCall<T>(depth: number, work: () => Promise<T>): Promise<T> {
  const call = { open: true, depth };
  try {
    return await current.run(call, work);
  } finally {
    call.open = false;
  }
}
