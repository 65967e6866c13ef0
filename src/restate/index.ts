/**
 * Sessions that Restate drives. Entry point `neuroscript-runtime/restate`.
 */
export type { SessionDriver, SessionReport } from './handlers.ts';
export type { SessionObject } from './sdk.ts';
export { type RestateOptions, restateSessions } from './sessions.ts';
