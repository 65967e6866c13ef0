import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findBubblewrap } from '../../src/sandbox/bubblewrap.ts';
import { launch } from '../../src/sandbox/launch.ts';
import { FrameReader } from '../../src/wire/frames.ts';

/** What hostile code could do, and what became of what it tried to harm. */
export interface Harm {
  /** Names of the deeds of probe.cjs that worked. */
  readonly worked: readonly string[];
  readonly victimLives: boolean;
  readonly fileUntouched: boolean;
  /** Files that were left beside it. */
  readonly left: readonly string[];
  /** Messages and connections that reached the listeners of this process. */
  readonly heard: number;
}

/** What SECURITY.md says that the permission model does not stop: signals to processes of the same user. */
export const SIGNALS = ['signal the host', 'start the inspector of another process', 'signal another process'];

/** Starts probe.cjs exactly like a worker, with or without the operating system sandbox, and returns what it could do. */
export async function probed(sandboxed: boolean): Promise<Harm> {
  const folder = mkdtempSync(join(tmpdir(), 'probe-'));
  const [file, guest] = [join(folder, 'victim'), join(folder, 'plan.json')];
  writeFileSync(file, 'untouched');
  let heard = 0;
  const tcp = createServer((socket) => {
    heard++;
    socket.destroy();
  }).listen(0, '127.0.0.1');
  const udp = createSocket('udp4').on('message', () => heard++);
  udp.bind(0, '127.0.0.1');
  const victim = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
  try {
    await Promise.all([once(tcp, 'listening'), once(udp, 'listening'), once(victim, 'spawn')]);
    const address = tcp.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    writeFileSync(
      guest,
      JSON.stringify({ port, udpPort: udp.address().port, victim: file, victimPid: victim.pid, hostPid: process.pid }),
    );
    const bubblewrap = sandboxed ? findBubblewrap() : null;
    if (typeof bubblewrap === 'string') throw new Error(bubblewrap);
    const { frames, stderr } = launch({ worker: fileURLToPath(new URL('probe.cjs', import.meta.url)), guest }, 1, bubblewrap);
    stderr.resume();
    const reader = new FrameReader(65536);
    for await (const chunk of frames) reader.push(chunk);
    const worked: unknown = JSON.parse(reader.next() ?? 'null');
    await new Promise((resolve) => setTimeout(resolve, 100));
    return {
      worked: Array.isArray(worked) ? worked.map(String) : ['say nothing at all'],
      victimLives: victim.exitCode === null && victim.signalCode === null,
      fileUntouched: readFileSync(file, 'utf8') === 'untouched',
      left: readdirSync(folder).filter((name) => name !== 'victim' && name !== 'plan.json'),
      heard,
    };
  } finally {
    victim.kill('SIGKILL');
    tcp.close();
    udp.close();
    rmSync(folder, { recursive: true });
  }
}

/** As {@link probed}, in a process of its own that runs `node` and was itself given open files far above the first gap. */
export async function probedBy(node: string, sandboxed: boolean): Promise<Harm> {
  const folder = openSync(tmpdir(), 'r');
  const file = openSync(fileURLToPath(import.meta.url), 'r');
  const written = join(mkdtempSync(join(tmpdir(), 'written-')), 'file');
  const writable = openSync(written, 'w');
  try {
    const stdio: (number | 'ignore' | 'pipe' | 'inherit')[] = ['ignore', 'pipe', 'inherit'];
    while (stdio.length < 252) stdio.push('ignore');
    stdio[7] = file;
    stdio[250] = writable;
    stdio[251] = folder;
    const program = fileURLToPath(new URL('realmchild.ts', import.meta.url));
    const child = spawn(node, ['--no-warnings', program, sandboxed ? 'sandboxed' : 'direct'], { stdio });
    let text = '';
    for await (const chunk of child.stdout ?? []) text += String(chunk);
    return JSON.parse(text);
  } finally {
    for (const fd of [folder, file, writable]) closeSync(fd);
    rmSync(dirname(written), { recursive: true });
  }
}
