import { ToolError, type ToolRuntime } from '../src/tools/index.ts';
import { NS_CODES } from '../src/wire/codes.ts';

/** Names the owner of a stored value. It reads the context of the call, never its arguments. */
export type ScopeOf = (runtime: Pick<ToolRuntime, 'actor' | 'turn'>) => string;

/** The actor for whom the script runs, or the session if there is no actor. */
export const actorScope: ScopeOf = ({ actor, turn }) => (actor === null ? sessionScope({ actor, turn }) : `actor:${actor.id}`);

/** One scope for every user of the storage. */
export const globalScope: ScopeOf = () => 'global';

/** The session; its values end with it. Throws {@link ToolError} 19 outside a session. */
export const sessionScope: ScopeOf = ({ turn }) => {
  if (turn.sessionId !== null) return `session:${turn.sessionId}`;
  throw new ToolError(NS_CODES.PreconditionFailed, 'this tool stores values per session, and there is no session');
};
