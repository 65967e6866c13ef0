import { ATTR, type Attributes, codeOf, fail, OWN, type Span, type SpanInit, type Telemetry } from '../telemetry/index.ts';
import { type Agent, AgentError } from './agents/index.ts';
import type { HaltReason } from './record/decision.ts';
import type { TurnRecord } from './record/record.ts';
import { SuspendedError } from './record/suspension.ts';

/** Reports the progress of a session to its span. */
export interface SessionSpan {
  /** A turn of the session was decided. */
  decided(record: TurnRecord): void;
  /** The session ended with HALT between two turns, or waits for a call. */
  stopped(reason: HaltReason | 'ERR_SUSPENDED'): void;
}

/**
 * Drives a session in a span, which the conventions call an invocation of the agent: it lasts from the first prompt until the agent is
 * done. Its tokens are those of this call.
 */
export async function withSessionSpan<T>(
  telemetry: Telemetry,
  sid: string,
  agent: Agent,
  work: (session: SessionSpan) => Promise<T>,
): Promise<T> {
  const who = agentAttributes(agent);
  const attributes = { ...who, [ATTR.conversation]: sid };
  const name = agent.name === undefined ? 'invoke_agent' : `invoke_agent ${agent.name}`;
  const begun = performance.now();
  let failure: string | null = null;
  const errorType = (error: unknown): string => reasonOf(error) ?? '_OTHER';
  try {
    return await telemetry.span({ name, attributes, errorType }, async (span) => {
      const total = { input: 0, output: 0 };
      const stopped = (reason: HaltReason | 'ERR_SUSPENDED'): void => {
        if (reason === 'ERR_SUSPENDED') {
          span.setAttribute(OWN.suspended, true);
          return;
        }
        span.setAttribute(OWN.decision, 'HALT');
        failure = reason;
        fail(span, reason);
      };
      return await work({
        decided({ turn, decision, reason, agent: use }) {
          total.input += use?.inputTokens ?? 0;
          total.output += use?.outputTokens ?? 0;
          span.setAttributes({ [OWN.turn]: turn, [OWN.decision]: decision, ...tokens(total.input, total.output) });
          if (reason !== null) stopped(reason);
        },
        stopped,
      });
    });
  } catch (error) {
    failure = errorType(error);
    throw error;
  } finally {
    telemetry.record('gen_ai.invoke_agent.duration', (performance.now() - begun) / 1000, {
      ...who,
      [ATTR.errorType]: failure ?? undefined,
    });
  }
}

/** The span of a turn, from consulting the agent to the decision. */
export function turnSpan(sid: string, { name }: Agent): SpanInit {
  const attributes = { [ATTR.conversation]: sid, [ATTR.agentName]: shown(name) };
  return { name: 'neuroscript.turn', attributes, errorType: reasonOf };
}

/** The name of an agent in spans. One that is a file has a path of this machine, which names nothing elsewhere. */
function shown(name: string | undefined): string | undefined {
  return name?.startsWith('/') === true ? name.slice(name.lastIndexOf('/') + 1) : name;
}

/** The conventions require a provider. For an agent without one, it is this package. */
function agentAttributes({ name, model }: Agent): Attributes {
  return {
    [ATTR.operation]: 'invoke_agent',
    [ATTR.provider]: model?.provider ?? 'neuroscript',
    [ATTR.agentName]: shown(name),
    [ATTR.requestModel]: model?.name,
  };
}

/** Describes a decided turn in its span. */
export function describeTurn(span: Span, { turn, decision, reason, usage, agent }: TurnRecord): void {
  if (!span.isRecording()) return;
  span.setAttributes({ [OWN.turn]: turn, [OWN.decision]: decision, [OWN.fuel]: usage.fuel });
  if (agent !== null) span.setAttributes({ [OWN.asks]: agent.asks, ...tokens(agent.inputTokens, agent.outputTokens) });
  if (reason !== null) fail(span, reason);
}

function tokens(input: number | null, output: number | null): Attributes {
  return { [ATTR.inputTokens]: input ?? undefined, [ATTR.outputTokens]: output ?? undefined };
}

/** A call that waits is no failure. */
function reasonOf(error: unknown): string | null {
  if (error instanceof SuspendedError) return null;
  return error instanceof AgentError ? error.reason : codeOf(error);
}
