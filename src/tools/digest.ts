import { hash } from 'node:crypto';
import { costFrom } from './define/cost.ts';
import type { ToolDefinition, ToolView } from './define/definition.ts';
import { capabilityText } from './policy/capability.ts';

/**
 * The digest of a tool's declaration: SHA-256, base64url, of its name, arguments, result, effects, capabilities, bounds and price. Its code
 * does not count: a tool with the same declaration and other code has the same digest.
 */
export function toolDigest(tool: ToolDefinition): string {
  const text = known.get(tool) ?? made(tool);
  known.set(tool, text);
  return text;
}

/** Digests that were computed before. Definitions are frozen, so they stay valid. */
const known = new WeakMap<ToolDefinition, string>();

function made(tool: ToolDefinition): string {
  const { canonicalName, parameters, returns, result, effects, capabilities, requiresTrust, requiresApproval } = tool;
  const { timeoutMs, maxArgBytes, maxResultBytes, price } = tool;
  return digest([
    canonicalName,
    parameters.map(({ name, required, default: fallback, kind, schema }) => [
      name,
      required,
      fallback,
      'type' in kind ? kind.type : schema,
    ]),
    [returns, result === null ? null : 'type' in result ? result.type : result.json],
    [effects, capabilities.map(capabilityText), requiresTrust, ...(requiresApproval ? ['approval'] : [])],
    [timeoutMs, maxArgBytes, maxResultBytes],
    ...(price === null ? [] : [costFrom(price)]),
  ]);
}

/** The digest of all tools that a fork can see. */
export function catalogueDigest(view: ToolView): string {
  return digest(view.names().map((name) => [name, digestIn(view, name)]));
}

/** The digest of a tool as a fork sees it; null when it sees none of that name. */
export function digestIn(view: ToolView, name: string): string | null {
  const tool = view.lookup(name);
  return tool === undefined ? null : toolDigest(tool);
}

function digest(value: unknown): string {
  return hash('sha256', JSON.stringify(value), 'base64url');
}
