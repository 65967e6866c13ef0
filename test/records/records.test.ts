import { chmodSync, cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { neuroscript } from '../cli/spawn.ts';
import { within } from '../cli/terminal.ts';
import { tempFolder } from '../folder.ts';

const RECORDS = fileURLToPath(new URL('../../conformance/records', import.meta.url));
const CORPORA = readdirSync(RECORDS, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
const answers = z.array(z.object({ args: z.array(z.string()), code: z.number(), apart: z.array(z.string()), said: z.unknown() }));

/** When this fails for a version that has not been released: `npm run build && node scripts/records.mjs`. */
describe.each(CORPORA)('the records of %s', (name) => {
  it('say today what they said then', async () => {
    expect(await changesIn(name)).toEqual([]);
  });
});

describe('a changed record is found', () => {
  const [name = ''] = CORPORA;
  const change = (file: string, from: string, to: string) => (folder: string) => {
    const path = join(folder, file);
    const bytes = readFileSync(path);
    const at = bytes.indexOf(from);
    expect(at).toBeGreaterThan(0);
    bytes.write(to, at);
    writeFileSync(path, bytes);
  };

  it.each([
    ['a byte of a stored output', change('sessions.db', 'step 1.5', 'step 1.6'), /^sessions show|^replay/],
    ['a byte of an exported output', change('export.json', 'step 1.5', 'step 1.6'), /^replay export/],
    ['a byte of the log', change('decisions.jsonl', '"turn_index":1', '"turn_index":2'), /^log verify/],
    ['a byte of the queue', change('queue/executed.jsonl', '"id"', '"ID"'), /^gate/],
    ['a byte of a recording', change('game.yaml', 'd-17', 'd-18'), /^run/],
  ])('%s', async (_, damage, where) => {
    // The first command that says something else is enough.
    expect((await changesIn(name, damage, where, 1)).length).toBeGreaterThan(0);
  });
});

/**
 * The commands whose answers in a copy of the corpus differ from those that stand beside it; `where` chooses commands, and no further
 * command runs when there are `most` changes.
 */
async function changesIn(
  name: string,
  damage = (_: string): void => {},
  where = /./,
  most = Number.POSITIVE_INFINITY,
): Promise<readonly string[]> {
  const folder = tempFolder();
  cpSync(join(RECORDS, name), folder, { recursive: true });
  // Git keeps no mode, and the command refuses key files that others can read.
  for (const file of ['keys.json', 'public.json']) chmodSync(join(folder, file), 0o600);
  damage(folder);
  const changes: string[] = [];
  for (const { args, code, apart, said } of answers.parse(JSON.parse(readFileSync(join(folder, 'answers.json'), 'utf8')))) {
    const command = args.join(' ');
    if (!where.test(command)) continue;
    if (changes.length >= most) break;
    // The gate runs apart from all other commands.
    const now = await (command.startsWith('gate') ? neuroscript : within)(args, { cwd: folder });
    if (now.code !== code) {
      changes.push(`${command}: exit code ${now.code}, then ${code} ${now.stderr}`);
      continue;
    }
    const answer: unknown = typeof said === 'string' ? now.stdout : JSON.parse(now.stdout);
    changes.push(...differences(byKind(answer), byKind(said), new Set(apart), command));
  }
  return changes;
}

/** The answer of `inspect` with the kinds that it tried as a map, because later versions know further kinds and say why in other words. */
function byKind(answer: unknown): unknown {
  if (!isMap(answer) || !Array.isArray(answer['tried'])) return answer;
  return {
    ...answer,
    tried: Object.fromEntries(answer['tried'].map((tried: unknown) => [isMap(tried) ? tried['kind'] : tried, true])),
  };
}

/** Where a value does not say what an old one says. It may have further keys in its maps. */
function differences(now: unknown, old: unknown, apart: ReadonlySet<string>, at: string): readonly string[] {
  if (!isMap(old) || !isMap(now) || Array.isArray(old) !== Array.isArray(now))
    return Object.is(now, old) ? [] : [`${at}: ${JSON.stringify(now)}, then ${JSON.stringify(old)}`];
  const sized =
    Array.isArray(old) && Array.isArray(now) && old.length !== now.length ? [`${at}: ${now.length}, then ${old.length}`] : [];
  const keys = Object.keys(old).filter((key) => !apart.has(key));
  return [...sized, ...keys.flatMap((key) => differences(now[key], old[key], apart, `${at} .${key}`))];
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
