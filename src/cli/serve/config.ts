import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import type { Ceilings } from '../../loop/index.ts';
import type { TenantsOptions } from '../../runtime/index.ts';
import type { LimitOptions } from '../../sandbox/index.ts';
import { YamlFile } from '../../tools/index.ts';
import type { AgentFlags } from '../flags/agent.ts';
import type { ModelFlags } from '../flags/models.ts';
import { configText, named, type SetupFlags } from '../flags/setup.ts';

const text = z.string().min(1);
const count = z.int().min(1);
const numbers = z.record(z.string(), z.number());

const PROFILE = z
  .strictObject({
    agent: text.meta({ description: 'Who writes the programs: script:FILE, command:CMD or model:NAME.' }),
    baseUrl: text.exactOptional().meta({ description: "model: where the server's API begins." }),
    apiKeyEnv: text.exactOptional().meta({ description: 'model: environment variable with the API key.' }),
    apiKeyFile: text.exactOptional().meta({ description: 'model: file with the API key.' }),
    replyTimeout: count.exactOptional().meta({ description: 'command, model: most milliseconds of one reply.' }),
    retries: z.int().min(0).exactOptional().meta({ description: 'model: retries when the connection or the server fails.' }),
    system: text.exactOptional().meta({ description: "File with instructions for the agent; 'none': no instructions." }),
    tools: text.exactOptional().meta({ description: 'Tools for programs: mocks in YAML or JSON, or a module.' }),
    policy: text.exactOptional().meta({ description: 'Policy file.' }),
    mcp: z.array(text).exactOptional().meta({ description: 'MCP servers: NAME=COMMAND, NAME=URL, or a file with mcpServers.' }),
    models: text.exactOptional().meta({ description: "Models and accounts for 'ask'." }),
    storage: text.exactOptional().meta({ description: 'SQLite file for tool.memory, tool.scratch and tool.capsule.' }),
    limits: numbers.exactOptional().meta({ description: 'Limits of every turn, by key; times in milliseconds, sizes in bytes.' }),
    ceilings: z
      .strictObject({
        maxTurns: count.exactOptional(),
        maxFuel: count.exactOptional(),
        maxTokens: count.exactOptional(),
        maxTurnTokens: count.exactOptional(),
        maxReasks: z.int().min(0).exactOptional(),
      })
      .optional()
      .meta({ description: 'Most that a session may use; a session can be opened with less.' }),
    maxTime: count.exactOptional().meta({ description: 'Most milliseconds for which one host drives a session at a stretch.' }),
  })
  .meta({ id: 'profile', description: 'How sessions of one kind are driven.' });

/** The configuration of `serve`. */
export const SERVE_CONFIG = z
  .strictObject({
    keys: text.meta({ description: 'Key file, the same on all hosts: any host verifies what another one has signed.' }),
    log: text.exactOptional().meta({ description: 'File of the decision log. Without it, decisions are logged in the store.' }),
    listen: text.exactOptional().meta({ description: 'Where health and metrics are served: HOST:PORT. Nowhere when absent.' }),
    leaseMs: z
      .int()
      .min(100)
      .exactOptional()
      .meta({ description: 'Milliseconds after which other hosts take over from a dead one.' }),
    tenantConcurrency: count.exactOptional().meta({ description: 'Most sessions of one tenant on this host at a time.' }),
    turnsPerClaim: count
      .optional()
      .meta({ description: 'Turns after which a session is given back, so that others get theirs.' }),
    tenants: z
      .strictObject({ defaults: numbers.exactOptional(), each: z.record(z.string(), numbers).exactOptional() })
      .optional()
      .meta({ description: 'Limits, shares and budgets of tenants on this host.' }),
    profiles: z
      .record(z.string().regex(/^[!-~]{1,128}$/), PROFILE)
      .meta({ description: "By name. 'default' also drives sessions that were opened without a profile." }),
  })
  .meta({ title: 'Configuration of neuroscript serve' });

/** One profile, in the form of the flags that the other commands have. */
export interface ServeProfile extends AgentFlags, SetupFlags, ModelFlags {
  readonly limits: LimitOptions;
  readonly ceilings: Ceilings;
  readonly maxTime: number | undefined;
}

/** A configuration with paths that are resolved from its file. */
export interface ServeConfig {
  readonly keys: string;
  readonly log: string | undefined;
  readonly listen: string | undefined;
  readonly leaseMs: number | undefined;
  readonly tenantConcurrency: number | undefined;
  readonly turnsPerClaim: number | undefined;
  readonly tenants: TenantsOptions | undefined;
  readonly profiles: Readonly<Record<string, ServeProfile>>;
}

/** Reads a configuration in YAML or JSON. Throws `UsageError` with file, line and key of the first mistake. */
export async function readServeConfig(name: string): Promise<ServeConfig> {
  const content = await configText(name);
  return named(name, () => {
    const file = new YamlFile(content, name);
    const read = SERVE_CONFIG.safeParse(file.value);
    if (!read.success) {
      const [issue] = read.error.issues;
      return file.fail(
        (issue?.path ?? []).filter((step) => typeof step !== 'symbol'),
        issue?.message ?? 'it is not of its form',
      );
    }
    const { keys, log, listen, leaseMs, tenantConcurrency, turnsPerClaim, tenants, profiles } = read.data;
    if (Object.keys(profiles).length === 0) return file.fail(['profiles'], 'needs at least one profile');
    const at = (path: string): string => resolve(dirname(name), path);
    return {
      ...{ keys: at(keys), log: log === undefined ? undefined : at(log) },
      ...{ listen, leaseMs, tenantConcurrency, turnsPerClaim, tenants },
      profiles: Object.fromEntries(Object.entries(profiles).map(([key, profile]) => [key, profileOf(profile, at)])),
    };
  });
}

/** The agents whose name is a file. */
const SCRIPT = 'script:';

function profileOf(profile: z.infer<typeof PROFILE>, at: (path: string) => string): ServeProfile {
  const {
    agent,
    system,
    mcp,
    limits = {},
    ceilings = {},
    maxTime,
    apiKeyFile,
    tools,
    policy,
    models,
    storage,
    ...rest
  } = profile;
  const files = Object.entries({ apiKeyFile, tools, policy, models, storage });
  return {
    ...rest,
    ...Object.fromEntries(files.flatMap(([key, path]) => (path === undefined ? [] : [[key, at(path)]]))),
    agent: agent.startsWith(SCRIPT) ? `${SCRIPT}${at(agent.slice(SCRIPT.length))}` : agent,
    ...(system === undefined ? {} : { system: system === 'none' ? system : at(system) }),
    // Only a file of servers has a path; the other forms have a name and '='.
    ...(mcp === undefined ? {} : { mcp: mcp.map((spec) => (spec.includes('=') ? spec : at(spec))) }),
    ...{ limits, ceilings, maxTime },
  };
}
