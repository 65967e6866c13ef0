import { createHash } from 'node:crypto';
import { canonicalize, JsonError, type JsonValue, NO_PROGRESS_YET, ProgressGuard, parseStrict } from '../../aeiou/index.ts';
import type { PolicyOptions } from '../../tools/index.ts';
import { cancelledError } from '../../wire/errorinfo.ts';
import type { ErrorInfo } from '../../wire/errors.ts';
import { RunError } from '../../wire/text/runerror.ts';
import { type AgentDelta, AgentError, type AgentReply } from '../agents/agent.ts';
import type { Clock } from '../clock.ts';
import { Watcher } from '../events.ts';
import { hostFailure } from '../record/decision.ts';
import { requestReply } from '../turn/consult.ts';
import { Account, type Ceilings, estimateTokens } from './ceilings.ts';
import { type Control, parseControl } from './control.ts';
import type { EventGate } from './dedupe.ts';
import { capOutput, haltStub, type V1HaltReason, withLines } from './diagnostics.ts';
import { composeV1Prompt, hasSectionLine } from './envelope.ts';
import type { AskLoopOptions, AskLoopRun, V1LoopEvent, V1LoopEventBody } from './options.ts';
import {
  breachError,
  reasonOfAgent,
  reasonOfError,
  type V1Execution,
  type V1LoopResult,
  type V1Stop,
  type V1TurnRecord,
} from './record.ts';
import { executeV1Turn } from './turn.ts';

/** The settings of a session's host: the options with their defaults. */
export interface SessionHost extends AskLoopOptions {
  readonly clock: Clock;
  readonly ceilings: Ceilings;
  readonly outputBytes: number;
  readonly system: string;
  readonly gate: EventGate;
}

export interface SessionRun extends AskLoopRun {
  readonly loopId: string;
  readonly userdata: JsonValue;
  readonly prompt: string;
}

/** Number of equal controls in a row that stops a loop. */
const NO_PROGRESS_N = 2;

type AfterTurn = { readonly next: true } | { readonly next: false; readonly result: V1LoopResult };

/** One loop from its first turn to its end. `AskLoop` checks its inputs. */
export class V1Session {
  readonly #host: SessionHost;
  readonly #run: SessionRun;
  readonly #account: Account;
  readonly #guard = new ProgressGuard(NO_PROGRESS_N);
  readonly #watcher: Watcher<V1LoopEvent>;
  readonly #turns: V1TurnRecord[] = [];
  readonly #begun: number;
  #progress = NO_PROGRESS_YET;

  constructor(host: SessionHost, run: SessionRun) {
    this.#host = host;
    this.#run = run;
    this.#account = new Account(host.ceilings);
    this.#watcher = new Watcher(run.onEvent);
    this.#begun = host.clock.monotonic();
  }

  async run(): Promise<V1LoopResult> {
    for (let turn = 1; ; turn += 1) {
      const verdict = await this.#turn(turn);
      if (verdict.next) {
        this.#watcher.check();
        continue;
      }
      this.#watcher.close();
      return verdict.result;
    }
  }

  async #turn(turn: number): Promise<AfterTurn> {
    const { agent, loopId, signal } = this.#run;
    const prompt = composeV1Prompt(canonicalize(this.#run.userdata, 'doubles'), this.#shown());
    this.#emit(turn, { type: 'asked', prompt });
    let answer: AgentReply;
    try {
      const wallMs = Math.max(1, this.#host.ceilings.wallMs - this.#elapsed());
      const { system } = this.#host;
      const onDelta = ({ retry, text }: AgentDelta): void => this.#emit(turn, { type: 'delta', retry, text });
      const request = { sid: loopId, turn, attempt: 1, system, prompt, maxTokens: this.#account.tokensLeft, onDelta };
      answer = await requestReply(agent, request, { wallMs, signal });
    } catch (error) {
      if (!(error instanceof AgentError)) throw error;
      return this.#halt(reasonOfAgent(error.reason), agentFailure(error));
    }
    const reply = answer.text;
    this.#emit(turn, { type: 'replied', reply });
    const count = this.#host.countTokens ?? estimateTokens;
    // An agent that does not count reports 0.
    const tokens = answer.tokens > 0 ? answer.tokens : count(prompt) + count(reply);
    const breach = this.#account.consulted(tokens);
    if (breach !== null) return this.#halt(breach.reason, breachError(breach));
    const late = this.#account.overtime(this.#elapsed());
    if (late !== null) return this.#halt(late.reason, breachError(late));
    const execution = await this.#execute(turn, reply);
    this.#account.executed(execution.usage.fuel);
    return this.#decide(this.#recordOf(turn, execution, { prompt, tokens }));
  }

  #execute(turn: number, reply: string): Promise<V1Execution> {
    const { executor, applyTools = [], screen, gate } = this.#host;
    const { loopId, userdata, signal, events } = this.#run;
    const last = this.#turns.at(-1);
    const mayApply = planned(last === undefined ? null : { signal: last.control.signal, output: last.output });
    return executeV1Turn(executor, {
      loopId,
      turn,
      reply,
      userdata,
      limits: this.#account.turnLimits(this.#elapsed()),
      events: gate.admit(loopId, turn, events?.(turn) ?? []),
      ...(applyTools.length === 0 ? {} : { policy: planApplyPolicy(applyTools, mayApply) }),
      screen,
      signal,
      onSection: (section) => this.#emit(turn, { type: 'section', section }),
      onOut: (out) => this.#emit(turn, { type: 'output', out }),
      onCall: (entry) => this.#emit(turn, { type: 'called', entry }),
    });
  }

  #recordOf(turn: number, execution: V1Execution, consulted: Pick<V1TurnRecord, 'prompt' | 'tokens'>): V1TurnRecord {
    const { loopId } = this.#run;
    const control = parseControl(execution.output);
    const { text, stubs } = capOutput(execution.output, this.#host.outputBytes);
    const ids = this.#host.showIds === true ? [`[loop_id=${loopId} turn_id=${turn}]`] : [];
    return {
      ...execution,
      ...consulted,
      loopId,
      turn,
      control,
      nextOutput: withLines(text, [...stubs, ...execution.stubs, ...ids]),
      digest: null,
      lints: [...control.lints, ...execution.lints],
    };
  }

  /** The checks after a turn. Their order is part of the protocol. */
  #decide(record: V1TurnRecord): AfterTurn {
    const { control, error, output } = record;
    if (!this.#run.permitted) return this.#end(record, { decision: 'DONE', cause: 'not-permitted', reason: null });
    if (error !== null) return this.#haltAfter(record, reasonOfError(error), error);
    switch (control.signal) {
      case 'abort':
        return this.#end(record, { decision: 'ABORT', cause: 'abort', reason: control.reason });
      case 'halt':
        return this.#end(record, { decision: 'HALT', cause: 'marker', reason: control.reason });
      case 'done':
        return this.#end(record, { decision: 'DONE', cause: 'done', reason: null });
      case null:
        return this.#end(record, { decision: 'DONE', cause: 'no-signal', reason: null });
      case 'continue':
    }
    const breach = this.#account.breach(this.#elapsed());
    if (breach !== null) return this.#haltAfter(record, breach.reason, breachError(breach));
    const digest = controlDigest(output, control);
    const { state, halt } = this.#guard.observe(this.#progress, digest);
    this.#progress = state;
    const compared = { ...record, digest };
    if (halt)
      return this.#haltAfter(
        compared,
        'no-progress',
        hostFailure('ERR_NO_PROGRESS', 'this turn asked for the same as the one before'),
      );
    if (hasSectionLine(record.nextOutput))
      return this.#haltAfter(
        compared,
        'policy',
        hostFailure('ERR_ENV_MARKERS_INVALID', 'OUTPUT has a line that would start a section of the next envelope'),
      );
    this.#keep(compared, 'CONTINUE');
    return { next: true };
  }

  #end(record: V1TurnRecord, stop: V1Stop): AfterTurn {
    this.#keep(record, stop.decision);
    return this.#result(stop, record.nextOutput, record.error);
  }

  #haltAfter(record: V1TurnRecord, reason: V1HaltReason, error: ErrorInfo): AfterTurn {
    this.#keep(record, 'HALT');
    return this.#halt(reason, error);
  }

  #halt(reason: V1HaltReason, error: ErrorInfo): AfterTurn {
    const output = withLines(this.#turns.at(-1)?.nextOutput ?? '', [haltStub(reason)]);
    return this.#result({ decision: 'HALT', cause: 'host', reason }, output, RunError.of(error));
  }

  #result(stop: V1Stop, output: string, error: RunError | null): AfterTurn {
    const { fuel, tokens } = this.#account;
    return { next: false, result: { ...stop, loopId: this.#run.loopId, output, error, fuel, tokens, turns: this.#turns } };
  }

  #keep(record: V1TurnRecord, decision: V1Stop['decision'] | 'CONTINUE'): void {
    this.#turns.push(record);
    this.#emit(record.turn, { type: 'decided', decision, record });
  }

  /** OUTPUT of the next envelope. */
  #shown(): string {
    const last = this.#turns.at(-1);
    if (last === undefined) return this.#run.prompt;
    if (this.#host.feedLogs !== true) return last.nextOutput;
    // The log is screened like OUTPUT and limited to the same size.
    const log = logLines(last).join('\n');
    const { text } = capOutput(this.#host.screen?.(log).output ?? log, this.#host.outputBytes);
    return withLines(last.nextOutput, text === '' ? [] : [text]);
  }

  #elapsed(): number {
    return this.#host.clock.monotonic() - this.#begun;
  }

  #emit(turn: number, body: V1LoopEventBody): void {
    this.#watcher.emit({ loopId: this.#run.loopId, turn, ...body });
  }
}

function agentFailure({ reason, message }: AgentError): ErrorInfo {
  if (reason === 'ERR_CANCELLED') return cancelledError(message);
  const failure = hostFailure(reason, message);
  return { ...failure, kind: reason === 'ERR_TIMEOUT' ? 'timeout' : reason === 'ERR_QUOTA' ? 'quota' : 'internal' };
}

/** Whispers and failures of a turn, one per line. The prefix keeps a line from starting a section. */
function logLines(record: V1TurnRecord): readonly string[] {
  const failures = record.journal.flatMap(({ outcome }) => ('message' in outcome ? [outcome.message] : []));
  const events = record.eventErrors.map(({ event, error }) => `event ${event}: ${error.message}`);
  return [...record.whispers.map(({ text }) => text), ...failures, ...events].flatMap((text) =>
    text.split('\n').map((line) => `[log] ${line}`),
  );
}

const PLAN = 'PLAN ';

/** The JSON of every `PLAN …` line of an OUTPUT, in order. A line without strict JSON is prose. */
export function plansOf(output: string): readonly JsonValue[] {
  return output.split('\n').flatMap((line) => {
    if (!line.startsWith(PLAN)) return [];
    try {
      return [parseStrict(line.slice(PLAN.length), { numbers: 'doubles', padding: true })];
    } catch (error) {
      if (error instanceof JsonError) return [];
      throw error;
    }
  });
}

/** Whether the previous turn planned: it requested to continue and has a `PLAN …` line with JSON. */
export function planned(previous: { readonly signal: string | null; readonly output: string } | null): boolean {
  return previous?.signal === 'continue' && plansOf(previous.output).length > 0;
}

/**
 * The Plan → Apply hook: a policy for one turn, in addition to the host's. It denies the tools that apply something unless the
 * previous turn planned. It grants only what the host's policy grants.
 */
export function planApplyPolicy(applyTools: readonly string[], mayApply: boolean): PolicyOptions {
  return { context: 'config', allow: ['*'], grants: ['*:*:*'], deny: mayApply ? [] : applyTools };
}

/**
 * The digest that the progress guard compares, in lower-case hexadecimal. It covers the canonical form of the control line,
 * including notes, and of every plan, so neither the order of keys nor white space looks like progress. An OUTPUT with neither
 * is compared as a whole, without white space at the ends of its lines and without blank lines at its end.
 */
export function controlDigest(output: string, control: Pick<Control, 'json'>): string {
  const plans = plansOf(output).map((plan) => `PLAN|${canonicalize(plan, 'doubles')}`);
  const line = control.json === null ? [] : [`CONTROL|${canonicalize(control.json, 'doubles')}`];
  const said = [...line, ...plans];
  // Canonical JSON contains no line feed, so the parts cannot be confused.
  const text = said.length > 0 ? said.join('\n') : `OUTPUT|${normalized(output)}`;
  return createHash('sha256').update(text).digest('hex');
}

function normalized(output: string): string {
  const lines = output.split('\n').map((line) => line.trimEnd());
  return lines.join('\n').trimEnd();
}
