import { type Counter, metrics as global, type Meter } from '@opentelemetry/api';
import type { Runtime } from '../runtime/index.ts';
import { sumUsd } from '../wire/money.ts';
import type { LoopEvent } from './events.ts';
import { Histogram } from './histogram.ts';
import { HALT_REASONS, type HaltReason } from './record/decision.ts';
import type { AgentUse, TurnRecord } from './record/record.ts';
import { usageOfTurn } from './spent.ts';

/** Counts by label value; a value that was never counted is absent. */
export type Counts = Readonly<Record<string, number>>;

/** The counters at one moment. */
export interface MetricsSnapshot {
  /** Decided turns, by decision. */
  readonly decisions_total: Counts;
  /** Candidate lines that did not verify, by code. */
  readonly verify_fail_total: Counts;
  /** Tokens that had expired. */
  readonly ttl_expired_total: number;
  /** Tokens that had been used before. */
  readonly jti_dup_total: number;
  /** Remarks on envelopes and output, by code. */
  readonly lint_total: Counts;
  /** Attempts that did not decide their turn, by end: `rejected`, `failed`, `interrupted` (`ERR_WORKER`). */
  readonly repairs_total: Counts;
  /** Sessions that the progress guard stopped. */
  readonly no_progress_total: number;
  /** By reason. Includes sessions that ended between two turns, which have no decision. */
  readonly halts_total: Counts;
  /** By outcome: `ok`, `refused` (a reply without an envelope), `failed` (no reply). */
  readonly agent_replies_total: Counts;
  /** By type: `input` and `output`, or `total` for agents that report only the sum. */
  readonly agent_tokens_total: Counts;
  /** By outcome: `ok`, `error`. */
  readonly tool_calls_total: Counts;
  /** US dollars, by what they were paid for: `calls` (with all that programs asked) and `replies`. */
  readonly cost_usd_total: Counts;
  /** Workers that the host killed for a breach of their boundary. */
  readonly boundary_breaches_total: number;
  /** Runs of tenants that were refused: a budget was used up, or too many runs waited. */
  readonly tenant_refusals_total: number;
  /** Further tries of calls whose tool was away. */
  readonly tool_retries_total: number;
}

type RuntimeCounts = Pick<Runtime, 'boundaryBreaches'> & Partial<Pick<Runtime, 'tenantRefusals' | 'toolRetries'>>;

interface Instrument<Count> {
  readonly help: string;
  /** The instrument of the OpenTelemetry meter: its name, its unit in UCUM, and the attribute in place of the label. */
  readonly otel: { readonly name: string; readonly unit: string; readonly attribute?: string };
  /** Name and values of the label; null for a counter without a label. */
  readonly label: Count extends number ? null : { readonly name: string; readonly values: readonly string[] };
}

type Name = keyof MetricsSnapshot;

/** Every counter with all values of its label. Labels are closed sets and never contain an id, a name or program text. */
export const INSTRUMENTS: { readonly [N in Name]: Instrument<MetricsSnapshot[N]> } = {
  decisions_total: {
    help: 'Decided turns.',
    otel: { name: 'neuroscript.turn.decisions', unit: '{turn}', attribute: 'neuroscript.decision' },
    label: { name: 'decision', values: ['CONTINUE', 'DONE', 'ABORT', 'HALT'] },
  },
  verify_fail_total: {
    help: 'Candidate lines that did not verify.',
    otel: { name: 'neuroscript.token.failures', unit: '{token}', attribute: 'error.type' },
    label: {
      name: 'reason',
      values: ['ERR_TOKEN_PARSE', 'ERR_TOKEN_VERIFY', 'ERR_TOKEN_SCOPE', 'ERR_TOKEN_TTL', 'ERR_TOKEN_REPLAY'],
    },
  },
  ttl_expired_total: {
    help: 'Tokens that had expired.',
    otel: { name: 'neuroscript.token.expirations', unit: '{token}' },
    label: null,
  },
  jti_dup_total: {
    help: 'Tokens that had been used before.',
    otel: { name: 'neuroscript.token.replays', unit: '{token}' },
    label: null,
  },
  lint_total: {
    help: 'Remarks on envelopes and output.',
    otel: { name: 'neuroscript.lints', unit: '{lint}', attribute: 'neuroscript.lint' },
    label: {
      name: 'code',
      values: [
        'LINT_POST_TOKEN_TEXT',
        'LINT_MULTI_TOKENS',
        'LINT_DUP_SECTION_IGNORED',
        'LINT_BLANK_LINES_IGNORED',
        'LINT_FENCE_IGNORED',
      ],
    },
  },
  repairs_total: {
    help: 'Attempts that did not decide their turn.',
    otel: { name: 'neuroscript.turn.repairs', unit: '{attempt}', attribute: 'neuroscript.attempt.end' },
    label: { name: 'end', values: ['rejected', 'failed', 'interrupted', 'rehearsed'] },
  },
  no_progress_total: {
    help: 'Sessions that the progress guard stopped.',
    otel: { name: 'neuroscript.session.stalls', unit: '{session}' },
    label: null,
  },
  halts_total: {
    help: 'Sessions that the host halted, in a turn or between two.',
    otel: { name: 'neuroscript.session.halts', unit: '{session}', attribute: 'error.type' },
    label: { name: 'reason', values: Object.keys(HALT_REASONS) },
  },
  agent_replies_total: {
    help: 'Replies of agents.',
    otel: { name: 'neuroscript.agent.replies', unit: '{reply}', attribute: 'neuroscript.outcome' },
    label: { name: 'outcome', values: ['ok', 'refused', 'failed'] },
  },
  agent_tokens_total: {
    help: 'Model tokens of agents, as they report them.',
    otel: { name: 'neuroscript.agent.tokens', unit: '{token}', attribute: 'gen_ai.token.type' },
    label: { name: 'type', values: ['input', 'output', 'total'] },
  },
  tool_calls_total: {
    help: 'Calls of tools.',
    otel: { name: 'neuroscript.tool.calls', unit: '{call}', attribute: 'neuroscript.outcome' },
    label: { name: 'outcome', values: ['ok', 'error'] },
  },
  cost_usd_total: {
    help: 'US dollars for calls and model tokens, by their prices.',
    otel: { name: 'neuroscript.cost', unit: '{dollar}', attribute: 'neuroscript.cost.for' },
    label: { name: 'for', values: ['calls', 'replies'] },
  },
  boundary_breaches_total: {
    help: 'Workers that were ended because they did what no worker does.',
    otel: { name: 'neuroscript.worker.breaches', unit: '{worker}' },
    label: null,
  },
  tenant_refusals_total: {
    help: 'Runs of tenants that were refused: a budget was used up, or too many runs waited.',
    otel: { name: 'neuroscript.tenant.refusals', unit: '{run}' },
    label: null,
  },
  tool_retries_total: {
    help: 'Further tries of calls whose tool was away.',
    otel: { name: 'neuroscript.tool.retries', unit: '{try}' },
    label: null,
  },
};

/** Begins the name of every metric. */
const PREFIX = 'neuroscript_';

/** The label value of a counter without a label. */
const NO_LABEL = '';

/**
 * Counts the outcomes of turns, here and in the instruments of an OpenTelemetry meter, which have names and units by its
 * conventions. Labels are closed sets: decisions, reasons and codes, never ids.
 */
export class Metrics {
  readonly #counts = new Map<string, Map<string, number>>();
  readonly #counters: ReadonlyMap<string, Counter>;
  readonly #turns = new Histogram(`${PREFIX}turn_seconds`, 'Time of a turn, with its agent and its tools.');
  readonly #queue = new Histogram(`${PREFIX}queue_seconds`, 'Wait of a program for a worker.');
  readonly #tools = new Histogram(`${PREFIX}tool_seconds`, 'Time of a call of a tool.');
  /** The counts of each runtime that are included already. Controllers may share a runtime and these counters. */
  readonly #seen = new WeakMap<object, Required<RuntimeCounts>>();

  /** Uses the meter of the application's SDK when absent. Without an SDK, only the snapshot counts. */
  constructor(meter: Meter = global.getMeter('neuroscript-runtime')) {
    this.#counters = new Map(
      Object.entries(INSTRUMENTS).map(([name, { help, otel }]) => [
        name,
        meter.createCounter(otel.name, { description: help, unit: otel.unit }),
      ]),
    );
  }

  /** Counts one decided turn. */
  record(record: TurnRecord): void {
    this.#turns.observe(record.latencyMs);
    this.#queue.observe(record.usage.queueMs);
    this.#add('decisions_total', record.decision);
    for (const { code } of record.candidates) {
      if (code !== null) this.#add('verify_fail_total', code);
      if (code === 'ERR_TOKEN_TTL') this.#add('ttl_expired_total');
      if (code === 'ERR_TOKEN_REPLAY') this.#add('jti_dup_total');
    }
    for (const lint of record.lints) this.#add('lint_total', lint.code);
    if (record.reason === 'ERR_NO_PROGRESS') this.#add('no_progress_total');
    if (record.reason !== null) this.#add('halts_total', record.reason);
    if (record.agent !== null) this.#tokens(record.agent);
    this.#add('cost_usd_total', 'calls', usageOfTurn(record).cost ?? 0);
    this.#add('cost_usd_total', 'replies', record.agent?.cost ?? 0);
    for (const { kind, outcome, ms } of record.journal)
      if (kind === 'tool') {
        this.#add('tool_calls_total', outcome.ok ? 'ok' : 'error');
        this.#tools.observe(ms);
      }
  }

  #tokens({ tokens, inputTokens, outputTokens }: AgentUse): void {
    if (inputTokens === null || outputTokens === null) this.#add('agent_tokens_total', 'total', tokens);
    else {
      this.#add('agent_tokens_total', 'input', inputTokens);
      this.#add('agent_tokens_total', 'output', outputTokens);
    }
  }

  /** Counts the end of a session between two turns. */
  ended(reason: HaltReason): void {
    this.#add('halts_total', reason);
  }

  /** Counts the outcome of a reply, and of an attempt that did not decide its turn. The tokens are counted with the turn. */
  see(event: LoopEvent): void {
    if (event.type === 'undecided') this.#add('repairs_total', event.end);
    if (event.type === 'unanswered') this.#add('agent_replies_total', 'failed');
    if (event.type === 'replied') this.#add('agent_replies_total', event.problem === null ? 'ok' : 'refused');
  }

  /**
   * Counts the workers that a runtime has killed for a breach, the runs of tenants that it has refused, and its further tries of calls, since
   * the last call. A controller calls it after each turn. Call it yourself for runs outside of turns.
   */
  seeRuntime(runtime: RuntimeCounts): void {
    const { boundaryBreaches, tenantRefusals = 0, toolRetries = 0 } = runtime;
    const seen = this.#seen.get(runtime) ?? { boundaryBreaches: 0, tenantRefusals: 0, toolRetries: 0 };
    this.#add('boundary_breaches_total', NO_LABEL, boundaryBreaches - seen.boundaryBreaches);
    this.#add('tenant_refusals_total', NO_LABEL, tenantRefusals - seen.tenantRefusals);
    this.#add('tool_retries_total', NO_LABEL, toolRetries - seen.toolRetries);
    this.#seen.set(runtime, { boundaryBreaches, tenantRefusals, toolRetries });
  }

  /** The counters of this object now. Instruments of OpenTelemetry are read by their exporter. */
  snapshot(): MetricsSnapshot {
    const read = Object.entries(INSTRUMENTS).map(([name, { label }]) => {
      const counts = Object.fromEntries(this.#counts.get(name) ?? []);
      return [name, label === null ? (counts[NO_LABEL] ?? 0) : counts] as const;
    });
    // The type of the table demands every name, and for each whether it has a label.
    return Object.fromEntries(read) as unknown as MetricsSnapshot;
  }

  /**
   * All counters, and durations of turns, waits for a worker and calls of tools as histograms, in the Prometheus text format (0.0.4). Names
   * begin with `neuroscript_`. A counter that was never counted is 0.
   */
  prometheus(): string {
    const lines = Object.entries(INSTRUMENTS).flatMap(([name, { help, label }]) => {
      const counts = this.#counts.get(name);
      const of = (value: string): number => counts?.get(value) ?? 0;
      const rows =
        label === null
          ? [`${PREFIX}${name} ${of(NO_LABEL)}`]
          : label.values.map((value) => `${PREFIX}${name}{${label.name}="${value}"} ${of(value)}`);
      return [`# HELP ${PREFIX}${name} ${help}`, `# TYPE ${PREFIX}${name} counter`, ...rows];
    });
    return `${lines.join('\n')}\n${[this.#turns, this.#queue, this.#tools].map((each) => each.prometheus()).join('')}`;
  }

  /** Counts only known label values. Any other value is a defect and must not become a time series. */
  #add(name: Name, value = NO_LABEL, more = 1): void {
    const { label, otel } = INSTRUMENTS[name];
    const known: readonly string[] = label?.values ?? [NO_LABEL];
    if (!known.includes(value) || more === 0) return;
    const counts = this.#counts.get(name) ?? new Map<string, number>();
    this.#counts.set(
      name,
      counts.set(value, name === 'cost_usd_total' ? sumUsd(counts.get(value), more) : (counts.get(value) ?? 0) + more),
    );
    this.#counters.get(name)?.add(more, otel.attribute === undefined ? undefined : { [otel.attribute]: value });
  }
}
