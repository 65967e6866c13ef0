import type { Command } from 'commander';
import { type ExportedSession, exportFile, exportSession, Redaction, type RedactionRules } from '../../loop/index.ts';
import { printable } from '../../report/index.ts';
import { YamlFile } from '../../tools/index.ts';
import { configText } from '../flags/configfile.ts';
import { named } from '../flags/setup.ts';
import { openStore, sessionIds } from '../flags/store.ts';
import { EXIT, type ExitCode } from '../terminal/exit.ts';
import { UsageError } from '../terminal/failure.ts';
import { oneLine } from '../terminal/output.ts';
import { Steps } from '../terminal/status.ts';
import type { Execute, Terminal } from '../terminal/terminal.ts';
import { OUT, writeOut } from '../terminal/write.ts';
import { usably } from './drive.ts';

interface ExportFlags {
  readonly store?: string;
  readonly redact?: string;
  readonly out?: string;
}

const HELP = `
The file holds everything that "neuroscript replay FILE" needs, public keys
included, and no private key. It also holds what programs, tools and agents
said. The file of --redact (YAML or JSON) names what to remove:
  tools: [tool.crm.*]      arguments and results of these tools
  keys: [password, email]  values under these keys, in maps and in JSON texts
  values: ["Jane Doe"]     these texts, anywhere
`;

/** `sessions export [SID...]`. `command` has the flags of the store already. */
export function addExport(command: Command, execute: Execute): void {
  command
    .argument('[SID...]', 'session ids (default: all)')
    .option('--redact <FILE>', 'rules for what to remove')
    .option(...OUT)
    .addHelpText('after', HELP)
    .action(execute(usably(exportAll)));
}

async function exportAll(sids: readonly string[], flags: ExportFlags, terminal: Terminal): Promise<ExitCode> {
  await using store = await openStore(flags.store, { mustExist: true });
  const redaction = flags.redact === undefined ? new Redaction() : await readRules(flags.redact);
  const all = sids.length === 0 ? await sessionIds(store) : sids;
  const sessions: ExportedSession[] = [];
  using steps = new Steps(terminal, 'sessions export');
  for (const sid of all) {
    terminal.interrupt.throwIfAborted();
    steps.reached(sessions.length, all.length);
    const session = await exportSession(store, sid, redaction);
    if (session === null) throw new UsageError(`session ${printable(sid)} does not exist`);
    sessions.push(session);
  }
  const text = oneLine(JSON.stringify(exportFile(sessions)));
  steps.clear();
  await writeOut(text, flags.out, terminal);
  return EXIT.ok;
}

async function readRules(name: string): Promise<Redaction> {
  const text = await configText(name);
  return named(name, () => {
    const file = new YamlFile(text, name);
    // The constructor checks every value itself.
    return new Redaction(file.map([], file.value, ['tools', 'keys', 'values']) as RedactionRules);
  });
}
