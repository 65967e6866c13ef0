import type { AgentModel, StoreReaders } from '../../context/index.ts';
import { ToolError } from '../../tools/index.ts';
import { NS_CODES } from '../../wire/codes.ts';
import type { TokenPrice } from '../../wire/money.ts';
import { type Agent, openaiAgent } from '../agents/index.ts';

/** Creates the agent for a model. `key` is the key of the model's account, or null without an account. */
export type AgentProvider = (model: AgentModel, key: string | null) => Agent;

/**
 * Provides models behind a server with an OpenAI-compatible API at the model's `base_url`, with the model's own temperature and
 * output limit. Throws {@link ToolError} 18 for a model without `base_url`.
 */
export const openaiProvider: AgentProvider = ({ name, model, base_url: baseUrl, ...rest }, key) => {
  if (baseUrl === undefined)
    throw new ToolError(NS_CODES.Configuration, `the agent model '${name}' needs a base_url that locates its provider`);
  const { temperature, max_output_tokens: maxOutputTokens, max_retries: retries } = rest;
  const price = tokenPrice(rest);
  return openaiAgent({
    model,
    baseUrl,
    ...(key === null ? {} : { apiKey: key }),
    temperature,
    maxOutputTokens,
    cost: price === null ? undefined : { usd: price },
    retry: retries === undefined ? undefined : { retries },
  });
};

type Prices = Pick<AgentModel, 'budget_currency' | 'input_per_mtok' | 'output_per_mtok' | 'cached_per_mtok'>;

/** The price of a model that is priced in US dollars; null for other models. */
function tokenPrice({
  budget_currency: currency = 'USD',
  input_per_mtok,
  output_per_mtok,
  cached_per_mtok,
}: Prices): TokenPrice | null {
  if (currency !== 'USD' || (input_per_mtok === undefined && output_per_mtok === undefined)) return null;
  return { in: input_per_mtok ?? 0, out: output_per_mtok ?? 0, cached: cached_per_mtok };
}

/** The model that an `ask` names, and its agent. */
export interface AskTarget {
  readonly model: AgentModel;
  readonly agent: Agent;
}

/**
 * Looks up the model, its provider and its account. Throws {@link ToolError}: 9 for an unknown model or account, 1004 for an
 * unknown provider, 19 for a model that is disabled.
 */
export function resolveTarget(
  name: string,
  { models, accounts }: StoreReaders,
  providers: ReadonlyMap<string, AgentProvider>,
): AskTarget {
  const model = models.get(name);
  if (model === undefined) throw new ToolError(NS_CODES.KeyNotFound, `there is no agent model '${name.slice(0, 100)}'`);
  if (model.disabled === true) throw new ToolError(NS_CODES.PreconditionFailed, `the agent model '${model.name}' is disabled`);
  const provider = providers.get(model.provider.toLowerCase());
  if (provider === undefined)
    throw new ToolError(
      NS_CODES.ProviderNotFound,
      `the agent model '${model.name}' has the unknown provider '${model.provider}'`,
    );
  const account = model.account_name === undefined ? null : accounts.get(model.account_name);
  if (account === undefined)
    throw new ToolError(NS_CODES.KeyNotFound, `the agent model '${model.name}' names an account that does not exist`);
  return { model, agent: provider(model, account === null ? null : account.api_key.reveal()) };
}
