// @module-tag slow
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { answerSchema, differenceOf } from '../../src/cli/conformance/driver.ts';
import { perform } from '../../src/cli/conformance/operations.ts';
import { readVectors } from '../../src/cli/conformance/vectors.ts';
import { inChromium } from './browser.ts';

const vectors = readVectors(new URL('../../conformance/aeiou/', import.meta.url));
const source = (path: string): string => JSON.stringify(fileURLToPath(new URL(`../../src/${path}`, import.meta.url)));

/** What the page does: every vector of the kit, and what it finds itself running on. */
const PAGE = `
  import { decodeBase64Url, defaultCrypto, loadKeyFile, nativeCrypto, newTurnNonce } from ${source('aeiou/index.ts')};
  import { perform } from ${source('cli/conformance/operations.ts')};

  function refusedWith(work) {
    try { work(); return 'nothing'; } catch (error) { return error.code; }
  }
  async function run() {
    const answers = [];
    for (const [id, { op, input }] of (await (await fetch('/vectors.json')).json()).entries())
      answers.push({ id, ...((await perform(op, input)) ?? { unsupported: true }) });
    return {
      answers, crypto: defaultCrypto.name, native: nativeCrypto() !== null, process: typeof process, buffer: typeof Buffer,
      browser: navigator.userAgent, nonce: decodeBase64Url(newTurnNonce())?.length, keyFile: refusedWith(() => loadKeyFile('x')),
    };
  }
  const report = await run().catch((error) => ({ error: String(error?.stack ?? error) }));
  await fetch('/done', { method: 'POST', body: JSON.stringify(report) });
`;

const reportSchema = z.object({
  answers: z.array(answerSchema),
  crypto: z.string(),
  native: z.boolean(),
  process: z.string(),
  buffer: z.string(),
  browser: z.string(),
  nonce: z.number(),
  keyFile: z.string(),
});

/** The page's program as one file. Fails when something of it wants a module of Node. */
async function bundled(): Promise<string> {
  const entry = {
    name: 'page',
    resolveId: (id: string) => (id === 'page' ? id : null),
    load: (id: string) => (id === 'page' ? PAGE : null),
  };
  const build = await rolldown({ input: 'page', platform: 'browser', plugins: [entry] });
  const { output } = await build.generate({ format: 'esm' });
  await build.close();
  expect(output).toHaveLength(1);
  expect(output[0].imports).toEqual([]);
  return output[0].code;
}

describe('./aeiou in a browser', () => {
  it('answers every vector of the conformance kit as it does on Node, with noble instead of node:crypto', async () => {
    const code = await bundled();
    expect(code).not.toMatch(/from ["']node:/);
    const report = reportSchema.parse(
      await inChromium({
        '/': { type: 'text/html', body: '<!doctype html><title>aeiou</title><script type="module" src="/page.js"></script>' },
        '/page.js': { type: 'text/javascript', body: code },
        '/vectors.json': { type: 'application/json', body: JSON.stringify(vectors.map(({ op, input }) => ({ op, input }))) },
      }),
    );
    expect(report).toMatchObject({
      crypto: 'noble',
      native: false,
      process: 'undefined',
      buffer: 'undefined',
      nonce: 16,
      keyFile: 'ERR_KEY',
    });
    expect(report.browser).toContain('HeadlessChrome');
    expect(report.answers).toHaveLength(vectors.length);
    const failures = vectors.flatMap((vector, i) => {
      const answer = report.answers[i];
      const why =
        answer === undefined ? 'no answer' : 'unsupported' in answer ? 'unsupported' : differenceOf(vector.expect, answer);
      return why === null ? [] : [`${vector.file} ${vector.id}: ${why}`];
    });
    expect(failures).toEqual([]);
    const ours = await Promise.all(vectors.map(async ({ op, input }, id) => ({ id, ...(await perform(op, input)) })));
    expect(report.answers).toEqual(ours);
  });
});
