import { ConfigError } from '../../wire/errors.ts';
import { readable } from '../../wire/options.ts';
import type { ValueMap } from '../../wire/values.ts';
import { checkName, NamedEntries } from './entries.ts';
import { amount, count, type FieldReader, flag, integer, map, number, oneOf, readFields, text, texts, url } from './fields.ts';

/** An agent that `ask` can name: its model, the parameters of its requests, and what it may do. */
export interface AgentModel {
  /** As it was registered. Lookups ignore letter case. */
  readonly name: string;
  /** Name of the provider, which the host maps to an agent. */
  readonly provider: string;
  /** The provider's name of the model. */
  readonly model: string;
  /** Name of the account whose key is used. */
  readonly account_name?: string;
  /** Address of the provider's service, if it is not the usual one. */
  readonly base_url?: string;
  /** Currency of the prices, such as `EUR`. */
  readonly budget_currency?: string;
  /** For people. */
  readonly notes?: string;
  /** True when it must not be asked. */
  readonly disabled?: boolean;
  /** Size of the model's context in thousands of tokens. */
  readonly context_ktok?: number;
  /** Most turns of one `ask`. */
  readonly max_turns?: number;
  /** Most retries of a failed request. */
  readonly max_retries?: number;
  /** Price of a million tokens of prompts, in `budget_currency`. */
  readonly input_per_mtok?: number;
  /** Price of a million tokens of replies, in `budget_currency`. */
  readonly output_per_mtok?: number;
  /** Price of a million tokens of prompts that the provider had in its cache, in `budget_currency`; `input_per_mtok` when absent. */
  readonly cached_per_mtok?: number;
  /** Randomness of the reply, from 0 on. */
  readonly temperature?: number;
  /** Share of the likeliest tokens to choose from, from 0 to 1. */
  readonly top_p?: number;
  /** How many of the likeliest tokens to choose from. */
  readonly top_k?: number;
  /** Most tokens of a reply. */
  readonly max_output_tokens?: number;
  /** Texts at which a reply ends. */
  readonly stop_sequences?: readonly string[];
  /** Makes tokens that have occurred less likely. */
  readonly presence_penalty?: number;
  /** Makes tokens less likely the more often they have occurred. */
  readonly frequency_penalty?: number;
  /** Makes repetitions less likely. */
  readonly repetition_penalty?: number;
  /** For replies that can be repeated, where the provider supports it. */
  readonly seed?: number;
  /** Whether the provider reports the probabilities of tokens. */
  readonly log_probs?: boolean;
  /** The form of the reply that the provider enforces. */
  readonly response_format?: 'text' | 'json_object';
  /** Whether it may answer with programs that call tools. */
  readonly tool_loop_permitted?: boolean;
  /** Whether it may ask for further turns. */
  readonly auto_loop_enabled?: boolean;
  /** Whether the model may, must or must not call tools of the provider. */
  readonly tool_choice?: 'auto' | 'any' | 'none';
  /** Whether the provider adds its safety prompt. */
  readonly safe_prompt?: boolean;
  /** Safety settings of the provider, as it names them. */
  readonly safety_settings?: ValueMap;
  /** Further parameters of the provider. */
  readonly params?: ValueMap;
}

/** The fields of {@link AgentModel}, unchecked. Numbers and booleans may be text. */
export type AgentModelFields = Readonly<Record<string, unknown>>;

/** Finds models. Names ignore letter case. */
export interface AgentModelReader {
  /** Undefined when there is none. */
  get(name: string): AgentModel | undefined;
  /** Names as they were registered, sorted by their lower-case forms. */
  list(): readonly string[];
}

const READERS: { readonly [K in keyof Required<Omit<AgentModel, 'name'>>]: FieldReader<NonNullable<AgentModel[K]>> } = {
  provider: text,
  model: text,
  account_name: text,
  base_url: url,
  budget_currency: text,
  notes: text,
  disabled: flag,
  context_ktok: count,
  max_turns: count,
  max_retries: count,
  input_per_mtok: amount,
  output_per_mtok: amount,
  cached_per_mtok: amount,
  temperature: amount,
  top_p: amount,
  top_k: count,
  max_output_tokens: count,
  stop_sequences: texts,
  presence_penalty: number,
  frequency_penalty: number,
  repetition_penalty: number,
  seed: integer,
  log_probs: flag,
  response_format: oneOf('text', 'json_object'),
  tool_loop_permitted: flag,
  auto_loop_enabled: flag,
  tool_choice: oneOf('auto', 'any', 'none'),
  safe_prompt: flag,
  safety_settings: map,
  params: map,
};
const REQUIRED = ['provider', 'model'] as const;

/** The agent models of a root interpreter, shared by all its forks. */
export class AgentModelStore implements AgentModelReader {
  readonly #models = new NamedEntries<AgentModel>('agent model');

  /** Throws {@link ConfigError} (`ERR_CONFIG`) for missing, unknown or invalid fields and for a name that is taken. */
  register(name: string, fields: AgentModelFields): void {
    const known = checkName('agent model', name);
    this.#models.add(known, modelOf(known, fields));
  }

  /**
   * Sets the given fields and keeps the others; nil removes a field. Throws {@link ConfigError} as {@link register} does, and for an
   * unknown name.
   */
  update(name: string, fields: AgentModelFields): void {
    const before = this.#models.get(name);
    if (before === undefined) throw new ConfigError(`there is no agent model '${String(name).slice(0, 100)}'`);
    const { name: known, ...rest } = before;
    this.#models.replace(known, modelOf(known, { ...rest, ...fields }));
  }

  get(name: string): AgentModel | undefined {
    return this.#models.get(name);
  }

  /** False when there was none. */
  delete(name: string): boolean {
    return this.#models.delete(name);
  }

  list(): readonly string[] {
    return this.#models.values().map(({ name }) => name);
  }
}

function modelOf(name: string, fields: AgentModelFields): AgentModel {
  const what = `the agent model '${name}'`;
  if (readable(what, () => 'api_key' in Object(fields)))
    throw new ConfigError(`${what}: api_key belongs in an account; name that with account_name`);
  // `readFields` has read every field with its reader.
  const read = readFields(what, fields, READERS, REQUIRED) as Omit<AgentModel, 'name'>;
  return Object.freeze({ name, ...read });
}
