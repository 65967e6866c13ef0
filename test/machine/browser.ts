import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Where Debian's package puts it. */
const CHROMIUM = '/usr/bin/chromium';

/** Without the last five, a browser tries at every start to reach its maker. */
const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-quic',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-default-apps',
];

/**
 * Serves the files on loopback, opens `/` in a headless Chromium with a profile of its own, and resolves to the JSON that
 * the page posts to `/done`. Rejects when the browser ends before that, and when the page reports an error of its own.
 */
export async function inChromium(files: Readonly<Record<string, { type: string; body: string }>>): Promise<unknown> {
  if (!existsSync(CHROMIUM)) throw new Error(`${CHROMIUM} is missing: install Debian's package chromium`);
  const posted = Promise.withResolvers<unknown>();
  const server = createServer(async (request, response) => {
    if (request.method === 'POST') {
      response.end();
      posted.resolve(JSON.parse(await bodyOf(request)));
      return;
    }
    const file = files[request.url ?? ''];
    response.writeHead(file === undefined ? 404 : 200, { 'content-type': file?.type ?? 'text/plain' });
    response.end(file?.body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('the server has no port');
  const profile = mkdtempSync(join(tmpdir(), 'chromium-'));
  const args = [...FLAGS, `--user-data-dir=${profile}`, `http://127.0.0.1:${address.port}/`];
  // A group of its own: Chromium is a launcher script and a family of processes.
  const browser = spawn(CHROMIUM, args, { stdio: ['ignore', 'ignore', 'pipe'], detached: true });
  let said = '';
  browser.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const ended = new Promise<void>((resolve) => browser.once('exit', () => resolve()).once('error', () => resolve()));
  browser.once('exit', (code) => posted.reject(new Error(`chromium ended with ${code}: ${said.slice(-2000)}`)));
  browser.once('error', (error) => posted.reject(error));
  try {
    return await posted.promise;
  } finally {
    endFamily(browser);
    await ended;
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    rmSync(profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }
}

function endFamily(browser: ChildProcess): void {
  if (browser.pid === undefined || browser.exitCode !== null) return;
  process.kill(-browser.pid, 'SIGKILL');
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const part of request) parts.push(part);
  return Buffer.concat(parts).toString('utf8');
}
