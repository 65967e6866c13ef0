/**
 * Sessions, turns, tokens, calls and errors as lines of text for a terminal. Entry point `neuroscript-runtime/report`.
 *
 * Whatever a program, a tool or an agent wrote is made printable: no control character of theirs reaches the terminal. Styles
 * come from the {@link Palette} of the caller.
 */

export * from '../report/public.ts';
