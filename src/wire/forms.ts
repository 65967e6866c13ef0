/** The version of everything that is stored or sent as a file: records, exports, receipts, key files, previews. There is one so far. */
export const STORED_VERSION = 1;

/** Says that something stored has another version than this release reads, and what to do. */
export function otherVersion(what: string, version: unknown): string {
  const found = typeof version === 'number' ? `version ${version}` : 'no version';
  return `${what} has ${found}; this release of neuroscript-runtime reads version ${STORED_VERSION}. Use the release that wrote it`;
}
