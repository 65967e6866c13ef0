import { ToolError, type ToolRuntime } from '../src/tools/index.ts';
import { NS_CODES } from '../src/wire/codes.ts';

/** To whom a stored value belongs; from the context of the call, never from its arguments. */
export type ScopeOf = (runtime: Pick<ToolRuntime, 'actor' | 'turn'>) => string;

/** The actor on whose behalf the script runs; without one, the session. */
export const actorScope: ScopeOf = ({ actor, turn }) => (actor === null ? sessionScope({ actor, turn }) : `actor:${actor.id}`);

/** One memory for all who use the storage. */
export const globalScope: ScopeOf = () => 'global';

/** The session: what is kept ends with it. Throws {@link ToolError} 19 outside of any session. */
export const sessionScope: ScopeOf = ({ turn }) => {
  if (turn.sessionId !== null) return `session:${turn.sessionId}`;
  throw new ToolError(NS_CODES.PreconditionFailed, 'this tool keeps values by session, and there is no session here');
};
