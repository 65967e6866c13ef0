// The server inside of the extension serves an editor without anything else of this repository.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const require = createRequire(import.meta.url);
const { createProtocolConnection, StreamMessageReader, StreamMessageWriter } = require('vscode-languageserver-protocol/node');
const here = (path) => fileURLToPath(new URL(path, import.meta.url));

test('the packed server completes tools of the workspace', async () => {
  execFileSync(process.execPath, [here('../package.mjs')], { stdio: 'ignore' });
  const folder = mkdtempSync(join(tmpdir(), 'ns-vscode-'));
  for (const name of ['server.mjs', 'package.json']) copyFileSync(here(`../vscode/${name}`), join(folder, name));
  writeFileSync(join(folder, 'tools.yaml'), 'tools:\n  tool.shop.Price:\n    args: [item]\n    cases: [{ returns: 3 }]\n');
  const child = spawn(process.execPath, [join(folder, 'server.mjs'), '--stdio'], {
    cwd: folder,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const connection = createProtocolConnection(new StreamMessageReader(child.stdout), new StreamMessageWriter(child.stdin));
  connection.listen();
  const workspaceFolders = [{ uri: `file://${folder}`, name: 'shop' }];
  const { serverInfo } = await connection.sendRequest('initialize', {
    processId: null,
    rootUri: null,
    capabilities: {},
    workspaceFolders,
  });
  assert.equal(serverInfo.name, 'neuroscript');
  await connection.sendNotification('initialized', {});
  const uri = `file://${folder}/a.ns`;
  const text = 'command\n  emit tool.shop.\nendcommand\n';
  await connection.sendNotification('textDocument/didOpen', {
    textDocument: { uri, languageId: 'neuroscript', version: 1, text },
  });
  let items = [];
  for (const end = Date.now() + 30_000; items.length === 0 && Date.now() < end; )
    items = await connection.sendRequest('textDocument/completion', {
      textDocument: { uri },
      position: { line: 1, character: 17 },
    });
  assert.deepEqual(
    items.map(({ label }) => label),
    ['tool.shop.Price'],
  );
  const exited = once(child, 'exit');
  await connection.sendRequest('shutdown');
  await connection.sendNotification('exit');
  assert.deepEqual((await exited)[0], 0);
  rmSync(folder, { recursive: true });
});
