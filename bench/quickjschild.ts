// QuickJS in a process of its own that the host can kill, with the frames and the blocking pipe of our workers (see quickjs.ts). It answers a
// script with its value or its error; the script's `echo` is a call of the host, for which it waits.
import { getQuickJS, shouldInterruptAfterDeadline } from 'quickjs-emscripten';
import { FramePipe } from '../src/wire/frames.ts';
import { descriptorPipe, FRAMES_FD } from '../src/worker/pipe.ts';
import type { QuickJsOrder } from './quickjs.ts';

const pipe = new FramePipe(descriptorPipe(FRAMES_FD));
const quickjs = await getQuickJS();
pipe.write('{"ready":true}');
for (let text = pipe.read(); text !== null; text = pipe.read()) pipe.write(JSON.stringify(answerTo(JSON.parse(text))));

function answerTo({ script, ms, memoryMb }: QuickJsOrder): object {
  const context = quickjs.newContext();
  context.runtime.setMemoryLimit(memoryMb * 1024 * 1024);
  context.runtime.setInterruptHandler(shouldInterruptAfterDeadline(Date.now() + ms));
  try {
    if (script.includes('echo('))
      context
        .newFunction('echo', (value) => context.newNumber(hosts(context.getNumber(value))))
        .consume((echo) => context.setProp(context.global, 'echo', echo));
    return { value: context.unwrapResult(context.evalCode(script)).consume((handle) => context.dump(handle)) };
  } catch (error) {
    return { error: String(error) };
  } finally {
    context.dispose();
  }
}

/** The answer of the host to a call. */
function hosts(value: number): number {
  pipe.write(JSON.stringify({ call: value }));
  return JSON.parse(pipe.read() ?? 'null').value;
}
