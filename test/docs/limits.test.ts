import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { LIMITS } from '../../src/wire/limits.ts';
import { ROOT } from '../architecture/source.ts';
import { LIMITS_PAGE, limitsPage, REQUEST_SCHEMA, requestSchema } from './limitspage.ts';

it(`${LIMITS_PAGE} is what scripts/limits.mjs writes`, () => {
  expect(readFileSync(join(ROOT, LIMITS_PAGE), 'utf8')).toBe(limitsPage());
});

it(`${REQUEST_SCHEMA} has the limits of the table`, () => {
  const text = readFileSync(join(ROOT, REQUEST_SCHEMA), 'utf8');
  expect(text).toBe(requestSchema(text));
  expect(Object.keys(JSON.parse(text).properties.limits.properties)).toEqual(LIMITS.map(({ key }) => key));
});
