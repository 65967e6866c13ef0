import { errorOf } from './unknown.ts';

/**
 * Calls a callback of the application, synchronous or asynchronous. `failed` receives what it throws or rejects with, as an error; a
 * rejection may come later than the return. Never throws, as long as `failed` does not.
 */
export function callBack(callback: () => unknown, failed: (error: Error) => void): void {
  try {
    const returned = callback();
    if (isThenable(returned)) returned.then(undefined, (thrown: unknown) => failed(errorOf(thrown)));
  } catch (thrown) {
    failed(errorOf(thrown));
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}
