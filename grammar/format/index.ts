/** The formatter's face for other parts. */
export { type FormatResult, format } from './format.ts';
export { WIDTH } from './layout.ts';
