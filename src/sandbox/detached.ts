import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * Runs a function in nobody's asynchronous context. What lives longer than the run for which it is made, a worker with its pipe
 * above all, would otherwise hold what its maker's `AsyncLocalStorage` holds for as long as it lives, and show it to all
 * that is called from there.
 */
export const outside: <T>(action: () => T) => T = AsyncLocalStorage.snapshot();
