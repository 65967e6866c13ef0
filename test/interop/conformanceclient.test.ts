// @module-tag slow
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../architecture/source.ts';
import { required, scenario, VERSIONS, type Version } from './conformance.ts';

const CLIENT = fileURLToPath(new URL('conformanceclient.ts', import.meta.url));
const COMMAND = `${process.execPath} --disable-warning=ExperimentalWarning ${CLIENT}`;

/** The scenarios, and the number of their checks. */
const PASSING: Readonly<Record<Version, Readonly<Record<string, number>>>> = {
  '2025-11-25': {
    initialize: 1,
    tools_call: 2,
    'elicitation-sep1034-client-defaults': 5,
    'sse-retry': 3,
    'auth/metadata-default': 19,
    'auth/metadata-var1': 19,
    'auth/metadata-var2': 19,
    'auth/metadata-var3': 19,
    'auth/basic-cimd': 14,
    'auth/scope-from-www-authenticate': 15,
    'auth/scope-from-scopes-supported': 15,
    'auth/scope-omitted-when-undefined': 15,
    'auth/scope-step-up': 23,
    'auth/scope-retry-limit': 26,
    'auth/token-endpoint-auth-basic': 20,
    'auth/token-endpoint-auth-post': 20,
    'auth/token-endpoint-auth-none': 20,
    'auth/pre-registration': 14,
  },
  '2026-07-28': {
    tools_call: 2,
    'request-metadata': 6,
    'sep-2322-client-request-state': 5,
    'http-standard-headers': 3,
    'http-custom-headers': 18,
    'http-invalid-tool-headers': 12,
    'json-schema-ref-no-deref': 1,
    'auth/metadata-default': 18,
    'auth/metadata-var1': 18,
    'auth/metadata-var2': 18,
    'auth/metadata-var3': 18,
    'auth/basic-cimd': 12,
    'auth/scope-from-www-authenticate': 14,
    'auth/scope-from-scopes-supported': 14,
    'auth/scope-omitted-when-undefined': 14,
    'auth/scope-step-up': 25,
    'auth/scope-retry-limit': 27,
    'auth/token-endpoint-auth-basic': 19,
    'auth/token-endpoint-auth-post': 19,
    'auth/token-endpoint-auth-none': 19,
    'auth/pre-registration': 12,
    'auth/resource-mismatch': 3,
    'auth/offline-access-scope': 15,
    'auth/offline-access-not-supported': 14,
    'auth/authorization-server-migration': 28,
    'auth/iss-supported': 14,
    'auth/iss-not-advertised': 14,
    'auth/iss-supported-missing': 8,
    'auth/iss-wrong-issuer': 8,
    'auth/iss-unexpected': 8,
    'auth/iss-normalized': 8,
    'auth/metadata-issuer-mismatch': 3,
  },
};

/** Scenarios of extensions that no version requires. */
const EXTRA = { 'auth/client-credentials-jwt': 10, 'auth/client-credentials-basic': 10 };

describe.each(VERSIONS)('the conformance suite for a client of %s', (version) => {
  const scenarios = required(version, 'client');

  it('requires what this file knows', () => {
    expect([...scenarios].sort()).toEqual(Object.keys(PASSING[version]).sort());
  });

  it.each(Object.entries(PASSING[version]))('%s passes with %i checks', async (name, passed) => {
    expect(await scenario(version, name, 'client', ['--command', COMMAND])).toEqual({ passed, failed: [] });
  });

  it('has the figures that docs/mcp.md publishes', () => {
    const counts = Object.values(PASSING[version]);
    const row = [version, `${counts.length} of ${counts.length} pass`, `${counts.reduce((sum, checks) => sum + checks, 0)}`];
    expect(rowsOf(readFileSync(join(ROOT, 'docs/mcp.md'), 'utf8'))).toContainEqual(row);
  });
});

it.each(Object.entries(EXTRA))('%s, which no version requires, passes with %i checks', async (name, passed) => {
  expect(await scenario(null, name, 'client', ['--command', COMMAND])).toEqual({ passed, failed: [] });
});

function rowsOf(page: string): readonly (readonly string[])[] {
  return page.split('\n').map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}
