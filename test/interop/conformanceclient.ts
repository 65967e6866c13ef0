/** The client that the conformance suite starts: a program of this runtime that calls the tools of the suite's server. */
import { setImmediate } from 'node:timers/promises';
import { z } from 'zod';

import { SILENT_LOGGER } from '../../src/context/index.ts';
import { createRuntime } from '../../src/entries/index.ts';
import { McpSource } from '../../src/mcp/index.ts';
import type { JsonSchema, ToolDefinition } from '../../src/tools/index.ts';

const url = process.argv.at(-1) ?? '';
await using source = await McpSource.connect({ s: { url, elicit: true, timeoutMs: 20_000 } });
// A user who presses enter at every question takes the defaults.
const stdin = async function* () {
  for (;;) yield await setImmediate('\n');
};
await using runtime = await createRuntime({
  tools: source.tools,
  policy: { allow: ['tool.s.*'], grants: ['mcp:*:s'] },
});
const host = { logger: SILENT_LOGGER, stdin: stdin(), stdout: process.stderr };

/** The calls that the scenario wants, and one of every other tool. */
const context = z
  .looseObject({ toolCalls: z.array(z.object({ name: z.string(), arguments: z.unknown() })).optional() })
  .parse(JSON.parse(process.env['MCP_CONFORMANCE_CONTEXT'] ?? '{}'));
const own = source.tools.filter(({ capabilities }) => capabilities.some(({ verbs }) => verbs.includes('call')));
const wanted = (context.toolCalls ?? []).map((call) => ({ name: `tool.s.${call.name}`, given: call.arguments }));
const others = own.filter(({ name }) => !wanted.some((call) => call.name === name));
const calls = [...wanted, ...others.map((tool) => ({ name: tool.name, given: argumentsFor(tool) }))];
for (const { name, given } of calls) {
  const { error } = await runtime.run(`command\n  emit ${name}(given)\nendcommand`, { host, values: { given } });
  if (error !== null) process.stderr.write(`${name}: ${error.code} ${error.message}\n`);
}

/** Arguments that fit a tool: the required keys, each with a value of its type. */
function argumentsFor({ parameters: [parameter] }: ToolDefinition): unknown {
  return sample(parameter?.schema ?? {});
}

function sample({ type, properties = {}, required = [], enum: choices, anyOf, const: only }: JsonSchema): unknown {
  if (only !== undefined) return only;
  if (choices !== undefined) return choices[0];
  if (anyOf?.[0] !== undefined) return sample(anyOf[0]);
  switch ([type].flat()[0]) {
    case 'object':
      return Object.fromEntries(required.map((key) => [key, sample(properties[key] ?? {})]));
    case 'array':
      return [];
    case 'boolean':
      return true;
    case 'number':
    case 'integer':
      return 5;
    case undefined:
    case 'null':
      return null;
    default:
      return 'text';
  }
}
