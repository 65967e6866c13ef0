// A browser and the servers of one file of tests. They end with the file.
import { after, before } from 'node:test';
import type { Browser } from 'playwright-core';
import { launch, type Opened, open } from './browser.ts';
import { type Answers, type Mock, mockServer } from './mock.ts';
import { Real } from './real.ts';

export interface Stage {
  readonly browser: () => Browser;
  /** Starts a server with these answers. */
  readonly served: (answers: Answers) => Promise<Mock>;
}

export function stage(): Stage {
  const mocks: Mock[] = [];
  let launched: Browser | null = null;
  before(async () => {
    launched = await launch();
  });
  after(async () => {
    await launched?.close();
    for (const mock of mocks) await mock.close();
  });
  return {
    browser: () => {
      if (launched === null) throw new Error('the browser runs from the first test on');
      return launched;
    },
    served: async (answers) => {
      const mock = await mockServer(answers);
      mocks.push(mock);
      return mock;
    },
  };
}

/** The real server and a page of it, which are there from the first test on. */
export interface RealStage {
  readonly browser: Browser;
  readonly real: Real;
  readonly opened: Opened;
}

/** Starts the real server with these flags, over the sessions that `make` has made. */
export function realStage(make: () => Promise<Real> = () => Real.make(), ...flags: readonly string[]): () => RealStage {
  let staged: RealStage | null = null;
  before(async () => {
    const [browser, real] = await Promise.all([launch(), make()]);
    staged = { browser, real, opened: await open(browser, await real.serve(...flags)) };
  });
  after(async () => {
    await staged?.browser.close();
    await staged?.real[Symbol.asyncDispose]();
  });
  return () => {
    if (staged === null) throw new Error('the server runs from the first test on');
    return staged;
  };
}
