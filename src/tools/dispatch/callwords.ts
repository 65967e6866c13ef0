import { defined } from '../../wire/defined.ts';
import { MAX_MESSAGE, shorten } from '../../wire/errorinfo.ts';
import type { AnswerForm, JournalEntry, WaitingCall } from '../../wire/journal.ts';
import type { CallSite, GuestCall, TaggedJson } from '../../wire/protocol.ts';
import { jsonBeginning } from '../../wire/tagged.ts';
import type { ToolView } from '../define/definition.ts';
import type { MadeCallOf } from '../grant/bound.ts';
import { mayChange } from '../grant/granted.ts';
import { canonicalName, MAGIC_TOOL } from '../names.ts';
import type { PolicyGuard } from '../policy/guard.ts';
import type { ForkTools } from '../registry.ts';
import type { MadeCall } from './recorded.ts';

/** A recorded call in a few words. */
export function shortCall(entry: JournalEntry): string {
  const args = entry.kind === 'tool' ? entry.args.map((arg) => jsonBeginning(arg, MAX_MESSAGE)).join(', ') : '';
  return shorten(`${entry.kind === 'tool' ? entry.name : entry.kind}(${args})`);
}

/** The name and the arguments by which a call is foreseen. */
export function foreseenAs(call: GuestCall | MadeCall): readonly [name: string, args: readonly TaggedJson[]] {
  if (call.t === 'tool') return [canonicalName(call.name), call.args];
  return call.t === 'ask' ? ['ask', [call.model, call.prompt, call.options]] : ['promptuser', [call.text]];
}

/** The arguments of what is no tool, by the names that a grant has for them. */
const ASKED = {
  ask: [{ name: 'model' }, { name: 'prompt' }, { name: 'options' }],
  prompt: [{ name: 'text' }],
} as const;

/** A call as a grant sees it; null for a token, which is no effect. */
export function grantable(call: GuestCall | MadeCall, tools: Pick<ToolView, 'lookup'>): MadeCallOf | null {
  const [name, args] = foreseenAs(call);
  if (name === MAGIC_TOOL) return null;
  const parameters = call.t === 'tool' ? tools.lookup(name)?.parameters : ASKED[call.t];
  return { tool: { canonicalName: name, parameters: parameters ?? [] }, args };
}

/** The tools of a run, and its grants. */
interface Granting {
  readonly tools: Pick<ToolView, 'lookup'>;
  readonly bound?: object | undefined;
  readonly approvals?: object | null | undefined;
}

/** A call as the grants of its run see it; null for a run without a grant, and for a token. */
export function grantedAs(call: GuestCall, { bound, approvals, tools }: Granting): MadeCallOf | null {
  return (bound ?? approvals ?? null) === null ? null : grantable(call, tools);
}

/** Whether a call may change something outside of the program. */
export function changes(call: GuestCall, tools: Pick<ToolView, 'lookup'>): boolean {
  const tool = call.t === 'tool' ? tools.lookup(call.name) : undefined;
  return call.t === 'tool' ? tool !== undefined && mayChange(tool) : call.t === 'ask';
}

/** The tools of a run, and the guards that judge their calls. */
interface Judging {
  readonly tools: ForkTools;
  readonly guards: readonly PolicyGuard[];
}

/** Whether no tool answers a call, or a policy denies its tool. */
export function isDenied(call: GuestCall, { tools, guards }: Judging): boolean {
  if (call.t !== 'tool') return false;
  const tool = tools.lookup(call.name);
  return tool === undefined || guards.some((guard) => guard.denial(tool, tools.isOwn(tool.canonicalName)) !== null);
}

/** A call that begins, in the form of a call that waits: if its outcome stays unknown, a person enters it. */
export function begun(seq: number, tool: string, args: readonly TaggedJson[], at: CallSite, answer?: AnswerForm): WaitingCall {
  return { seq, tool, args, at, asked: [], reason: IN_DOUBT, expiresIn: null, ms: 0, ...defined({ answer }) };
}

const IN_DOUBT = 'the turn was interrupted during this call, and nobody knows whether it took effect; answer with what it did';

/** Why a call is not made where nobody keeps the run until its plan is approved. */
export const NOBODY_WAITS = 'its plan must be approved first, and nobody keeps this run until then';

/** Why a call waits for the approval of a plan. */
export const PLAN_REASON = 'its plan must be approved first; answer true to allow all calls of the grant, false to refuse it';
