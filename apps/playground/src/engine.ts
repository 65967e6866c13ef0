// The worker of the page: runs one program after the other. The page ends it when a program does not stop.
import { parse } from '../../../grammar/index.ts';
import { type PageTool, PageToolError, runInPage } from '../../../src/browser/index.ts';
import type { Value } from '../../../src/wire/values.ts';
import type { Answers, Job, Outcome } from './messages.ts';

self.onmessage = ({ data }: MessageEvent<Job>) => {
  self.postMessage(outcomeOf(data));
};

function outcomeOf({ source, answers, limits }: Job): Outcome {
  try {
    const call = callsMain(source) ? { call: { name: 'main', args: [] } } : {};
    return {
      result: runInPage(source, { tools: toolsOf(answers), limits: { ...limits, cpuMs: 60_000, wallMs: 60_000 }, ...call }),
    };
  } catch (error) {
    return { failure: error instanceof Error ? error.message : String(error) };
  }
}

/** A file of definitions runs by its procedure `main`. */
function callsMain(source: string): boolean {
  const parsed = parse(source, { name: 'page.ns' });
  return parsed.ok && parsed.file.procedures.some(({ name, needs }) => name.name === 'main' && needs.length === 0);
}

function toolsOf(answers: Answers): Record<string, PageTool> {
  return Object.fromEntries(
    Object.entries(answers).map(([name, known]): [string, PageTool] => [
      name,
      (argument = null) => {
        const key = typeof argument === 'string' ? argument : JSON.stringify(argument);
        const found = Object.hasOwn(known, key) ? key : '*';
        if (!Object.hasOwn(known, found)) throw new PageToolError(9, `${name} has no answer for ${key}`);
        // JSON has no other values than these.
        return known[found] as Value;
      },
    ]),
  );
}
