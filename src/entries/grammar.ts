/**
 * The language: its syntax tree; parse, format, check, estimate and foresee sources. Entry point `neuroscript-runtime/grammar`.
 */

export * from '../../grammar/public.ts';
