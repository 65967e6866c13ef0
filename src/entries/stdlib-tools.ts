/**
 * The standard tools, one factory per group. A factory takes the storage or the rule that its tools use. Entry point
 * `neuroscript-runtime/stdlib-tools`.
 */

export * from '../../stdlib-tools/public.ts';
