import { expect, it } from 'vitest';
import { z } from 'zod';
import { answerForm } from '../../src/tools/define/answerform.ts';
import type { ReturnSpec } from '../../src/tools/define/returns.ts';
import { defineTool } from '../../src/tools/index.ts';

const formOf = (returns: ReturnSpec) => answerForm(defineTool({ name: 'tool.human.Ask', args: [], returns, run: () => null }));

it.each<readonly [returns: ReturnSpec, form: ReturnType<typeof answerForm>]>([
  ['bool', 'truth'],
  [z.boolean(), 'truth'],
  ['int', 'number'],
  [z.number(), 'number'],
  ['string', 'text'],
  [{ type: 'string' }, 'text'],
  [z.enum(['red', 'green']), { choices: ['red', 'green'] }],
  [z.enum(['x'.repeat(201)]), 'text'],
  [{ type: 'string', enum: [] }, 'text'],
  [{ enum: [1, 2] }, undefined],
  ['any', undefined],
  ['what the person says', undefined],
  ['map', undefined],
])('issue 49: a person who answers for a tool that returns %j is asked for %j', (returns, form) => {
  expect(formOf(returns)).toEqual(form);
});

it('issue 49: a tool that makes its result from the answer says nothing of the form of the answer', () => {
  const complete = () => true;
  const tool = defineTool({ name: 'tool.human.Ask', args: [], returns: 'bool', run: () => null, complete });
  expect(answerForm(tool)).toBeUndefined();
  expect(answerForm(undefined)).toBeUndefined();
});
