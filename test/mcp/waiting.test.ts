// @module-tag slow
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { replaySession } from '../../src/entries/loop.ts';
import { MemoryStore } from '../../src/loop/index.ts';
import { McpSource } from '../../src/mcp/index.ts';
import { tempFolder } from '../folder.ts';
import { agentOf, openHost, SESSION } from '../loop/suspend/stage.ts';
import { modernServer } from './servers.ts';

const directory = tempFolder();

describe('a task of an MCP server in a turn of the host loop', () => {
  it('puts the turn aside; completing the call asks the server again, until it has the answer', async () => {
    const until = join(directory, 'ready');
    const agent = agentOf(`command
  emit tool.s.slow({"until": ${JSON.stringify(until)}})
  emit tool.aeiou.magic("LOOP", {"action": "done"})
endcommand`);
    const store = new MemoryStore();
    const policy = { allow: ['*'], grants: ['mcp:call:s'] };
    let records: unknown;
    {
      await using source = await McpSource.connect({ s: modernServer() });
      await using host = await openHost(source.tools, { store, runtime: { policy } });
      const { loop } = host;
      const waiting = await loop.runLoop({ ...SESSION, agent });
      expect(waiting).toMatchObject({
        decision: 'SUSPENDED',
        waiting: { tool: 'tool.s.slow', reason: `tool 'slow' of MCP server 's' works on task "slow ${until}"` },
      });
      await loop.complete('s', '1.1', { result: null });
      expect(await loop.resume('s', { agent })).toMatchObject({ decision: 'SUSPENDED' });
      writeFileSync(until, '');
      await loop.complete('s', '1.1', { result: null });
      const ended = await loop.resume('s', { agent });
      expect(ended).toMatchObject({ decision: 'DONE' });
      records = ended;
    }
    expect(JSON.stringify(records)).toContain('done at last');
    // Without the server: the journal has the answer.
    await using source = await McpSource.connect({ s: modernServer() });
    await source.close();
    await using host = await openHost(source.tools, { store, runtime: { policy } });
    expect(await replaySession(host.runtime, store, 's')).toMatchObject({ ok: true });
  }, 60_000);
});
