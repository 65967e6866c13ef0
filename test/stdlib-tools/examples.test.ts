import { realpathSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { SILENT_LOGGER } from '../../src/context/index.ts';
import { createRuntime } from '../../src/runtime/index.ts';
import { Policy, type ToolDefinition } from '../../src/tools/index.ts';
import {
  capsuleTools,
  cryptoTools,
  fsTools,
  memoryTools,
  pathRule,
  policyTools,
  rootTools,
  scratchTools,
  storeTools,
  systemTools,
  timeTools,
  toolsTools,
} from '../../stdlib-tools/index.ts';
import { tempFolder } from '../folder.ts';

const directory = realpathSync(tempFolder());

const policy = new Policy({ context: 'config', allow: ['*'], grants: ['*:*:*'] });

const GROUPS: Readonly<Record<string, readonly ToolDefinition[]>> = {
  capsule: capsuleTools(),
  crypto: cryptoTools(),
  fs: fsTools({ directoryOf: async () => directory }),
  memory: memoryTools(),
  policy: policyTools(pathRule(['/plans/*'])),
  root: rootTools(),
  scratch: scratchTools(),
  stores: storeTools(),
  system: systemTools({ policy }),
  time: timeTools(),
  tools: toolsTools(),
};

/** Files are there before they are read, and are moved away last. */
const RANK: Readonly<Record<string, number>> = { 'tool.fs.Write': -2, 'tool.fs.Append': -1, 'tool.fs.Move': 1 };

describe('the example of every standard tool of the host', () => {
  it.each(Object.entries(GROUPS))('%s: is there, calls its tool, and works', async (group, tools) => {
    await using runtime = await createRuntime({ tools, policy, concurrency: 1 });
    using turn = runtime.turn({ sessionId: 's', turnIndex: 1 });
    const root = runtime.interpreter({ host: { logger: SILENT_LOGGER } });
    const prelude = group === 'crypto' ? ['set token = tool.crypto.SignJWT({"sub": "user123"}, "your-secret", "HS256")'] : [];
    const order = [...tools].sort((a, b) => (RANK[a.name] ?? 0) - (RANK[b.name] ?? 0));
    for (const { name, example, description } of order) {
      expect(example).toContain(`${name}(`);
      expect(description).toMatch(/[.!]$/);
    }
    const source = ['command', ...prelude, ...order.map(({ example }) => `emit ${example}`), 'endcommand'].join('\n');
    const result = await root.fork({ turn }).execute(source);
    expect(result.error).toBeNull();
    expect(result.emits).toHaveLength(tools.length);
  });
});
