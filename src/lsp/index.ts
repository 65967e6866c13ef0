/** The language server: what an editor shows of NeuroScript programs. */
export { serveLanguage } from './server.ts';
export type { Tooling } from './workspace.ts';
