import { fork } from 'node:child_process';
import { once } from 'node:events';
import { type Engine, timed } from './engine.ts';

/** Limits of every engine that supports them: ours cannot be switched off. */
const SECONDS = 10;
const MEMORY_MB = 64;

/** Monty by pydantic: Python in Rust, in this process. */
export async function openMonty(): Promise<Engine> {
  const { Monty } = await import('@pydantic/monty');
  return {
    name: '@pydantic/monty',
    boundary: 'in process',
    run: ({ python }) =>
      timed(() => new Monty(python).run({ limits: { maxDurationSecs: SECONDS, maxMemory: MEMORY_MB * 1024 * 1024 } })),
    async [Symbol.asyncDispose]() {},
  };
}

/** QuickJS in WebAssembly: a fresh runtime and context per run, disposed within the measured time. */
export async function openQuickJs(): Promise<Engine> {
  const { getQuickJS, shouldInterruptAfterDeadline } = await import('quickjs-emscripten');
  const quickjs = await getQuickJS();
  return {
    name: 'quickjs-emscripten',
    boundary: 'WebAssembly, in process',
    run: ({ javascript }) =>
      timed(() => {
        const context = quickjs.newContext();
        context.runtime.setMemoryLimit(MEMORY_MB * 1024 * 1024);
        context.runtime.setInterruptHandler(shouldInterruptAfterDeadline(Date.now() + SECONDS * 1000));
        try {
          return context.unwrapResult(context.evalCode(javascript)).consume((handle) => context.dump(handle));
        } finally {
          context.dispose();
        }
      }),
    async [Symbol.asyncDispose]() {},
  };
}

/**
 * A bare V8 isolate that runs JavaScript: the cost of an isolate alone. It lives in a child process, because isolated-vm needs a Node
 * flag. The time is measured inside the child, without the process boundary.
 */
export async function openRawIsolate(): Promise<Engine> {
  const own = import.meta.url;
  const child = fork(new URL(own.endsWith('.ts') ? './child.ts' : './child.js', own), { execArgv: ['--no-node-snapshot'] });
  const exit = once(child, 'exit');
  const gone = exit.then(() => Promise.reject(new Error('the isolated-vm process ended')));
  gone.catch(() => {}); // its end is expected once the engine is disposed
  const answer = async (): Promise<unknown> => {
    const [message] = await Promise.race([once(child, 'message'), gone]);
    return message;
  };
  const ready = await answer();
  if (ready !== 'ready') throw new Error(`the isolated-vm process answered ${JSON.stringify(ready)}`);
  return {
    name: 'isolated-vm (raw)',
    boundary: 'isolate',
    async run({ javascript }) {
      child.send(javascript);
      const message = await answer();
      if (
        typeof message !== 'object' ||
        message === null ||
        !('ms' in message) ||
        typeof message.ms !== 'number' ||
        !('value' in message)
      )
        throw new Error(`the isolated-vm process answered ${JSON.stringify(message)}`);
      return { value: message.value, ms: message.ms };
    },
    async [Symbol.asyncDispose]() {
      child.disconnect();
      await exit;
    },
  };
}
