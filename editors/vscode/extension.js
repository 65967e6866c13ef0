// Starts `neuroscript lsp` for a workspace that the user trusts, and connects the editor to it.

const { existsSync } = require('node:fs');
const { join } = require('node:path');
const { workspace } = require('vscode');
const { LanguageClient } = require('vscode-languageclient/node');

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
  const [command, ...args] = serverCommand();
  client = new LanguageClient(
    'neuroscript',
    'NeuroScript',
    { command, args },
    {
      documentSelector: [{ scheme: 'file', language: 'neuroscript' }],
      synchronize: { fileEvents: workspace.createFileSystemWatcher('**/*.{ns,yaml,yml}') },
    },
  );
  await client.start();
}

function serverCommand() {
  const settings = workspace.getConfiguration('neuroscript');
  const chosen = settings.get('command', []);
  const flags = ['tools', 'policy'].flatMap((name) => {
    const file = settings.get(name, '');
    return file === '' ? [] : [`--${name}`, file];
  });
  const [folder] = workspace.workspaceFolders ?? [];
  const own =
    folder === undefined
      ? ''
      : join(folder.uri.fsPath, 'node_modules', '.bin', process.platform === 'win32' ? 'neuroscript.cmd' : 'neuroscript');
  const command = chosen.length > 0 ? chosen : [own !== '' && existsSync(own) ? own : 'neuroscript'];
  return [...command, 'lsp', ...flags];
}
