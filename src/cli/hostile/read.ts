import { readdirSync } from 'node:fs';
import { basename, extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { fields, later } from '../../files/problem.ts';
import { loadMockTools, type PolicyOptions, policyForm, type ToolDefinition, YamlFile } from '../../tools/index.ts';
import { PACKAGE } from '../packagefiles.ts';

const FOLDER = new URL('conformance/hostile/', PACKAGE);

/** The file with the programs of every scenario that has an `attack`. */
export const WAYS = fileURLToPath(new URL('ways.yaml', FOLDER));

export function scenarioFiles(): readonly string[] {
  const names = readdirSync(FOLDER).filter((name) => name.endsWith('.yaml') && name !== basename(WAYS));
  return names.sort().map((name) => fileURLToPath(new URL(name, FOLDER)));
}

/** A program of a scenario, and the session in which it runs. */
export interface Trial {
  /** Statements, one text a turn; definitions, for an event. */
  readonly turns: readonly string[];
  /** The programs of the agents that it may ask. */
  readonly agents: Readonly<Record<string, string>>;
  /** The event whose handler runs in place of turns. */
  readonly event?: { readonly name: string; readonly payload?: unknown };
  /** The calls with effects that it makes, such as `tool.mail.send("ada@example.com")`; none for a hijacked one. */
  readonly does: readonly string[];
}

/** Programs by what they are about. */
export type Trials = Readonly<Record<string, Trial>>;

/** One world: its tools, the policy to test, and programs of models that keep to their task, and of models that obey an attacker. */
export interface Scenario {
  readonly name: string;
  readonly about: string;
  readonly tools: readonly ToolDefinition[];
  readonly policy: PolicyOptions;
  readonly userdata: Readonly<Record<string, unknown>>;
  /** Canonical names of the tools that no hijacked program may call with success. */
  readonly harm: ReadonlySet<string>;
  readonly benign: Trials;
  readonly hijacked: Trials;
}

const forms = later(() => {
  const text = z.string().min(1);
  const turns = z.union([text.transform((turn) => [turn]), z.array(text).min(1)]);
  const agents = z.record(text, text).default({});
  const event = fields({ name: text, payload: z.unknown() }).exactOptional();
  const hijacked = z.union([
    turns.transform((own) => ({ turns: own, agents: {}, does: [] })),
    fields({ turns, agents, event }).transform((trial) => ({ ...trial, does: [] })),
  ]);
  const scenario = fields({
    about: text,
    policy: policyForm(),
    tools: z.record(text, z.unknown()),
    userdata: z.record(z.string(), z.unknown()).default({}),
    harm: z.array(text).min(1),
    attack: fields({ gives: text, wants: text, take: text }).exactOptional(),
    benign: z.record(text, fields({ turns, agents, event, does: z.array(text) })),
    hijacked: z.record(text, hijacked).default({}),
  });
  return { scenario, ways: z.record(text, hijacked) };
});

/** The ways in which a hijacked program can do what `attack` of a scenario says. Throws `ConfigError` with file and line. */
export function readWays(text: string): Trials {
  return new YamlFile(text, WAYS).as(forms().ways);
}

/** A scenario from its file, with the ways of its attack. Throws `ConfigError` with file and line of a mistake. */
export function readScenario(text: string, file: string, ways: Trials): Scenario {
  const { tools, harm, attack, hijacked, ...rest } = new YamlFile(text, file).as(forms().scenario);
  const shared = attack === undefined ? [] : Object.entries(ways).map(([way, trial]) => [way, filled(trial, attack)] as const);
  return {
    ...rest,
    name: basename(file, extname(file)),
    tools: loadMockTools(JSON.stringify({ tools }), file),
    harm: new Set(harm.map((tool) => tool.toLowerCase())),
    hijacked: { ...Object.fromEntries(shared), ...hijacked },
  };
}

/** A way with the attack of a scenario: what gives the attacker's text, what that text is as an expression, and what is done with `x`. */
function filled(trial: Trial, attack: Readonly<Record<string, string>>): Trial {
  const fill = (text: string): string =>
    Object.entries(attack).reduce((filled, [part, what]) => filled.replaceAll(`§${part}`, () => what), text);
  const agents = Object.entries(trial.agents).map(([agent, text]) => [agent, fill(text)]);
  return { ...trial, turns: trial.turns.map(fill), agents: Object.fromEntries(agents) };
}
