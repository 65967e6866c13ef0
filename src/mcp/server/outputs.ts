import type { StandardSchemaWithJSON } from '@modelcontextprotocol/server';
import { z } from 'zod';
import checks from '../../../docs/schemas/check.schema.json' with { type: 'json' };
import errors from '../../../docs/schemas/error.schema.json' with { type: 'json' };
import results from '../../../docs/schemas/result.schema.json' with { type: 'json' };
import turns from '../../../docs/schemas/turn.schema.json' with { type: 'json' };
import values from '../../../docs/schemas/value.schema.json' with { type: 'json' };

/*
 * The schemas of what the tools answer, made from `docs/schemas/` of this package. A client gets one schema for each tool, so the files
 * that another file names become its `$defs`.
 */

const SCHEMA = z.record(z.string(), z.unknown());
type Schema = Readonly<z.infer<typeof SCHEMA>>;

/** Suffix of a reference to another file. */
const FILE = '.schema.json';

/** Prefix of a reference to a definition of the same schema. */
const DEFS = '#/$defs/';

/** A schema of a file, with every `$ref` rewritten for a file that is the `$defs` entry `name`; an empty name stands for the root. */
function within(schema: unknown, name: string): Schema {
  const moved = (ref: string): string => {
    if (ref.endsWith(FILE)) return `${DEFS}${ref.slice(0, -FILE.length)}`;
    if (name === '') return ref;
    return ref === '#' ? `${DEFS}${name}` : ref.replace(DEFS, `${DEFS}${name}.`);
  };
  const text = JSON.stringify(schema, (key, value) => (key === '$ref' && typeof value === 'string' ? moved(value) : value));
  const { $schema: _schema, $id: _id, ...rest } = SCHEMA.parse(JSON.parse(text));
  return rest;
}

/** The `$defs` entries of a file: the file itself, and its own `$defs` with its name as prefix. */
function definitions(name: string, schema: Schema): Schema {
  const { $defs = {}, ...root } = within(schema, name);
  const own = Object.entries(SCHEMA.parse($defs)).map(([key, value]) => [`${name}.${key}`, value]);
  return { [name]: root, ...Object.fromEntries(own) };
}

/** The entries of `$defs` that a schema uses, directly or through others. */
function used(root: Schema, $defs: Schema): Schema {
  const found = new Set<string>();
  const look = (schema: unknown): void => {
    if (typeof schema !== 'object' || schema === null) return;
    for (const [key, value] of Object.entries(schema)) {
      if (key !== '$ref' || typeof value !== 'string') look(value);
      else if (!found.has(value)) {
        found.add(value);
        look($defs[value.slice(DEFS.length)]);
      }
    }
  };
  look(root);
  return Object.fromEntries(Object.entries($defs).filter(([name]) => found.has(`${DEFS}${name}`)));
}

const SHARED = { ...definitions('value', values), ...definitions('error', errors) };

/** One schema without references to other files, as an output schema of the protocol. */
function output({ $defs = {}, ...root }: Schema): StandardSchemaWithJSON {
  const schema = { ...root, $defs: used(root, { ...SHARED, ...SCHEMA.parse($defs) }) };
  // The runtime makes the answers, and tests hold them to the schemas: a check of every answer would only cost time.
  const validate = (value: unknown) => ({ value });
  return {
    '~standard': { version: 1, vendor: 'neuroscript', validate, jsonSchema: { input: () => schema, output: () => schema } },
  };
}

const { properties, ...result } = within(results, '');
// Only `run --trace` shows the journal.
const { journal: _journal, ...shown } = SCHEMA.parse(properties);
const checkDefinitions = SCHEMA.parse(within(checks, '')['$defs']);

/** The answer of `run`: the object of `run --json`. */
export const RUN_OUTPUT = output({ ...result, properties: shown });

/** The answer of `check`: the object of `check --json --cost`. */
export const CHECK_OUTPUT = output({ ...SCHEMA.parse(checkDefinitions['report']), $defs: checkDefinitions });

/** The answer of `turn`: the object of `turn --json`. */
export const TURN_OUTPUT = output(within(turns, ''));
