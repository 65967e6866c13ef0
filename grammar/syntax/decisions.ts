import type { Decision } from './lookahead.ts';

/**
 * The decisions of the grammar. Null in the sources, where the parser analyses the grammar at the first parse, which takes 40 ms; the build puts
 * the result in place of this module (`scripts/build.mjs`).
 */
export const DECISIONS: readonly Decision[] | null = null;
