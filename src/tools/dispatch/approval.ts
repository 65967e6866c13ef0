import type { TurnContext } from '../../context/index.ts';
import { NS_CODES } from '../../wire/codes.ts';
import { plainMaps } from '../../wire/maporder.ts';
import type { TaggedJson } from '../../wire/protocol.ts';
import type { ToolDefinition } from '../define/definition.ts';
import { ToolError } from '../errors.ts';
import { Pending } from '../pending.ts';

/** What is about to be executed, as JSON: `{tool, args}` of a tool call, `{actions}` of a turn. A human approves its hash. */
export type Plan = Readonly<Record<string, unknown>>;

/** How an attempt to execute ended; `executeOnce` of `neuroscript-runtime/gate` answers so. */
export type GateOutcome<T> =
  | { readonly state: 'executed'; readonly value: T }
  /** The work threw. */
  | { readonly state: 'failed'; readonly error: unknown }
  /** Nothing ran; the line is the gate's own, for the human. */
  | { readonly state: 'denied'; readonly verdict: { readonly line: string } };

/** Asks the gate, once, and does the work if that agrees. Given by whoever takes the human's command; the loop has none. */
export type Gate = <T>(work: () => Promise<T>) => Promise<GateOutcome<T>>;

/** What an {@link Approval} is made of. */
export interface ApprovalInit {
  /** The hash that the human gave. */
  readonly hash: string;
  /** The hash of a plan; throws for one that has none. */
  readonly hashOf: (plan: Plan) => string;
  readonly gate: Gate;
}

/**
 * One action of a human (AMB-57): the right to execute one plan, once. Whoever is about to execute something offers its plan;
 * only the one that was approved reaches the gate, and after that the approval is used up, whatever the gate said. Nothing
 * renews it but a new action of a human.
 */
export class Approval {
  readonly #init: ApprovalInit;
  #used = false;

  constructor(init: ApprovalInit) {
    this.#init = init;
  }

  /**
   * Does the work if it is what was approved and if the gate agrees. `denied` comes with the line to be shown. A plan that was
   * not approved leaves the approval as it was.
   */
  async spend<T>(plan: Plan, work: () => Promise<T>): Promise<GateOutcome<T>> {
    const { hash, gate } = this.#init;
    const problem = this.#problem(plan, hash);
    if (problem !== null) return { state: 'denied', verdict: { line: `[ERROR] ${problem}` } };
    this.#used = true;
    return gate(work);
  }

  #problem(plan: Plan, approved: string): string | null {
    let hash: string;
    try {
      hash = this.#init.hashOf(plan);
    } catch (error) {
      return `The plan has no hash: ${error instanceof Error ? error.message : String(error)}`;
    }
    if (hash !== approved) return `Not what was approved: the hash of this plan is ${hash}`;
    return this.#used ? 'The approval was used before; a human has to act again' : null;
  }
}

/** Under this key the context of a turn has the approval with which its human started it. */
export const APPROVAL = 'tools.approval';

/** What is said where nobody approved anything. */
export const NOT_APPROVED = '[ERROR] A human has to approve this, and none has';

/**
 * The work of a call, which may need a human's approval of exactly this call. A tool that will answer later has begun: that
 * counts as executed. Throws {@link ToolError} 1003 with the line that denies.
 */
export async function approvedCall(
  { canonicalName, requiresApproval }: ToolDefinition,
  args: readonly TaggedJson[],
  turn: TurnContext,
  work: () => Promise<unknown>,
): Promise<unknown> {
  if (!requiresApproval) return work();
  const approval = turn.value(APPROVAL);
  // The hash of a plan is that of canonical JSON, whose keys have an order of its own.
  const plan = { tool: canonicalName, args: args.map(plainMaps) };
  const outcome = approval instanceof Approval ? await approval.spend(plan, () => unlessPending(work)) : null;
  if (outcome?.state === 'executed') {
    if (outcome.value instanceof Pending) throw outcome.value;
    return outcome.value;
  }
  if (outcome?.state === 'failed') throw outcome.error;
  const line = outcome?.verdict.line ?? NOT_APPROVED;
  throw new ToolError(NS_CODES.Policy, `tool '${canonicalName}': ${line}`, `the plan is ${JSON.stringify(plan)}`);
}

/** The result of the work, or the sign that it comes later. */
async function unlessPending(work: () => Promise<unknown>): Promise<unknown> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Pending) return error;
    throw error;
  }
}
