/** The folder of this package's package.json, with a slash at the end. */
export const PACKAGE = new URL('.', import.meta.resolve('#package'));
