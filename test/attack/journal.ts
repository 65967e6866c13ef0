/** What the child process of the journal test has measured, in bytes. */
export interface HeapReport {
  /** JSON of the arguments and results of one run. */
  readonly jsonBytes: number;
  /** Growth of the host while the result of one such run is kept. */
  readonly ofRun: number;
  /** Growth of the host from the third turn to the end of a session of ten such turns. */
  readonly ofSession: number;
}
