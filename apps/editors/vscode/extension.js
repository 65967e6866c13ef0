// Starts `neuroscript lsp` for a workspace that the user trusts, and connects the editor to it.

const { existsSync } = require('node:fs');
const { join } = require('node:path');
const { workspace } = require('vscode');
const { LanguageClient, TransportKind } = require('vscode-languageclient/node');

/** @type {LanguageClient | undefined} */
let client;

exports.activate = async (context) => {
  if (workspace.isTrusted) await start();
  else context.subscriptions.push(workspace.onDidGrantWorkspaceTrust(start));
  context.subscriptions.push(
    workspace.onDidChangeConfiguration(async (event) => {
      if (!event.affectsConfiguration('neuroscript') || client === undefined) return;
      await client.stop();
      await start();
    }),
  );
};

exports.deactivate = () => client?.stop();

async function start() {
  client = new LanguageClient('neuroscript', 'NeuroScript', server(), {
    documentSelector: [{ scheme: 'file', language: 'neuroscript' }],
    synchronize: { fileEvents: workspace.createFileSystemWatcher('**/*.{ns,yaml,yml}') },
  });
  await client.start();
}

/** The command of the settings, else that of the workspace, else the server that the extension brings along. */
function server() {
  const settings = workspace.getConfiguration('neuroscript');
  const flags = ['tools', 'policy'].flatMap((name) => {
    const file = settings.get(name, '');
    return file === '' ? [] : [`--${name}`, file];
  });
  const [command, ...args] = settings.get('command', []);
  if (command !== undefined) return { command, args: [...args, 'lsp', ...flags] };
  const [folder] = workspace.workspaceFolders ?? [];
  const name = process.platform === 'win32' ? 'neuroscript.cmd' : 'neuroscript';
  const own = folder === undefined ? '' : join(folder.uri.fsPath, 'node_modules', '.bin', name);
  if (own !== '' && existsSync(own)) return { command: own, args: ['lsp', ...flags] };
  // The server needs Node 24. An older editor has an older one.
  if (typeof AsyncDisposableStack === 'undefined') return { command: name, args: ['lsp', ...flags] };
  return { module: join(__dirname, 'server.mjs'), transport: TransportKind.stdio, args: flags };
}
