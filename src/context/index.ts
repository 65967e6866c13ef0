/** What other parts may use of the contexts. The nonce is deliberately not here: see `nonce.ts`. */
export {
  type Actor,
  createHostContext,
  type HostContext,
  type HostContextInit,
  isHostContext,
  type Logger,
  SILENT_LOGGER,
  type TextSink,
} from './host.ts';
export { LineReader, type LineSource } from './lines.ts';
export { currentTurn, DeadlineError, TurnClosedError, type TurnContext, type TurnInit, turnStorage } from './turn.ts';
