import { createHash } from 'node:crypto';
import { stringify } from 'yaml';
import { pathText, readAs } from '../../files/problem.ts';
import { defined } from '../../wire/defined.ts';
import { ConfigError } from '../../wire/errors.ts';
import { otherVersion, STORED_VERSION } from '../../wire/forms.ts';
import { checkObject } from '../../wire/options.ts';
import { YamlFile } from '../yaml.ts';
import { grantForm } from './form.ts';
import type { Grant } from './granted.ts';

/**
 * A grant of any origin, checked. Throws {@link ConfigError} (`ERR_CONFIG`) with the place and the problem.
 */
export function checkedGrant(what: string, value: unknown): Grant {
  checkObject(what, value);
  const given: { readonly version?: unknown } = defined({ ...value });
  const { version } = given;
  if (typeof version === 'number' && version !== STORED_VERSION) throw new ConfigError(otherVersion(what, version));
  return readAs(grantForm(), given, ({ path, problem }) => {
    throw new ConfigError(`${what}: ${path.length === 0 ? '' : `${pathText(path)}: `}${problem}`);
  });
}

/**
 * A grant file, YAML or JSON (`docs/schemas/grant.schema.json`). Throws {@link ConfigError} (`ERR_CONFIG`) with the file, the line and the
 * problem.
 */
export function loadGrant(text: string, fileName: string): Grant {
  return new YamlFile(text, fileName).as(grantForm());
}

/** A grant as YAML, for a file that a person reads and narrows. */
export function grantText(grant: Grant): string {
  checkObject('the grant', grant);
  return stringify(grant, { lineWidth: 0, aliasDuplicateObjects: false });
}

/** What an approval is bound to: the SHA-256 of everything that a person sees of a grant, in hexadecimal. */
export function grantDigest(grant: Grant): string {
  checkObject('the grant', grant);
  return createHash('sha256')
    .update(JSON.stringify(inOrder(grant)))
    .digest('hex');
}

/** The value with the keys of its maps in one order, so that the order in a file does not count. */
function inOrder(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(inOrder);
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, each]) => [key, inOrder(each)]),
  );
}
