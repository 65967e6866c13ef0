/** Labels of what a session has read and was given. */
export interface SessionOrigins {
  /** Of OUTPUT and SCRATCHPAD so far, and of what the agent was told of failed attempts. */
  readonly read: readonly string[];
  /** Of all parts of USERDATA, for a session that an `ask` opened. */
  readonly userdata: readonly string[];
}
