/** The model behind an agent, for spans and metrics. */
export interface ModelIdentity {
  /** The provider, such as `openai` or `anthropic`: by the name of the OpenTelemetry conventions if they have one. */
  readonly provider: string;
  /** The provider's name of the model. */
  readonly name: string;
  /** The URL of the model's server, where it is known. Spans have its host and port. */
  readonly url?: string;
}

/** The names that the conventions give to the providers of the AI SDK, which names them `provider.api`. */
const PROVIDERS: Readonly<Record<string, string>> = {
  'amazon-bedrock': 'aws.bedrock',
  anthropic: 'anthropic',
  azure: 'azure.ai.openai',
  cohere: 'cohere',
  deepseek: 'deepseek',
  google: 'gcp.gemini',
  groq: 'groq',
  mistral: 'mistral_ai',
  openai: 'openai',
  perplexity: 'perplexity',
  xai: 'x_ai',
};

/** The OpenTelemetry name of a provider of the AI SDK; the SDK's own name if the conventions have none. */
export function providerName(provider: string): string {
  if (provider.startsWith('google.vertex')) return 'gcp.vertex_ai';
  const [name = provider] = provider.split('.');
  return PROVIDERS[name] ?? name;
}
