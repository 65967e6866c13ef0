import { type CostMeter, callDepth } from '../tools/index.ts';
import { workerError } from '../wire/errorinfo.ts';
import type { ErrorInfo } from '../wire/errors.ts';
import { usdOf } from '../wire/money.ts';
import type { RunInput } from '../wire/protocol.ts';
import type { BrokenCall, ForeseenReport } from '../wire/sourcereports.ts';
import { checked } from './admission.ts';
import type { RunContext } from './context.ts';
import { brokenCalls, type ForeseeResult, foreseeOptions, hasSureRules, orderOf, previewOf } from './foresee.ts';
import { isCostLimited, tooDear } from './foreseencosts.ts';
import { grantOf } from './grant.ts';
import { mayCall } from './input.ts';
import { type PlanRequest, planOf, type RunPlan } from './plan.ts';
import type { RunRequest } from './request.ts';

/** The calls before a run, as its caller knows them; null when nobody does. */
function pastOf({ turn }: RunContext, { past }: Pick<RunRequest, 'past'>): NonNullable<RunRequest['past']> | null {
  return past ?? (turn.sessionId === null ? {} : null);
}

async function look({ runtime, tools, guards }: RunContext, input: RunInput): Promise<ForeseenReport> {
  const options = foreseeOptions(input, tools, guards);
  return runtime.sandbox.foresee(input.sources, input.limits.sourceBytes, options, callDepth());
}

function resultOf(context: RunContext, asked: Pick<RunRequest, 'past'>, input: RunInput, report: ForeseenReport): ForeseeResult {
  const { tools, guards } = context;
  const { diagnostics, foreseen } = report;
  if (foreseen === null) return { ok: false, preview: null, grant: null, diagnostics };
  const preview = previewOf(foreseen, input, tools, guards, pastOf(context, asked));
  const order = orderOf(foreseen, input.sources, {});
  const grant = grantOf({ preview, foreseen, order, toolOf: (name) => tools.lookup(name), guards });
  return { ok: true, preview, grant, diagnostics: [] };
}

/** Everything that a run can do. Rejects as the check of a runtime. */
export async function foreseenOf(context: RunContext, asked: RunRequest, input: RunInput): Promise<ForeseeResult> {
  return resultOf(context, asked, input, await look(context, input));
}

/** What is judged of a run before it begins. A worker foresees the program once, and only if somebody has to know. */
export class LookAhead {
  readonly #context: RunContext;
  readonly #asked: RunRequest;
  readonly #input: RunInput;
  #report: Promise<ForeseenReport | { readonly error: ErrorInfo }> | null = null;

  constructor(context: RunContext, asked: RunRequest, input: RunInput) {
    this.#context = context;
    this.#asked = asked;
    this.#input = input;
  }

  /** Whether a new program may cost more than it may pay: that was limited, and the program names a tool with a price. */
  mayBeDear({ left }: CostMeter): boolean {
    const { recorded, earlier } = this.#asked;
    if (recorded !== undefined || earlier !== undefined || !isCostLimited(usdOf(left))) return false;
    const { tools } = this.#context;
    const priced = tools.names().filter((name) => (tools.lookup(name)?.price?.each ?? 0) > 0);
    return priced.length > 0 && this.#input.sources.some(({ text }) => priced.some((name) => text.toLowerCase().includes(name)));
  }

  /** Why a program must not begin: all that it needs costs more than it may pay. What no worker could foresee is judged at the call. */
  async tooDear({ left }: CostMeter): Promise<ErrorInfo | null> {
    const report = await this.#look();
    const preview = 'error' in report ? null : resultOf(this.#context, this.#asked, this.#input, report).preview;
    return preview === null ? null : tooDear(preview, usdOf(left));
  }

  /**
   * The calls that rules about arguments or order refuse for certain, of a program that may be corrected. What no worker could foresee is
   * judged at the call.
   */
  async broken(): Promise<readonly BrokenCall[]> {
    const { strict = false, recorded } = this.#asked;
    if (recorded !== undefined) return recorded.broken ?? [];
    const { tools, guards } = this.#context;
    const { sources } = this.#input;
    const mayBreak = guards.some(({ policy }) => policy !== null && hasSureRules(policy));
    if (!strict || !mayBreak || !sources.some(mayCall)) return [];
    const report = await this.#look();
    const foreseen = 'error' in report ? null : report.foreseen;
    return foreseen === null ? [] : brokenCalls(foreseen, sources, tools, guards, pastOf(this.#context, this.#asked));
  }

  /**
   * What a run with a plan is bound to, and what a person must approve. A program that no worker could foresee must not begin: `error` is
   * ERR_WORKER, after which a turn tries again.
   */
  async plan(plan: PlanRequest): Promise<RunPlan | { readonly error: ErrorInfo }> {
    const { earlier, bound } = this.#asked;
    const report = await this.#look();
    if ('error' in report)
      return { error: workerError(`nothing was run, because no worker could foresee its plan: ${report.error.message}`) };
    const { grant } = resultOf(this.#context, { past: {} }, this.#input, report);
    return planOf(grant, plan, earlier?.journals ?? [], this.#context.tools, bound);
  }

  #look(): Promise<ForeseenReport | { readonly error: ErrorInfo }> {
    this.#report ??= checked(() => look(this.#context, this.#input));
    return this.#report;
  }
}
