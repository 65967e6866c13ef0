/** The inspector: what its server answers, and the server. */
export type * from './views.ts';
