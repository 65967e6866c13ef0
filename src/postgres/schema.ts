import { ConfigError } from '../wire/errors.ts';

const DEFAULT_SCHEMA = 'neuroscript';

const FIRST = 'abcdefghijklmnopqrstuvwxyz_';
const REST = `${FIRST}0123456789`;

/** The name of a schema, which stands in statements as it is. Throws {@link ConfigError} for a name with other characters. */
export function checkSchema(name: string = DEFAULT_SCHEMA): string {
  const right = FIRST.includes(name.slice(0, 1)) && [...name].every((each) => REST.includes(each));
  if (name !== '' && name.length <= 40 && right && !name.startsWith('pg_')) return name;
  throw new ConfigError('the schema of a store may have up to 40 lower-case letters, digits and _, and begins with a letter');
}
