/**
 * Sessions, turns, tokens, calls and errors as lines of text for a terminal. Entry point `neuroscript-runtime/report`.
 *
 * Whatever a program, a tool or an agent wrote is made printable: no control character of theirs reaches the terminal. Styles
 * come from the {@link Palette} of the caller.
 */

export { SYNTAX } from '../wire/findings.ts';
export { renderEnd } from '../wire/text/failure.ts';
export { grouped } from '../wire/text/grouped.ts';
export { clip } from '../wire/text/printable.ts';
export { amount, counted, quantity, UNIT_SIZES } from '../wire/text/units.ts';
export { timeText } from '../wire/time.ts';
export { grantHead, grantNotes, grantRows, type UsualByCall } from './grant.ts';
export { paragraph } from './layout.ts';
export * from './public.ts';
export { explainActions } from './session.ts';
export { inColumns, sessionLines, tallyText } from './summary.ts';
export { CHECKS } from './tokens.ts';
