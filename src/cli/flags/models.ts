import type { Command } from 'commander';
import type { AskHandlerOptions } from '../../loop/index.ts';
import type { Models } from './modelsfile.ts';

export type { Models };

export interface ModelFlags {
  readonly models?: string;
}

export const MODELS_HELP = `
A models file (YAML or JSON) lists the models that 'ask' can name:
  models:
    writer: { provider: openai, model: "qwen3:8b", account_name: work,
              base_url: "http://127.0.0.1:11434/v1" }
    # plays a transcript, found beside the models file
    critic: { provider: script, model: critic.txt }
    # runs a command for every turn
    helper: { provider: command, model: "llm -m small" }
  accounts:
    work: { kind: llm, provider: openai, api_key: { env: WORK_KEY } }
`;

export function addModels(command: Command): Command {
  return command.option('--models <FILE>', "models and accounts for 'ask', in YAML or JSON");
}

/**
 * Reads the models file, if there is one; `options` says what stores and signs nested sessions. Without a file neither the loop nor any key
 * is loaded, which takes a tenth of the start of a small command. Throws {@link UsageError} as `readModelsFile` does.
 */
export async function readModels(
  { models }: ModelFlags,
  options: () => AskHandlerOptions | Promise<AskHandlerOptions>,
): Promise<Models> {
  if (models === undefined) return {};
  const { readModelsFile } = await import('./modelsfile.ts');
  return await readModelsFile(models, await options());
}
