import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { postgresUrl } from '../../apps/lab/engines/server.ts';
import { succeed } from '../package/kit.ts';
import { ENGINES } from './kit.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The server that all test files share. */
    readonly url: string;
  }
}

/** Installs the engines and starts a server, unless `DATABASE_URL` names one. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  if (!['pg', '@restatedev/restate-sdk'].every((name) => existsSync(join(ENGINES, 'node_modules', name))))
    succeed('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: ENGINES });
  const server = await postgresUrl();
  project.provide('url', server.url);
  return async () => {
    await server[Symbol.asyncDispose]();
  };
}
