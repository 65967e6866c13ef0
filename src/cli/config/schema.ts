import { z } from 'zod';
import { ISOLATIONS, LAUNCHERS } from '../../sandbox/index.ts';
import { MAX_TIMER_MS } from '../../wire/options.ts';

const text = z.string().min(1);
const count = z.int().min(1);
const numbers = z.record(z.string(), z.number());
const usd = z.number().min(0);
const isolation = z.enum(ISOLATIONS).exactOptional();
/** The limits of a tenant, by name, and how its runs share isolates. */
const tenant = z.object({ isolation }).catchall(z.number());

/** The most that a session may use. */
export const CEILINGS = z.strictObject({
  maxTurns: count.exactOptional(),
  maxFuel: count.exactOptional(),
  maxTokens: count.exactOptional(),
  maxTurnTokens: count.exactOptional(),
  maxCost: z.number().gt(0).exactOptional(),
  maxReasks: z.int().min(0).exactOptional(),
});

/** How sessions of one kind are driven. */
export const PROFILE = z
  .strictObject({
    agent: text
      .exactOptional()
      .meta({ description: 'Who writes the programs: script:FILE, command:CMD or model:NAME. Absent only if a flag says it.' }),
    baseUrl: text.exactOptional().meta({ description: "model: where the server's API begins." }),
    apiKeyEnv: text.exactOptional().meta({ description: 'model: environment variable with the API key.' }),
    apiKeyFile: text.exactOptional().meta({ description: 'model: file with the API key.' }),
    cost: z
      .strictObject({ usd: z.strictObject({ in: usd, out: usd, cached: usd.optional() }) })
      .exactOptional()
      .meta({ description: 'model: US dollars for a million tokens of prompts, of replies, and of prompts from a cache.' }),
    replyTimeout: count.exactOptional().meta({ description: 'command, model: most milliseconds of one reply.' }),
    retries: z.int().min(0).exactOptional().meta({ description: 'model: retries when the connection or the server fails.' }),
    grammar: z
      .enum(['llama.cpp', 'vllm', 'vllm-guided', 'sglang'])
      .exactOptional()
      .meta({ description: 'model: the server decodes under a grammar of the tools; how it takes one.' }),
    smallGrammar: z
      .boolean()
      .exactOptional()
      .meta({ description: 'With grammar: only the plainest programs, and a short brief.' }),
    transcript: text
      .exactOptional()
      .meta({ description: 'File to which every prompt and reply is appended, one JSON object a line.' }),
    system: text.exactOptional().meta({ description: "File with instructions for the agent; 'none': no instructions." }),
    tools: text.exactOptional().meta({ description: 'Tools for programs: mocks in YAML or JSON, or a module.' }),
    policy: text.exactOptional().meta({ description: 'Policy file.' }),
    mcp: z.array(text).exactOptional().meta({ description: 'MCP servers: NAME=COMMAND, NAME=URL, or a file with mcpServers.' }),
    library: text
      .exactOptional()
      .meta({ description: 'Folder of procedures that programs may call, such as those of sessions promote.' }),
    models: text.exactOptional().meta({ description: "Models and accounts for 'ask'." }),
    storage: text.exactOptional().meta({ description: 'SQLite file for tool.memory, tool.scratch and tool.capsule.' }),
    launcher: z
      .enum(LAUNCHERS)
      .exactOptional()
      .meta({ description: "The operating system sandbox for workers; 'auto' when absent." }),
    isolation: isolation.meta({
      description:
        "What a run has for itself: a process, a fresh isolate, or one that its tenant has had before; 'run' when absent.",
    }),
    durable: z
      .enum(['turn', 'call'])
      .exactOptional()
      .meta({ description: 'What is stored of a new session before its program goes on: each turn, or each call too.' }),
    requireApproval: z.boolean().exactOptional().meta({ description: 'ACTIONS run only if that is the plan that was approved.' }),
    metrics: z
      .boolean()
      .exactOptional()
      .meta({ description: 'loop: print the counters of the session on standard error. serve has them at /metrics.' }),
    limits: numbers.exactOptional().meta({ description: 'Limits of every turn, by key; times in milliseconds, sizes in bytes.' }),
    ceilings: CEILINGS.optional().meta({ description: 'Most that a session may use; a session can be opened with less.' }),
    repair: z
      .strictObject({ fix: z.literal('safe').exactOptional(), changed: z.enum(['ask', 'proceed', 'halt']).exactOptional() })
      .exactOptional()
      .meta({ description: 'What follows programs that cannot run, or that fail: docs/repair.md.' }),
    approve: z
      .literal('plan')
      .exactOptional()
      .meta({ description: 'A turn waits once, before its first effect, until a person has approved its grant.' }),
    bound: text.exactOptional().meta({
      description: 'File of a grant: a call outside of it is refused, or with approve waits for approval.',
    }),
    rehearse: text.exactOptional().meta({ description: 'Mocks or a recording: each program runs first against them.' }),
    maxTime: count.exactOptional().meta({
      description:
        'Most milliseconds for which a session is driven at a stretch; a host gives it back after half of them, between two turns.',
    }),
  })
  .meta({ id: 'profile', description: 'How sessions of one kind are driven.' });

/** The configuration of a host with any number of profiles. */
export const SEVERAL_PROFILES = z
  .strictObject({
    keys: text.meta({ description: 'Key file, the same on all hosts: any host verifies what another one has signed.' }),
    log: text.exactOptional().meta({ description: 'File of the decision log. Without it, decisions are logged in the store.' }),
    listen: text.exactOptional().meta({ description: 'Where health and metrics are served: HOST:PORT. Nowhere when absent.' }),
    leaseMs: z
      .int()
      .min(100)
      .max(MAX_TIMER_MS)
      .exactOptional()
      .meta({ description: 'Milliseconds after which other hosts take over from a dead one.' }),
    tenantConcurrency: count.exactOptional().meta({ description: 'Most sessions of one tenant on this host at a time.' }),
    turnsPerClaim: count
      .optional()
      .meta({ description: 'Turns after which a session is given back, so that others get theirs.' }),
    admission: z
      .strictObject({ tenant: count.exactOptional(), store: count.exactOptional() })
      .optional()
      .meta({ description: 'Most sessions that may be open at a time, of one tenant and of the store.' }),
    tenants: z
      .strictObject({ defaults: tenant.exactOptional(), each: z.record(z.string(), tenant).exactOptional() })
      .optional()
      .meta({ description: 'Limits, shares, budgets and isolation of tenants on this host.' }),
    profiles: z
      .record(z.string().min(1).max(128), PROFILE)
      .meta({ description: "By name. 'default' also drives sessions that were opened without a profile." }),
  })
  .meta({ title: 'Configuration with profiles' });

/** The configuration of a host with one profile, whose keys stand beside those of the host. */
export const ONE_PROFILE = SEVERAL_PROFILES.omit({ profiles: true })
  .partial({ keys: true })
  .extend({
    name: text.max(128).exactOptional().meta({ description: "Name of the profile, 'default' when absent." }),
    ...PROFILE.shape,
    ...CEILINGS.shape,
  })
  .meta({ title: 'Configuration with one profile' });
