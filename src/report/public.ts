/** What users of the package may import of the report. */

export { excerpt, renderDiagnostic, renderError, renderFinding, type SourceTexts } from '../wire/text/failure.ts';
export { type Palette, plainPalette } from '../wire/text/palette.ts';
export { printable, printableLines } from '../wire/text/printable.ts';
export { renderCall } from './calls.ts';
export { explainPreview } from './foresee.ts';
export { explainGrant } from './grant.ts';
export { grantPage } from './grantpage.ts';
export { paletteFor } from './palette.ts';
export { previewPage } from './previewpage.ts';
export { explainEnd, explainSession, explainTurn } from './session.ts';
export { type SessionLine, sessionLine, turnLine } from './summary.ts';
export { describeToken } from './tokens.ts';
export { explainV1End, explainV1Turn } from './v1.ts';
