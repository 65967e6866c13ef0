import type { PageResult } from '../../../src/browser/index.ts';

/** What each tool answers, by its name and then by the text of the first argument; `*` stands for any other. */
export type Answers = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** A program for the worker. */
export interface Job {
  readonly source: string;
  readonly answers: Answers;
  readonly limits: { readonly fuel: number; readonly memoryBytes: number };
}

/** What the worker says of it. */
export type Outcome = { readonly result: PageResult } | { readonly failure: string };

/** Reads the text of the tools. Throws an `Error` whose message is for the person at the page. */
export function readAnswers(text: string): Answers {
  if (text.trim() === '') return {};
  const value: unknown = JSON.parse(text);
  if (!isRecord(value)) throw new Error('tools: write {"tool.group.Name": {"argument": result}}');
  return Object.fromEntries(
    Object.entries(value).map(([name, answers]) => {
      if (!/^tool\.\w+(\.\w+)*$/i.test(name)) throw new Error(`tools: ${name} is not the name of a tool; write tool.group.Name`);
      if (!isRecord(answers)) throw new Error(`tools: ${name} needs answers, as in {"*": 1}`);
      return [name, answers];
    }),
  );
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
