/** The inspector: a server on this machine whose page shows sessions, turns, trials and the log, and the same as one file. */
export { type Assets, readAssets } from './assets.ts';
export { type Answers, Inspector } from './inspector.ts';
export { fileLog, storedLog } from './log.ts';
export type * from './logviews.ts';
export { RequestError } from './request.ts';
export { serveUi } from './server.ts';
export { FILE_SIZES, snapshotHtml } from './snapshot.ts';
export type * from './trialviews.ts';
export type * from './views.ts';
