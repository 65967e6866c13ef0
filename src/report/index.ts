/**
 * Sessions, turns, tokens, calls and errors as lines of text for a terminal. Entry point `neuroscript-runtime/report`.
 *
 * Whatever a program, a tool or an agent wrote is made printable: no control character of theirs reaches the terminal. Styles
 * come from the {@link Palette} of the caller.
 */
export { SYNTAX } from '../wire/findings.ts';
export { timeText } from '../wire/time.ts';
export { renderCall } from './calls.ts';
export { excerpt, renderDiagnostic, renderError, renderFinding, type SourceTexts } from './errors.ts';
export { explainPreview } from './foresee.ts';
export { counted } from './layout.ts';
export { type Palette, paletteFor, plainPalette } from './palette.ts';
export { previewPage } from './previewpage.ts';
export { explainEnd, explainSession, explainTurn } from './session.ts';
export * from './summary.ts';
export { clip, printable, printableLines, wrap } from './text.ts';
export { CHECKS, describeToken, type TokenCheck } from './tokens.ts';
export { amount, grouped, quantity, UNIT_SIZES } from './units.ts';
export { explainV1End, explainV1Turn } from './v1.ts';
