/**
 * Sessions, turns, tokens, calls and errors as lines of text for a terminal. Entry point `neuroscript-runtime/report`.
 *
 * Whatever a program, a tool or an agent wrote is made printable: no control character of theirs reaches the terminal. Styles
 * come from the {@link Palette} of the caller.
 */
export { SYNTAX } from '../wire/findings.ts';
export { excerpt, renderDiagnostic, renderEnd, renderError, renderFinding, type SourceTexts } from '../wire/text/failure.ts';
export { grouped } from '../wire/text/grouped.ts';
export { type Palette, plainPalette } from '../wire/text/palette.ts';
export { clip, printable, printableLines } from '../wire/text/printable.ts';
export { amount, counted, quantity, UNIT_SIZES } from '../wire/text/units.ts';
export { timeText } from '../wire/time.ts';
export { renderCall } from './calls.ts';
export { explainPreview } from './foresee.ts';
export { explainGrant, grantHead, grantNotes, grantRows, type UsualByCall } from './grant.ts';
export { grantPage } from './grantpage.ts';
export { paragraph } from './layout.ts';
export { paletteFor } from './palette.ts';
export { previewPage } from './previewpage.ts';
export { explainActions, explainEnd, explainSession, explainTurn } from './session.ts';
export * from './summary.ts';
export { CHECKS, describeToken } from './tokens.ts';
export { explainV1End, explainV1Turn } from './v1.ts';
