/** What other parts may use of the formatter. */
export { type FormatResult, format } from './format.ts';
export { WIDTH } from './layout.ts';
