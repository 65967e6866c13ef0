import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { toPublicV1Loop } from '../../../src/loop/v1/record.ts';
import { secretHook } from '../../../src/loop/v1/secrets.ts';
import { command, emits, Stage } from './bench.ts';

const read = (name: string): object =>
  JSON.parse(readFileSync(new URL(`../../../docs/schemas/${name}.schema.json`, import.meta.url), 'utf8'));
const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, strictTypes: false, strictRequired: false });
ajv.addSchema([read('turn'), read('loop-v1')]);

function problems(value: unknown): unknown {
  return ajv.validate('loop-v1.schema.json', JSON.parse(JSON.stringify(value))) ? [] : ajv.errors;
}

let stage: Stage;
beforeAll(async () => {
  stage = await Stage.open();
});
afterAll(() => stage.runtime.close());

const GO_ON = emits('{"loop":"continue","notes":5}', 'sk-1234567890');

it.each([
  ['done', [GO_ON, emits('[[loop:done]]')], true],
  ['no signal', [emits('prose')], true],
  ['abort', [emits('[[loop:abort:reason=why]]')], true],
  ['marker', [emits('[[loop:halt:reason=why]]')], true],
  ['no progress', [GO_ON], true],
  ['a failure', [command('fail "x"')], true],
  ['nothing executed', ['let'], true],
  ['not permitted, and failed', [command('fail "x"')], false],
])('the public JSON of a loop fits its schema: %s', async (_, programs, permitted) => {
  const screen = secretHook({ key: 'sk-1234567890' });
  const { result } = await stage.play(programs, { run: { permitted }, host: { screen } });
  expect(problems(toPublicV1Loop(result))).toEqual([]);
});

it('the schema refuses what no loop can say', async () => {
  const { result } = await stage.play([GO_ON]);
  const loop = toPublicV1Loop(result);
  for (const wrong of [
    { reason: 'because' },
    { decision: 'DONE' },
    { error: null },
    { extra: 1 },
    { cause: 'done' },
    { profile: 'v3' },
  ])
    expect(problems({ ...loop, ...wrong }), JSON.stringify(wrong)).not.toEqual([]);
});
