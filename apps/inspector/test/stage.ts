// A browser and the mock servers of one file of tests. They end with the file.
import { after, before } from 'node:test';
import type { Browser } from 'playwright-core';
import { launch } from './browser.ts';
import { type Answers, type Mock, mockServer } from './mock.ts';

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
