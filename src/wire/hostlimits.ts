import { count, type LimitRow, ms, usd } from './limitrow.ts';

/** The limits of a runtime with its workers. */
export const POOL_ROWS = [
  {
    key: 'concurrency',
    flag: 'concurrency',
    ...count(1, 1024),
    default: null,
    ring: 3,
    breach: 'waits',
    help: 'runs that compute at the same time; runs that wait for the host do not count',
  },
  {
    key: 'maxWorkers',
    flag: 'max-workers',
    ...count(1, 1024),
    default: 16,
    ring: 3,
    breach: 'waits; ERR_BUSY for a nested run',
    help: 'concurrent turns: all runs that have begun, those that wait for the host included',
  },
  {
    key: 'queueLength',
    flag: 'queue-length',
    ...count(0, 1e6),
    default: 1024,
    ring: 3,
    breach: 'ERR_BUSY',
    help: 'runs that wait for a worker',
  },
] as const satisfies readonly LimitRow[];

/** Budgets count what all runs of a tenant used together, in a period or since the runtime began. */
export const TENANT_ROWS = [
  {
    key: 'tenantConcurrency',
    option: 'concurrency',
    ...count(1, 1024),
    default: null,
    ring: 3,
    breach: 'waits',
    help: 'runs that have begun, those that wait for the host included; when absent, at most three for each worker that stays free',
  },
  {
    key: 'tenantQueueLength',
    option: 'queueLength',
    ...count(0, 1e6),
    default: null,
    ring: 3,
    breach: 'ERR_BUSY',
    help: 'runs that wait for a worker; when absent, at most three for each place that stays free in the queue',
  },
  {
    key: 'tenantShare',
    option: 'share',
    ...count(1, 1000),
    default: 1,
    ring: 3,
    breach: 'waits',
    help: 'part of the workers while several tenants wait for them: with 2, a tenant gets twice as much as with 1',
  },
  { key: 'tenantFuel', option: 'fuel', ...count(1, 1e15), default: null, ring: 3, help: 'budget: units of work' },
  { key: 'tenantCpuMs', option: 'cpuMs', ...ms(1, 1e12), default: null, ring: 3, help: 'budget: CPU time of programs' },
  { key: 'tenantToolCalls', option: 'toolCalls', ...count(1, 1e12), default: null, ring: 3, help: 'budget: tool calls' },
  {
    key: 'tenantTokens',
    option: 'tokens',
    ...count(1, 1e15),
    default: null,
    ring: 3,
    help: 'budget: model tokens of the sessions of the loop, and those that the host charges',
  },
  {
    key: 'tenantCost',
    option: 'maxCost',
    ...usd,
    min: 1e-9,
    default: null,
    ring: 3,
    help: 'budget: US dollars for tool calls and model tokens; a call that would exceed it is not made',
  },
  {
    key: 'tenantPeriodMs',
    option: 'periodMs',
    ...ms(1000, 366 * 86_400_000),
    default: null,
    ring: 3,
    breach: 'waits',
    help: 'time after which all budgets are full again, from the first run on; when absent, never',
  },
] as const satisfies readonly (Omit<LimitRow, 'flag'> & { readonly option: string })[];
