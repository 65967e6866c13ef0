import { type McpServer, ResourceNotFoundError, ResourceTemplate } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { type ToolDefinition, toolMarkdown, toolPrompt } from '../../tools/index.ts';

/** The page of one error code, as `neuroscript explain` shows it. */
export interface ErrorPage {
  /** The code. */
  readonly code: string;
  /** The page as Markdown. */
  readonly page: string;
}

/** The texts that a client can read. */
export interface Lessons {
  /** The tools that programs can call. */
  readonly tools: readonly ToolDefinition[];
  /** The language in brief and the tools, as `agentBrief` makes them. */
  readonly brief: string;
  /** The pages of error codes. */
  readonly errors: () => Promise<readonly ErrorPage[]>;
}

/**
 * The text that clients put into the prompts of their models: at most 400 tokens, by `estimateTokens`. A model reads everything else on
 * demand.
 */
export const INSTRUCTIONS = `Runs programs in NeuroScript, a small language for agents, in a sandbox without files, network, clock or randomness.
A program reaches everything outside through tools.

- run: execute a program. Use it to compute, to process lists and text, and to call several tools with logic between the calls.
- check: find mistakes without executing. Use it before a long program, or one whose calls change something.
- tools: list what a program may call here, with arguments.
- turn: execute one AEIOU v3 envelope; only for hosts of that protocol.

Read the resource neuroscript://language before you write your first program, and neuroscript://errors/CODE about an error code.

command
  set total = 0
  for each price in [5, 7.5, 12]
    if price > 6
      set total = total + price
    endif
  endfor
  # A tool is called like this: set answer = tool.group.Name("argument")
  emit "Total: " + total
endcommand
`;

const MARKDOWN = 'text/markdown';

/** What becomes of a program of this server, before the language and the tools. */
export const RULES = `Write NeuroScript programs and execute them with the tool \`run\`.

- A program is one command block, or definitions together with \`call\`, the name of the procedure to call, and \`args\`.
- You get what it emits, and the error of a program that fails. The calls that it made are not undone.
- Nothing is kept: the next program starts without variables.`;

/** Adds resources, resource templates and the prompt from which a model learns to write programs. */
export function teach(server: McpServer, { tools, brief, errors }: Lessons): void {
  const catalogue = () => toolPrompt(tools).text;
  const text = (uri: URL, page: string) => ({ contents: [{ uri: uri.href, mimeType: MARKDOWN, text: page }] });
  server.registerResource(
    'language',
    'neuroscript://language',
    {
      title: 'NeuroScript in brief',
      description: 'The language and the tools, for models that write programs.',
      mimeType: MARKDOWN,
    },
    (uri) => text(uri, brief),
  );
  server.registerResource(
    'tools',
    'neuroscript://tools',
    { title: 'Tools for programs', description: 'What a program can call here, with arguments.', mimeType: MARKDOWN },
    (uri) => text(uri, catalogue()),
  );
  const named = (name: string) => tools.filter((tool) => tool.canonicalName === name.toLowerCase());
  const names = tools.map(({ name }) => name);
  template(
    server,
    'tool',
    'neuroscript://tools/{name}',
    'name',
    'The page of one tool for programs.',
    async () => names,
    async (name) => {
      const found = named(name);
      return found.length === 0 ? null : toolMarkdown(found);
    },
  );
  const codes = async () => (await errors()).map(({ code }) => code);
  template(
    server,
    'error',
    'neuroscript://errors/{code}',
    'code',
    'What an error code means, and what to do.',
    codes,
    async (code) => {
      return (await errors()).find((error) => error.code === code.toUpperCase())?.page ?? null;
    },
  );
  server.registerPrompt(
    'language',
    {
      title: 'Write a NeuroScript program',
      description: 'The language, the tools that programs can call here, and your task.',
      argsSchema: z.object({ task: z.string().optional().describe('what the program has to do') }),
    },
    ({ task }) => {
      const rest = task === undefined ? [] : [`# Task\n\nWrite a program and execute it with the tool "run":\n\n${task}`];
      const parts = [brief, ...rest];
      return { messages: [{ role: 'user', content: { type: 'text', text: parts.join('\n\n') } }] };
    },
  );
}

/** Adds a family of pages, one for each value of a variable, which clients can complete. */
function template(
  server: McpServer,
  name: string,
  uri: string,
  variable: string,
  description: string,
  all: () => Promise<readonly string[]>,
  read: (value: string) => Promise<string | null>,
): void {
  const complete = async (begun: string): Promise<string[]> =>
    (await all()).filter((value) => value.toLowerCase().startsWith(begun.toLowerCase()));
  const pages = new ResourceTemplate(uri, { list: undefined, complete: { [variable]: complete } });
  server.registerResource(name, pages, { description, mimeType: MARKDOWN }, async (address, variables) => {
    const value = variables[variable];
    const page = typeof value === 'string' ? await read(value) : null;
    if (page === null) throw new ResourceNotFoundError(address.href);
    return { contents: [{ uri: address.href, mimeType: MARKDOWN, text: page }] };
  });
}
