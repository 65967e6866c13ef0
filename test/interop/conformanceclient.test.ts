import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { required, scenario, VERSIONS, type Version } from './conformance.ts';

const CLIENT = fileURLToPath(new URL('conformanceclient.ts', import.meta.url));
const COMMAND = `${process.execPath} --disable-warning=ExperimentalWarning ${CLIENT}`;

/** The required scenarios that do not pass, all for one reason: the client gets no tokens of its own (OAuth). It sends configured headers. */
const FAILING = /^auth\//;

/** The scenarios that have to pass, and the number of their checks. */
const PASSING: Readonly<Record<Version, Readonly<Record<string, number>>>> = {
  '2025-11-25': { initialize: 1, tools_call: 2, 'elicitation-sep1034-client-defaults': 5, 'sse-retry': 3 },
  '2026-07-28': {
    tools_call: 2,
    'request-metadata': 6,
    'sep-2322-client-request-state': 5,
    'http-standard-headers': 3,
    'http-custom-headers': 18,
    'http-invalid-tool-headers': 12,
    'json-schema-ref-no-deref': 1,
  },
};

describe.each(VERSIONS)('the conformance suite for a client of %s', (version) => {
  const scenarios = required(version, 'client');

  it('requires what this file knows', () => {
    expect(scenarios.filter((name) => !FAILING.test(name)).sort()).toEqual(Object.keys(PASSING[version]).sort());
  });

  it.each(Object.entries(PASSING[version]))('%s passes with %i checks', async (name, passed) => {
    expect(await scenario(version, name, 'client', ['--command', COMMAND])).toEqual({ passed, failed: [] });
  });

  it('a server that wants a token that the client cannot get is an error, and the client ends', async () => {
    const { passed, failed } = await scenario(version, 'auth/basic-cimd', 'client', ['--command', COMMAND]);
    expect([passed, failed.length]).toEqual([0, 1]);
  });
});
