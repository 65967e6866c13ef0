import type { Command } from 'commander';
import type { OnInterrupted } from '../../loop/index.ts';
import { printable } from '../../report/index.ts';
import type { RuntimeLimitOptions } from '../../sandbox/index.ts';
import type { AgentOptions } from '../flags/agent.ts';
import type { ApprovalFlags } from '../flags/approval.ts';
import type { CeilingFlags, RepairFlags } from '../flags/ceilings.ts';
import { limitsOf } from '../flags/options.ts';
import type { HeldFlags } from '../flags/rehearsal.ts';
import type { RepeatFlags } from '../flags/session.ts';
import type { SetupFlags } from '../flags/setup.ts';
import { openStore } from '../flags/store.ts';
import { UsageError } from '../terminal/failure.ts';
import { type Config, type ConfigProfile, readConfig } from './read.ts';

/** The flags that start or resume a session. */
export interface DriveFlags extends SetupFlags, RepeatFlags, AgentOptions, CeilingFlags, RepairFlags, HeldFlags, ApprovalFlags {
  readonly config?: string;
  readonly models?: string;
  readonly keys?: string;
  readonly log?: string;
  readonly store?: string;
  readonly onInterrupted?: OnInterrupted;
  readonly stream?: true;
  readonly json?: true;
}

/** What a configuration adds to the flags of a command. */
export interface Configured extends Pick<ConfigProfile, 'durable' | 'requireApproval' | 'metrics'> {
  readonly limits: RuntimeLimitOptions;
}

/** How a session is driven: flags, and what a configuration says beside them. */
export type Settings = DriveFlags & Configured;

/** The end of the help of commands with `--config`. */
export const CONFIG_HELP = `
A configuration (YAML or JSON, as for "neuroscript serve") has what the flags
say, and settings that have no flag; a flag takes the place of its key. Paths in
it are relative to it. docs/schemas/config.schema.json has the keys:
  agent: model:qwen3:8b
  baseUrl: http://127.0.0.1:11434/v1
  retries: 5           # also apiKeyFile, replyTimeout, grammar, transcript, ...
  tools: tools.yaml
  limits: { fuel: 1000000 }
`;

export function addConfig(command: Command): Command {
  return command.option('--config <FILE>', 'how the session is driven; flags take the place of what it says');
}

/**
 * The flags of a command with what the configuration of `--config` says beside them. `profile` chooses one of several; the one for
 * sessions without a profile when absent. Throws {@link UsageError}.
 */
export async function configured<Flags extends DriveFlags>(flags: Flags, profile?: string): Promise<Flags & Configured> {
  const limits = limitsOf(flags);
  if (flags.config === undefined) return { ...flags, limits };
  const config = await readConfig(flags.config);
  const { limits: configuredLimits, ceilings, ...rest } = profileIn(config, flags.config, profile);
  const { keys, log } = config;
  const repair = rest.repair === undefined ? flags.repair : { ...rest.repair, ...flags.repair };
  return { keys, log, ...ceilings, ...agentFirst(rest, flags), ...flags, repair, limits: { ...configuredLimits, ...limits } };
}

/** As {@link configured}, with the profile with which a stored session was opened. */
export async function configuredFor<Flags extends DriveFlags>(sid: string, flags: Flags): Promise<Flags & Configured> {
  if (flags.config === undefined) return configured(flags);
  await using store = await openStore(flags.store, { mustExist: true });
  const profile = (await store.summary(sid))?.profile ?? '';
  return configured(flags, profile === '' ? undefined : profile);
}

/** One profile of a configuration. Throws {@link UsageError} with the names that there are. */
export function profileIn({ profiles, unnamed }: Config, file: string, name: string = unnamed): ConfigProfile {
  const found = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (found !== undefined) return found;
  const known = Object.keys(profiles).map(printable).join(', ');
  throw new UsageError(`${printable(file)} has no profile '${printable(name)}'; it has ${known}`);
}

/** A profile without the settings of its model, if `--agent` names an agent of another kind. */
function agentFirst(profile: Omit<ConfigProfile, 'limits' | 'ceilings'>, { agent }: AgentOptions) {
  if (agent === undefined || agent.startsWith('model:')) return profile;
  const { baseUrl: _a, apiKeyEnv: _b, apiKeyFile: _c, retries: _d, grammar: _e, smallGrammar: _f, cost: _g, ...rest } = profile;
  return rest;
}
