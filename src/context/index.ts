/** Host and turn contexts, and the stores of a root interpreter. The nonce of a turn is not exported here: see `nonce.ts`. */
export * from './host.ts';
export { LineReader, type LineSource } from './lines.ts';
export { KeyedMutex } from './mutex.ts';
export * from './stores/index.ts';
export * from './turn.ts';
