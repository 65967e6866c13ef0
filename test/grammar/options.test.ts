import { expect, it } from 'vitest';
import { format, parse } from '../../grammar/index.ts';

const SOURCE = 'command\nemit 1\nendcommand\n';

it('a source is parsed without options, under the name that programs have in a run', () => {
  expect(parse(SOURCE)).toMatchObject({ ok: true, file: { name: 'src', kind: 'commands' } });
  expect(parse(SOURCE, { maxBytes: 10 })).toMatchObject({ ok: false });
});

it('a source is formatted without options', () => {
  expect(format(SOURCE)).toEqual({ ok: true, text: 'command\n  emit 1\nendcommand\n' });
});
