import type { Sandbox } from '../sandbox/index.ts';

/** What the runtime needs of a sandbox; tests bring one that needs no worker. */
export type SandboxPort = Pick<Sandbox, 'run' | 'parse' | 'check' | 'format' | 'close'>;
