import { PassThrough, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { Output } from '../../src/cli/terminal/output.ts';
import { Progress } from '../../src/cli/terminal/progress.ts';
import type { Terminal } from '../../src/cli/terminal/terminal.ts';
import { plainPalette } from '../../src/report/index.ts';

function terminal(isTTY: boolean): { readonly terminal: Terminal; shown(): string } {
  let written = '';
  const stderr = new Writable({
    write(chunk, _, done) {
      written += String(chunk);
      done();
    },
  });
  const streams = { stdin: new PassThrough(), out: new Output(new PassThrough()), err: new Output(stderr) };
  const styles = { paintOut: plainPalette, paintErr: plainPalette };
  return {
    terminal: {
      ...streams,
      ...styles,
      screen: null,
      outIsTTY: false,
      statusColumns: isTTY ? 79 : 0,
      interrupt: new AbortController().signal,
      onSignal: () => {},
      beforeFailure: () => {},
    },
    shown() {
      const before = written;
      written = '';
      return before;
    },
  };
}

describe('live progress', () => {
  it('AL3-0-1: one line tells turn, step, time, fuel and the last tool, and is taken away', async () => {
    const { terminal: tty, shown } = terminal(true);
    const progress = new Progress(tty);
    progress.show({ sid: 's', turn: 3, type: 'state', from: 'IDLE', to: 'EXECUTING' });
    const at = { fork: 'f', source: 'ACTIONS', line: 1, column: 1 };
    const outcome = { ok: true, value: null } as const;
    const entry = { kind: 'tool', seq: 1, name: 'tool.x.\u001b[2JGet', args: [], at, outcome, begin: 0, ms: 1 } as const;
    progress.show({ sid: 's', turn: 3, type: 'called', entry });
    expect(progress.text).toMatch(/^turn 3 · running · \d+\.\d s · fuel 0 · tool\.x\.\\e\[2JGet$/);
    await sleep(250);
    const drawn = shown();
    expect(drawn).toContain('\r\u001b[Kturn 3 · running');
    expect(drawn).not.toContain('\n');
    progress[Symbol.dispose]();
    expect(shown()).toBe('\r\u001b[K');
    await sleep(250);
    expect(shown()).toBe('');
  });

  it('there is none where nobody would see it', async () => {
    const { terminal: pipe, shown } = terminal(false);
    using progress = new Progress(pipe);
    progress.show({ sid: 's', turn: 1, type: 'asked', attempt: 1, prompt: '' });
    await sleep(250);
    progress.clear();
    expect(shown()).toBe('');
  });

  it('shows what nested sessions do, as deep as they are, and forgets those that ended', () => {
    const { terminal: tty } = terminal(true);
    using progress = new Progress(tty);
    progress.show({ sid: 's', turn: 1, type: 'state', from: 'IDLE', to: 'EXECUTING' });
    progress.showNested({ sid: 'a', turn: 2, type: 'state', from: 'IDLE', to: 'EXECUTING' });
    progress.showNested({ sid: 'b', turn: 1, type: 'asked', attempt: 1, prompt: '' });
    expect(progress.text).toMatch(/^turn 1 · running .* fuel 0 › turn 2 running › turn 1 asking the agent$/);
    progress.showNested({ sid: 'b', turn: 1, type: 'unanswered', reason: 'ERR_AGENT', message: 'no' });
    expect(progress.text).toMatch(/ › turn 2 running$/);
  });
});
