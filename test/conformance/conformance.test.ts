import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { TaggedJson } from '../../src/wire/protocol.ts';
import { type Driven, drive } from '../guest/driver.ts';
import { TEST_TOOLS } from '../guest/tools.ts';
import { type Chunk, type Expected, readChunks } from './chunks.ts';

const FOLDER = new URL('.', import.meta.url).pathname;
const FILES = readdirSync(FOLDER).filter((name) => name.endsWith('.ns'));

describe.each(FILES)('conformance %s', (name) => {
  const chunks = readChunks(join(FOLDER, name)).filter((chunk) => !chunk.host);

  it.each(chunks)('$title', (chunk) => {
    expect(observed(run(chunk), chunk.expected)).toEqual(chunk.expected);
  });
});

it('every row of language.md section 12 is there, each once', () => {
  const titles = FILES.flatMap((name) => readChunks(join(FOLDER, name))).map(({ title }) => title);
  const rows = titles.flatMap((title) => /^row (\d{3})/.exec(title)?.[1] ?? []).map(Number);
  expect(rows.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 291 }, (_, index) => index + 1));
});

it('every row of the profile has a program; P34 needs an agent and is proved by the tests of the loop', () => {
  const files = [...FILES, ...readdirSync(join(FOLDER, 'programs')).map((name) => join('programs', name))];
  const titles = files.flatMap((name) => readChunks(join(FOLDER, name))).map(({ title }) => title);
  const rows = new Set(titles.flatMap((title) => title.match(/\bP\d+\b/g) ?? []));
  const wanted = Array.from({ length: 35 }, (_, index) => `P${index + 1}`).filter((row) => row !== 'P34');
  expect(wanted.filter((row) => !rows.has(row))).toEqual([]);
});

function run(chunk: Chunk): Driven {
  const events = chunk.events.map(({ name, payload }) => ({ name, source: 'src', payload: payload as TaggedJson }));
  const callsMain = events.length === 0 && /^func main\b/m.test(chunk.source);
  return drive(chunk.source, {
    call: callsMain ? 'main' : null,
    globals: chunk.globals as Record<string, TaggedJson>,
    stdin: chunk.stdin,
    limits: chunk.limits,
    events,
    tools: TEST_TOOLS,
  });
}

/** What a run did, in the words of an expectation; of an error only what the expectation speaks of. */
function observed(driven: Driven, expected: Expected): Expected {
  const { error } = driven;
  const wanted = expected.error;
  const place = error === null || wanted === null ? {} : { line: error.line, column: error.column };
  const code = error?.kind === 'syntax' ? 'syntax' : (error?.code ?? '');
  const seen = { code, ...place, limit: error?.limit };
  const keys = new Set(['code', ...Object.keys(wanted ?? { message: 0 })]);
  const details = wanted === null && error !== null ? { ...seen, message: error.message } : seen;
  return {
    emits: driven.values.map((value, index) => (typeof value === 'string' ? JSON.stringify(value) : (driven.emits[index] ?? ''))),
    whispers: driven.whispers.map(({ to, text }) => `${to}: ${text}`),
    prompts: driven.calls.flatMap((call) => (call.t === 'prompt' ? [call.text] : [])),
    eventErrors: driven.eventErrors.map(({ error: reported }) => reported.nsCode ?? -1),
    error:
      error === null ? null : (Object.fromEntries(Object.entries(details).filter(([key]) => keys.has(key))) as { code: string }),
  };
}
