/**
 * The Standard Schema interface (version 1), which zod, valibot and arktype implement. An argument of a tool may have such a schema
 * instead of an ArgType. Its authors advise to copy the interface, so that no package is needed.
 */
export interface StandardSchema<Output = unknown, Input = unknown> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

/** The output of a schema, or the problems of the value. */
export type SchemaResult<Output> =
  /** The value as the schema returns it. */
  | { readonly value: Output; readonly issues?: undefined }
  /** The problems of a refused value. */
  | { readonly issues: readonly SchemaIssue[] };

/** One problem of a value, and its place in the value. */
export interface SchemaIssue {
  /** What is wrong, as a sentence. */
  readonly message: string;
  /** The keys that lead to the place; absent for the value itself. */
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** True for a Standard Schema of version 1. */
export function isStandardSchema(value: unknown): value is StandardSchema {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null || !('~standard' in value)) return false;
  const standard = value['~standard'];
  if (typeof standard !== 'object' || standard === null || !('version' in standard) || !('validate' in standard)) return false;
  return standard.version === 1 && typeof standard.validate === 'function';
}

/** The problems of a refused value in one text, each with its place within the value. */
export function issuesText(issues: readonly SchemaIssue[]): string {
  return issues
    .map(({ message, path }) => {
      const place = (path ?? []).map((step) => String(typeof step === 'object' ? step.key : step)).join('.');
      return place === '' ? message : `${place}: ${message}`;
    })
    .join(', ');
}
