// @module-tag slow
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { describe, expect, it } from 'vitest';
import { createRuntime } from '../../src/entries/index.ts';
import { pureTools } from '../../stdlib-tools/index.ts';
import { runsInPage } from '../browser/page.ts';
import { inSandbox, type Outcome } from '../conformance/both.ts';
import { essence, sections } from '../conformance/suite.ts';
import { inChromium } from './browser.ts';

const file = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url));

/** What the page does: every program of the suite that needs no real host. */
const PAGE = `
  import { inPage } from ${JSON.stringify(file('browser/page.ts'))};
  import { makeWorld } from ${JSON.stringify(file('conformance/world.ts'))};
  import { TEST_TOOLS } from ${JSON.stringify(file('guest/tools.ts'))};

  async function run() {
    const sections = await (await fetch('/sections.json')).json();
    return sections.flatMap(({ name, chunks }) =>
      chunks.map((chunk) => inPage(chunk, name.startsWith('programs/') ? makeWorld().here : TEST_TOOLS)));
  }
  const report = await run().catch((error) => ({ error: String(error?.stack ?? error) }));
  await fetch('/done', { method: 'POST', body: JSON.stringify(report) });
`;

/** The page's program as one file. The world of the suite also makes tools for the sandbox, which a page has no use for. */
async function bundled(): Promise<string> {
  const entry = {
    name: 'page',
    resolveId(id: string, importer = '') {
      if (id === 'page') return id;
      if (!importer.endsWith('/world.ts')) return null;
      return id.endsWith('/entries/index.ts') ? 'sandbox' : null;
    },
    load: (id: string) =>
      id === 'page'
        ? PAGE
        : id === 'sandbox'
          ? `export { decode, encode } from ${JSON.stringify(file('../src/wire/codec.ts'))};
             export const defineTool = () => null; export class ToolError extends Error {}`
          : null,
  };
  const build = await rolldown({ input: 'page', platform: 'browser', plugins: [entry] });
  const { output } = await build.generate({ format: 'esm' });
  await build.close();
  expect(output).toHaveLength(1);
  expect(output[0].imports).toEqual([]);
  return output[0].code;
}

describe('./browser in a browser', () => {
  it('gives the output and the fuel of the sandbox, over the whole conformance suite', { timeout: 120_000 }, async () => {
    const whole = sections().map((section) => ({ ...section, chunks: section.chunks.filter(runsInPage) }));
    const there = await inChromium({
      '/': { type: 'text/html', body: '<!doctype html><title>page</title><script type="module" src="/page.js"></script>' },
      '/page.js': { type: 'text/javascript', body: await bundled() },
      '/sections.json': { type: 'application/json', body: JSON.stringify(whole.map(({ name, chunks }) => ({ name, chunks }))) },
    });
    const outcomes = there as readonly Outcome[];
    expect(Array.isArray(outcomes), JSON.stringify(there)).toBe(true);
    const policy = { context: 'config', allow: ['*'] } as const;
    await using runtime = await createRuntime({ policy, tools: pureTools() });
    let index = 0;
    for (const section of whole)
      for (const chunk of section.chunks) {
        const here = essence(await inSandbox(runtime, chunk, section.tools().sandbox));
        const seen = outcomes[index++];
        expect(plain(seen === undefined ? null : essence(seen)), chunk.title).toEqual(plain(here));
      }
    expect(index).toBe(outcomes.length);
    expect(index).toBeGreaterThan(480);
  });
});

/** Without what JSON does not keep. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
