// @module-tag slow
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type McpHttp, serveHttp } from '../../src/mcp/index.ts';
import type { Runtime } from '../../src/runtime/index.ts';
import { ROOT } from '../architecture/source.ts';
import { service } from '../mcp/server/kit.ts';
import { required, scenario, VERSIONS, type Version } from './conformance.ts';
import { forConformance, PROGRAMS } from './conformanceserver.ts';

/** The scenarios that pass, and the number of their checks. Two of each version are not required. */
const PASSING: Readonly<Record<Version, Readonly<Record<string, number>>>> = {
  '2025-11-25': {
    'server-initialize': 3,
    'logging-set-level': 2,
    ping: 2,
    'completion-complete': 2,
    'tools-list': 3,
    'tools-call-simple-text': 2,
    'tools-call-image': 2,
    'tools-call-audio': 2,
    'tools-call-embedded-resource': 2,
    'tools-call-mixed-content': 2,
    'tools-call-with-logging': 2,
    'tools-call-error': 2,
    'tools-call-with-progress': 2,
    'tools-call-sampling': 2,
    'tools-call-elicitation': 2,
    'elicitation-sep1034-defaults': 6,
    'server-sse-multiple-streams': 2,
    'elicitation-sep1330-enums': 6,
    'resources-list': 2,
    'resources-read-text': 2,
    'resources-read-binary': 2,
    'resources-templates-read': 2,
    'resources-subscribe': 2,
    'resources-unsubscribe': 2,
    'prompts-list': 2,
    'prompts-get-simple': 2,
    'prompts-get-with-args': 2,
    'prompts-get-embedded-resource': 2,
    'prompts-get-with-image': 2,
    'dns-rebinding-protection': 2,
    'server-session-lifecycle': 3,
  },
  '2026-07-28': {
    'server-stateless': 28,
    'completion-complete': 2,
    'tools-list': 4,
    'tools-call-simple-text': 2,
    'tools-call-image': 2,
    'tools-call-audio': 2,
    'tools-call-embedded-resource': 2,
    'tools-call-mixed-content': 2,
    'tools-call-error': 2,
    'tools-call-with-progress': 2,
    'server-sse-multiple-streams': 1,
    'resources-list': 2,
    'resources-read-text': 2,
    'resources-read-binary': 2,
    'resources-templates-read': 2,
    'sep-2164-resource-not-found': 4,
    'prompts-list': 2,
    'prompts-get-simple': 2,
    'prompts-get-with-args': 2,
    'prompts-get-embedded-resource': 2,
    'prompts-get-with-image': 2,
    'dns-rebinding-protection': 2,
    caching: 8,
    'input-required-result-basic-elicitation': 3,
    'input-required-result-basic-sampling': 3,
    'input-required-result-basic-list-roots': 3,
    'input-required-result-request-state': 3,
    'input-required-result-multiple-input-requests': 3,
    'input-required-result-multi-round': 4,
    'input-required-result-missing-input-response': 2,
    'input-required-result-non-tool-request': 3,
    'input-required-result-result-type': 2,
    'input-required-result-unsupported-methods': 2,
    'input-required-result-tampered-state': 2,
    'input-required-result-capability-check': 2,
    'input-required-result-ignore-extra-params': 2,
    'input-required-result-validate-input': 3,
    'http-header-validation': 14,
  },
};
const EXTRA: readonly string[] = ['server-session-lifecycle', 'http-header-validation'];

/** The scenarios that need no tool of the suite, so that the command passes them as it is. */
const PLAIN: Readonly<Record<Version, readonly string[]>> = {
  '2025-11-25': [
    'server-initialize',
    'server-session-lifecycle',
    'ping',
    'tools-list',
    'resources-list',
    'prompts-list',
    'dns-rebinding-protection',
  ],
  '2026-07-28': [
    'tools-list',
    'resources-list',
    'sep-2164-resource-not-found',
    'prompts-list',
    'dns-rebinding-protection',
    'caching',
    'http-header-validation',
  ],
};

let runtime: Runtime;
let http: McpHttp;

beforeAll(async () => {
  const made = await service([], { askUser: true, programs: PROGRAMS });
  runtime = made.runtime;
  http = await serveHttp(() => forConformance(made.servers()), { port: 0 });
});

afterAll(async () => {
  await http[Symbol.asyncDispose]();
  await runtime.close();
});

/** The address of a server that the command line has started. */
async function served(): Promise<string> {
  const child = spawn(process.execPath, [join(ROOT, 'bin/neuroscript.js'), 'tools', 'mcp', '--http', '0'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  onTestFinished(() => void child.kill());
  let said = '';
  for await (const chunk of child.stderr) {
    said += chunk;
    const url = /http:\S+/.exec(said)?.[0];
    if (url !== undefined) return url;
  }
  throw new Error(said);
}

describe.each(VERSIONS)('the conformance suite for a server of %s', (version) => {
  it('requires what this file knows', () => {
    const known = Object.keys(PASSING[version]).filter((name) => !EXTRA.includes(name));
    expect(known.sort()).toEqual([...required(version, 'server')].sort());
  });

  it('has the figures that docs/mcp.md publishes', () => {
    const counts = Object.entries(PASSING[version]).flatMap(([name, checks]) => (EXTRA.includes(name) ? [] : [checks]));
    const row = [version, `${counts.length} of ${counts.length} pass`, `${counts.reduce((sum, checks) => sum + checks, 0)}`];
    const page = readFileSync(join(ROOT, 'docs/mcp.md'), 'utf8');
    expect(
      page.split('\n').map((line) =>
        line
          .split('|')
          .slice(1, -1)
          .map((cell) => cell.trim()),
      ),
    ).toContainEqual(row);
  });

  it.each(Object.entries(PASSING[version]))('%s passes with %i checks', async (name, passed) => {
    expect(await scenario(version, name, 'server', ['--url', http.url])).toEqual({ passed, failed: [] });
  });

  it('passes for the command as it is, where the suite needs no tools of its own', async () => {
    const url = await served();
    for (const name of PLAIN[version])
      expect(await scenario(version, name, 'server', ['--url', url]), name).toMatchObject({ failed: [] });
  });
});
