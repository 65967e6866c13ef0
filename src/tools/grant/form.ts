import { z } from 'zod';
import { fields, later } from '../../files/problem.ts';
import { otherVersion, STORED_VERSION } from '../../wire/forms.ts';
import { orderForm, pattern, rowForm, toolsForm } from '../policy/form.ts';
import type { Grant } from './granted.ts';

/** Most calls of a grant, which is what a preview has at most. */
const MOST_CALLS = 2000;

/** The schema of a grant: one for files, options and `schemas/grant.schema.json`. */
export const grantForm = later((): z.ZodType<Grant> => {
  const count = z.int().min(0);
  const number = z.int().min(1);
  const words = z.string();
  const usd = z.number().min(0);
  const name = String.raw`ask|promptuser|tool(\.[a-z_][a-z0-9_]*)+`;
  const call = fields({
    number: number.meta({ description: 'By which other calls name it.' }),
    tool: pattern(name, (given) => `'${given}' is not the name of a tool in lower case, ask or promptuser`).meta({
      description: 'Canonical name of a tool, ask or promptuser.',
    }),
    when: rowForm()
      .exactOptional()
      .meta({ description: 'Conditions by argument, as in a policy. Anything for other arguments.' }),
    returned: z
      .record(z.string(), fields({ call: number, part: z.literal('item').exactOptional() }))
      .exactOptional()
      .meta({ description: 'Arguments that must be what another call returned, or an item of it.' }),
    times: count.exactOptional().meta({ description: 'Most calls; any number when absent.' }),
    effects: z.enum(['none', 'read', 'write']).exactOptional().meta({ description: 'For readers: what the tool does.' }),
    cost: fields({ most: usd.nullable() })
      .exactOptional()
      .meta({ description: 'For readers: US dollars for all these calls; null where only the limit of the run bounds it.' }),
    carries: z
      .record(z.string(), z.array(z.string()))
      .exactOptional()
      .meta({ description: 'For readers: labels by argument, where the policy has rules about origin.' }),
    unknown: z.array(words).exactOptional().meta({ description: 'For readers: what is not known of the call, in words.' }),
    at: words.exactOptional().meta({ description: 'For readers: where the call stands.' }),
  });
  return fields({
    version: z.literal(STORED_VERSION, { error: ({ input }) => otherVersion('the grant', input) }),
    programs: z
      .array(fields({ name: z.string(), sha256: z.string().regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in hexadecimal') }))
      .meta({ description: 'The sources from which the grant was made, with the SHA-256 of their texts.' }),
    calls: z.array(call).max(MOST_CALLS).meta({ description: 'Calls that may be made. No other call may.' }),
    order: z
      .array(orderForm(toolsForm()))
      .exactOptional()
      .meta({ description: 'Rules about the calls before a call, as in a policy.' }),
    cost: fields({ most: usd, by: z.enum(['program', 'limit']) })
      .exactOptional()
      .meta({ description: 'For readers: US dollars that a run costs at most.' }),
    unknown: z.array(words).exactOptional().meta({ description: 'For readers: what is not known of the programs, in words.' }),
  })
    .refine(({ calls }) => new Set(calls.map((each) => each.number)).size === calls.length, 'two calls have the same number')
    .meta({ title: 'A grant: the calls that programs may make' });
});
