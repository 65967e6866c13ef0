import type { TurnContext } from '../../context/index.ts';
import { NS_CODES } from '../../wire/codes.ts';
import type { TaggedJson } from '../../wire/protocol.ts';
import { plainMaps } from '../../wire/tagged.ts';
import { errorOf, messageOf } from '../../wire/unknown.ts';
import type { ToolDefinition } from '../define/definition.ts';
import { ToolError } from '../errors.ts';
import { Pending } from '../pending.ts';

/** The action to execute, as JSON: `{tool, args}` for a tool call, `{actions}` for a turn. A human approves its hash. */
export type Plan = Readonly<Record<string, unknown>>;

/** The outcome of an attempt to execute, as `executeOnce` of `neuroscript-runtime/gate` gives it. */
export type GateOutcome<T> =
  | { readonly state: 'executed'; readonly value: T }
  /** The work threw. */
  | { readonly state: 'failed'; readonly error: unknown }
  /** Nothing ran. The human sees the line of the gate. */
  | { readonly state: 'denied'; readonly verdict: { readonly line: string } };

/** Asks the gate once, and does the work if the gate agrees. The code that takes the human's command provides it; the loop has none. */
export type Gate = <T>(work: () => Promise<T>) => Promise<GateOutcome<T>>;

/** Parts of an {@link Approval}. */
export interface ApprovalInit {
  /** The hash that the human gave. */
  readonly hash: string;
  /** The hash of a plan; throws for one that has none. */
  readonly hashOf: (plan: Plan) => string;
  readonly gate: Gate;
}

/**
 * One action of a human: the right to execute one plan, once. Code that is about to execute something offers its plan. Only the
 * approved plan reaches the gate. After that the approval is used up, even if the gate refuses: the human has to act again.
 */
export class Approval {
  readonly #init: ApprovalInit;
  #used = false;

  constructor(init: ApprovalInit) {
    this.#init = init;
  }

  /**
   * Does the work if the human approved this plan and the gate agrees. `denied` has the line to show. A plan that was not approved
   * leaves the approval unused.
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
      return `The plan has no hash: ${messageOf(error)}`;
    }
    if (hash !== approved) return `Not what was approved: the hash of this plan is ${hash}`;
    return this.#used ? 'The approval was used before; a human has to act again' : null;
  }
}

/** The key of the approval among the values of a turn's context. */
export const APPROVAL = 'tools.approval';

/** The line for a turn without an approval. */
export const NOT_APPROVED = '[ERROR] A human has to approve this, and none has';

/**
 * Does the work of a call that needs a human's approval of exactly this call. A tool that will answer later has begun, so it
 * counts as executed. Throws {@link ToolError} 1003 with the line of the denial.
 */
export async function approvedCall(
  { canonicalName }: ToolDefinition,
  args: readonly TaggedJson[],
  turn: TurnContext,
  work: () => unknown,
): Promise<unknown> {
  const approval = turn.value(APPROVAL);
  // The plan is hashed as canonical JSON, which sorts keys, so the marks for the order of whole-number keys are removed.
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

/** The result of the work, or the {@link Pending} that announces a later one. */
async function unlessPending(work: () => unknown): Promise<unknown> {
  try {
    return await work();
  } catch (thrown) {
    const error = errorOf(thrown);
    if (error instanceof Pending) return error;
    throw error;
  }
}
