import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { trace } from '@opentelemetry/api';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { command } from '../loop/sessions.ts';
import { openSdk } from './kit.ts';

/** The library as users load it: it contains a copy of OpenTelemetry's API. */
const built = (): typeof import('../../src/entries/index.ts') =>
  createRequire(import.meta.url)('../../dist/src/entries/index.js');

describe('the built library', () => {
  it('makes spans of an SDK that is registered after its runtime, and nests them with those of tools', async () => {
    const { createRuntime, defineTool } = built();
    const leaf = defineTool({ name: 'tool.probe.Leaf', run: () => trace.getTracer('tool').startSpan('inside').end() });
    await using runtime = await createRuntime({ concurrency: 1, tools: [leaf], policy: { allow: ['tool.probe.*'] } });
    const call = command('call tool.probe.Leaf()');
    const trees = [];
    let sdk = openSdk();
    await sdk[Symbol.asyncDispose]();
    await runtime.run(call);
    trees.push(sdk.tree());
    for (let times = 0; times < 2; times++) {
      sdk = openSdk();
      await runtime.run(call);
      trees.push(sdk.tree());
      await sdk[Symbol.asyncDispose]();
    }
    const run = { 'neuroscript.run': { 'execute_tool tool.probe.leaf': { inside: {} } } };
    expect(trees).toEqual([{}, run, run]);
  });

  it('has a copy of the API that understands every one that its dependency allows', () => {
    const read = (path: string) => JSON.parse(readFileSync(path, 'utf8'));
    const { dependencies } = z.object({ dependencies: z.record(z.string(), z.string()) }).parse(read('package.json'));
    const { version } = z.object({ version: z.string() }).parse(read('node_modules/@opentelemetry/api/package.json'));
    // The API of a newer minor version refuses what an older one has registered.
    expect(dependencies['@opentelemetry/api']).toBe(`^${version}`);
  });
});
