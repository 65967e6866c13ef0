import { z } from 'zod';
import { mapOf } from '../../files/check.ts';
import { resolveLimits } from '../../sandbox/index.ts';
import { ConfigError } from '../../wire/errors.ts';
import { LIMITS, type LimitValues } from '../../wire/limits.ts';

/** All limits of a turn, each within the range of a host's, so that a record cannot use more of a machine than any turn may. */
export const RECORDED_LIMITS = mapOf(z.number()).transform((limits, context): LimitValues => {
  const missing = LIMITS.find(({ key }) => !Object.hasOwn(limits, key));
  try {
    if (missing !== undefined) throw new ConfigError(`limit ${missing.key} is missing`);
    return resolveLimits('turn', limits);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    context.addIssue({ code: 'custom', message: error.message });
    return z.NEVER;
  }
});
