import { dirname, resolve } from 'node:path';
import type { z } from 'zod';
import type { Admission, Approve, Ceilings, Durable, RepairOptions } from '../../loop/index.ts';
import type { TenantsOptions } from '../../runtime/index.ts';
import type { LimitOptions } from '../../sandbox/index.ts';
import { YamlFile } from '../../tools/index.ts';
import { isRecord } from '../../wire/unknown.ts';
import type { AgentOptions } from '../flags/agent.ts';
import { configText } from '../flags/configfile.ts';
import type { ModelFlags } from '../flags/models.ts';
import type { HeldFlags } from '../flags/rehearsal.ts';
import { named, type SetupFlags } from '../flags/setup.ts';
import { CEILINGS, ONE_PROFILE, PROFILE, SEVERAL_PROFILES } from './schema.ts';

/** One profile, in the form of the flags that the other commands have. */
export interface ConfigProfile extends AgentOptions, SetupFlags, ModelFlags, HeldFlags {
  readonly limits: LimitOptions;
  readonly ceilings: Ceilings;
  readonly maxTime: number | undefined;
  readonly durable?: Durable;
  readonly requireApproval?: boolean;
  readonly metrics?: boolean;
  readonly repair?: RepairOptions;
  readonly approve?: Approve;
}

/** A configuration with paths that are resolved from its file. */
export interface Config {
  /** Absent: new keys for this process. */
  readonly keys: string | undefined;
  readonly log: string | undefined;
  readonly listen: string | undefined;
  readonly leaseMs: number | undefined;
  readonly tenantConcurrency: number | undefined;
  readonly turnsPerClaim: number | undefined;
  readonly admission: Admission | undefined;
  readonly tenants: TenantsOptions | undefined;
  readonly profiles: Readonly<Record<string, ConfigProfile>>;
  /** The profile that drives sessions which were opened without one; it may be missing. */
  readonly unnamed: string;
}

/** The profile of sessions that were opened without one. */
const DEFAULT = 'default';

/** Reads a configuration in YAML or JSON. Throws `UsageError` with file, line and key of the first mistake. */
export async function readConfig(name: string): Promise<Config> {
  return configOf(await configText(name), name);
}

/** The configuration in the content of a file, whose name stands in errors. Throws as {@link readConfig} does. */
export function configOf(content: string, name: string): Config {
  return named(name, () => {
    const file = new YamlFile(content, name);
    const read = isRecord(file.value) && 'profiles' in file.value ? several(file) : alone(file);
    const { keys, log, listen, leaseMs, tenantConcurrency, turnsPerClaim, admission, tenants, profiles, unnamed } = read;
    if (Object.keys(profiles).length === 0) return file.fail(['profiles'], 'needs at least one profile');
    const at = (path: string): string => resolve(dirname(name), path);
    return {
      ...{ keys: keys === undefined ? undefined : at(keys), log: log === undefined ? undefined : at(log) },
      ...{ listen, leaseMs, tenantConcurrency, turnsPerClaim, admission, tenants, unnamed },
      profiles: Object.fromEntries(Object.entries(profiles).map(([key, profile]) => [key, profileOf(profile, at)])),
    };
  });
}

function several(file: YamlFile) {
  return { ...file.as(SEVERAL_PROFILES), unnamed: DEFAULT };
}

/** A configuration with one profile, whose keys stand beside those of the host. */
function alone(file: YamlFile) {
  const read = file.as(ONE_PROFILE);
  const { name = DEFAULT } = read;
  const profile = PROFILE.strip().parse(read);
  const ceilings = { ...profile.ceilings, ...CEILINGS.strip().parse(read) };
  return { ...read, profiles: { [name]: { ...profile, ceilings } }, unnamed: name };
}

/** The agents whose name is a file. */
const SCRIPT = 'script:';

function profileOf(profile: z.infer<typeof PROFILE>, at: (path: string) => string): ConfigProfile {
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
    transcript,
    library,
    bound,
    rehearse,
    ...rest
  } = profile;
  const files = Object.entries({ apiKeyFile, tools, policy, models, storage, transcript, library, bound, rehearse });
  return {
    ...rest,
    ...Object.fromEntries(files.flatMap(([key, path]) => (path === undefined ? [] : [[key, at(path)]]))),
    agent: agent?.startsWith(SCRIPT) ? `${SCRIPT}${at(agent.slice(SCRIPT.length))}` : agent,
    system: system === undefined ? undefined : system === 'none' ? system : at(system),
    // Only a file of servers has a path; the other forms have a name and '='.
    mcp: mcp?.map((spec) => (spec.includes('=') ? spec : at(spec))),
    ...{ limits, ceilings, maxTime },
  };
}
