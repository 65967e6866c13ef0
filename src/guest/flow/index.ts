/** What only a run under flow rules needs. This module becomes a script of its own; see `worker/parts.ts`. */
export { FLOW_COMPILERS } from './compilers.ts';
export { Flow } from './flow.ts';
export { UnlabelledForm } from './unlabelled.ts';
