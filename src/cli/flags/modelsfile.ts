import { dirname, join } from 'node:path';
import { AccountStore, AgentModelStore, createStores, type Stores } from '../../context/index.ts';
import { type AgentProvider, type AskHandlerOptions, askHandler, commandAgent, scriptAgent } from '../../loop/index.ts';
import type { AskHandler } from '../../runtime/index.ts';
import { YamlFile } from '../../tools/index.ts';
import { messageOf } from '../../wire/unknown.ts';
import { UsageError } from '../terminal/failure.ts';
import { readText } from '../terminal/input.ts';
import { TRANSCRIPT_BYTES, words } from './agent.ts';
import { configText } from './configfile.ts';
import { named } from './setup.ts';

/** The contents of a models file, for a runtime and its interpreters. */
export interface Models {
  readonly stores?: Partial<Stores>;
  readonly ask?: AskHandler;
}

/** Providers by name, in addition to those of `askHandler`; a models file can name no others. */
type Transcripts = ReadonlyMap<string, string>;

/**
 * Reads a models file; `options` store and sign nested sessions. Throws {@link UsageError} with the file and the line for a mistake, an
 * unset environment variable, or an unreadable transcript.
 */
export async function readModelsFile(name: string, options: AskHandlerOptions): Promise<Models> {
  const text = await configText(name);
  const file = named(name, () => new YamlFile(text, name));
  const top = named(name, () => file.map([], file.value, ['models', 'accounts']));
  const models = named(name, () => modelsOf(file, top['models'] ?? {}));
  const accounts = named(name, () => accountsOf(file, top['accounts'] ?? {}));
  const transcripts = await transcriptsOf(models, dirname(name));
  // Each `ask` plays the transcript of its model from the beginning.
  const script: AgentProvider = ({ name, model }) => scriptAgent(transcripts.get(name) ?? '', model);
  const ask = askHandler({ ...options, providers: { script, command: commandProvider } });
  return { stores: createStores({ models, accounts }), ask };
}

function modelsOf(file: YamlFile, given: unknown): AgentModelStore {
  const models = new AgentModelStore();
  for (const [name, fields] of Object.entries(file.map(['models'], given, null))) {
    const path = ['models', name];
    within(file, path, () => models.register(name, file.map(path, fields, null)));
    const provider = models.get(name)?.provider.toLowerCase() ?? '';
    if (!PROVIDERS.includes(provider))
      file.fail([...path, 'provider'], `unknown provider '${provider}'; known are ${PROVIDERS.join(', ')}`);
    if (provider === 'command') within(file, [...path, 'model'], () => words(models.get(name)?.model ?? ''));
  }
  return models;
}

const PROVIDERS: readonly string[] = ['openai', 'script', 'command'];

/** A key is in no file: the file names the environment variable that holds it. */
function accountsOf(file: YamlFile, given: unknown): AccountStore {
  const accounts = new AccountStore();
  for (const [name, fields] of Object.entries(file.map(['accounts'], given, null))) {
    const path = ['accounts', name];
    const { api_key: key, ...rest } = file.map(path, fields, null);
    within(file, path, () => accounts.register(name, { ...rest, api_key: keyOf(file, [...path, 'api_key'], key) }));
  }
  return accounts;
}

function keyOf(file: YamlFile, path: readonly string[], given: unknown): string {
  if (typeof given !== 'object' || given === null)
    return file.fail(path, 'must be { env: NAME }: the key is read from that environment variable and stays out of files');
  const variable = file.text([...path, 'env'], file.map(path, given, ['env'])['env']);
  const key = process.env[variable]?.trim() ?? '';
  return key === '' ? file.fail(path, `the environment variable ${variable} holds no key`) : key;
}

/** Prefixes an error with the line of its value. */
function within<Result>(file: YamlFile, path: readonly string[], work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    const message = messageOf(error);
    if (message.startsWith(`${file.name}:`)) throw error;
    return file.fail(path, message);
  }
}

async function transcriptsOf(models: AgentModelStore, folder: string): Promise<Transcripts> {
  const transcripts = new Map<string, string>();
  for (const name of models.list()) {
    const model = models.get(name);
    if (model === undefined || model.provider.toLowerCase() !== 'script') continue;
    const place = join(folder, model.model);
    const text = await readText(place, TRANSCRIPT_BYTES, 'a transcript');
    named(place, () => scriptAgent(text, place));
    transcripts.set(model.name, text);
  }
  return transcripts;
}

/** Runs the command of the model for every turn. */
const commandProvider: AgentProvider = ({ model }) => commandAgent({ argv: words(model) });
