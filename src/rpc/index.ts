/** The runtime over JSON-RPC 2.0, for programs in other languages: one message a line. */
export { paramForms } from './forms.ts';
export type { ServiceHost } from './service.ts';
export { refusalOf, serveClient } from './service.ts';
