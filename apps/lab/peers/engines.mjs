// The peers of `neuroscript bench peers` and `bench quotas --peers`, each behind the same face: an opener resolves to a function that
// runs one program in a fresh sandbox. `javascript` is the body of a function, `python` statements whose last one is the result; both may
// call `echo(n)`, which gives back its argument. Limits are those that the engine offers: wall time and memory.
import { Worker } from 'node:worker_threads';

/** @typedef {{ javascript: string, python: string }} Program */
/** @typedef {{ ms: number, memoryMb: number }} Limits */

const echo = (value) => value;
const asExpression = (body) => `(() => {${body}\n})()`;
const callsTool = (text) => text.includes('echo(');

async function monty() {
  const { Monty } = await import('@pydantic/monty');
  return ({ python }, { ms, memoryMb }) =>
    new Monty(python).run({
      limits: { maxDurationSecs: ms / 1000, maxMemory: memoryMb * 1024 * 1024 },
      ...(callsTool(python) ? { externalFunctions: { echo } } : {}),
    });
}

async function quickjs() {
  const { getQuickJS, shouldInterruptAfterDeadline } = await import('quickjs-emscripten');
  const engine = await getQuickJS();
  return ({ javascript }, { ms, memoryMb }) => {
    const context = engine.newContext();
    context.runtime.setMemoryLimit(memoryMb * 1024 * 1024);
    context.runtime.setInterruptHandler(shouldInterruptAfterDeadline(Date.now() + ms));
    try {
      if (callsTool(javascript))
        context.newFunction('echo', (value) => value.dup()).consume((own) => context.setProp(context.global, 'echo', own));
      return context.unwrapResult(context.evalCode(asExpression(javascript))).consume((handle) => context.dump(handle));
    } finally {
      context.dispose();
    }
  };
}

async function run() {
  const { createRunner } = await import('run');
  const plain = createRunner();
  const withTool = createRunner({ syncHostFunctions: { tools: { echo } } });
  return async ({ javascript }, { ms, memoryMb }) => {
    const limits = { timeoutMs: ms, memoryLimitBytes: memoryMb * 1024 * 1024 };
    const calls = callsTool(javascript);
    const source = calls ? `const echo = (value) => tools.echo(value);\n${javascript}` : javascript;
    const { value } = await (calls ? withTool : plain).run({ source, limits });
    return value;
  };
}

async function isolatedVm() {
  const { default: ivm } = await import('isolated-vm');
  return ({ javascript }, { ms, memoryMb }) => {
    const isolate = new ivm.Isolate({ memoryLimit: memoryMb });
    const context = isolate.createContextSync();
    try {
      if (callsTool(javascript)) context.global.setSync('echo', new ivm.Callback(echo));
      return context.evalSync(asExpression(javascript), { timeout: ms, copy: true });
    } finally {
      if (!isolate.isDisposed) isolate.dispose();
    }
  };
}

const THREAD = `
const { parentPort } = require('node:worker_threads');
const { runInNewContext } = require('node:vm');
parentPort.on('message', ({ text, ms }) => {
  try {
    parentPort.postMessage({ value: runInNewContext(text, { echo: (value) => value }, { timeout: ms }) });
  } catch (error) {
    parentPort.postMessage({ error: { name: error.name, code: error.code, message: error.message } });
  }
});`;

/** A thread serves one run after another. One that breaks its memory limit dies, and the next run starts another. */
async function vmInThread() {
  let thread = null;
  let memory = 0;
  return ({ javascript }, { ms, memoryMb }) => {
    if (thread === null || memory !== memoryMb) {
      void thread?.terminate();
      thread = new Worker(THREAD, { eval: true, resourceLimits: { maxOldGenerationSizeMb: memoryMb } });
      memory = memoryMb;
    }
    const own = thread;
    return new Promise((resolve, reject) => {
      const onDeath = (error) => {
        if (thread === own) thread = null;
        reject(error);
      };
      own.once('error', onDeath);
      own.once('message', ({ value, error }) => {
        own.off('error', onDeath);
        if (error === undefined) resolve(value);
        else reject(Object.assign(new Error(error.message), error));
      });
      own.postMessage({ text: asExpression(javascript), ms });
    });
  };
}

/** Every peer by its name: what stands between a program and the process, the language, and how it is opened. */
export const PEERS = {
  '@pydantic/monty': { boundary: 'in process', language: 'python', open: monty },
  'quickjs-emscripten': { boundary: 'WebAssembly, in process', language: 'javascript', open: quickjs },
  run: { boundary: 'WebAssembly in a worker thread', language: 'javascript', open: run },
  'isolated-vm (raw)': { boundary: 'isolate, in process', language: 'javascript', open: isolatedVm },
  'node:vm in a worker thread': { boundary: 'no sandbox: a thread', language: 'javascript', open: vmInThread },
};
