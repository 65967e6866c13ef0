/** The formatter, as other parts may use it. */
export { type FormatResult, format } from './format.ts';
