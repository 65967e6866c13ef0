import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { usualCosts } from '../../loop/index.ts';
import { explainGrant, explainPreview, grantPage, previewPage, renderDiagnostic, SYNTAX } from '../../report/index.ts';
import { createRuntime } from '../../runtime/index.ts';
import { grantText } from '../../tools/index.ts';
import { toPublicCheck } from '../../wire/findings.ts';
import { limitOf } from '../../wire/limits.ts';
import { GRANTS, readGrant } from '../flags/bound.ts';
import { addGiven, type GivenFlags, givenBy, refuseStrayArguments } from '../flags/given.ts';
import { addLimits, limitsOf } from '../flags/options.ts';
import { addSetup, readSetup, type SetupFlags } from '../flags/setup.ts';
import { openStore } from '../flags/store.ts';
import { EXIT, type ExitCode } from '../terminal/exit.ts';
import { readSources } from '../terminal/input.ts';
import type { Execute, Terminal } from '../terminal/terminal.ts';
import { checkOutput, PAGES, replaceFile } from '../terminal/write.ts';
import { usable } from './drive.ts';

interface ForeseeFlags extends SetupFlags, GivenFlags {
  readonly turn?: true;
  readonly json?: true;
  readonly html?: string;
  readonly grant?: string;
  readonly store?: string;
}

const HELP = `
The command takes the flags of 'neuroscript run' and foresees that run. It runs
no program and no tool. A call that it does not list cannot happen, whatever
tools return and whichever errors arise.

--grant writes the narrowest grant that allows all of it, and prints it in place
of the list. Read it, narrow it, and run the program bound to it: every other
call is refused. If the file has a grant already, changes against it are marked.

Exits with 3 when a program has a syntax error.

Examples:
  neuroscript foresee plan.ns --tools mocks.yaml
  neuroscript foresee plan.ns --tools mocks.yaml --html plan.html
  neuroscript foresee plan.ns --tools mocks.yaml --grant plan.grant.yaml
  neuroscript run plan.ns --tools mocks.yaml --bound plan.grant.yaml
`;

/** `foresee FILE…`: what programs can do, before they run. */
export function addForesee(program: Command, execute: Execute): void {
  const command = program
    .command('foresee')
    .summary('show what programs can do, before they run')
    .description(
      'Lists every call of a tool that programs can make: arguments, number, conditions, verdict of the policy; and the most that the run takes.',
    )
    .argument('<FILE...>', "program files; '-' is standard input");
  addGiven(command)
    .option('--turn', 'the program is the ACTIONS of a turn: it finds USERDATA of unknown content')
    .option('--json', 'print the preview as a JSON object')
    .option('--html <FILE>', 'also write the preview, or the grant of --grant, into a page that opens without server or network');
  command.option('--grant <OUT>', 'write the grant that allows just these calls (.yaml or .json), and print it');
  command.option(
    '--store <FILE>',
    'also say what such calls usually cost: the median of the latest recorded turns of this store',
  );
  addLimits(addSetup(command), 'run').addHelpText('after', HELP).action(execute(foresee));
}

async function foresee(files: readonly string[], flags: ForeseeFlags, terminal: Terminal): Promise<ExitCode> {
  refuseStrayArguments(flags);
  if (flags.html !== undefined) checkOutput('--html', flags.html, PAGES);
  if (flags.grant !== undefined) checkOutput('--grant', flags.grant, GRANTS);
  const limits = limitsOf(flags);
  await using resources = new AsyncDisposableStack();
  const setup = await readSetup(flags, resources);
  const sources = await readSources(files, limits.sourceBytes ?? limitOf('sourceBytes').default, () => terminal.stdin);
  const { args, globals } = await givenBy(flags);
  await using runtime = await createRuntime({ ...setup, limits, concurrency: 1 });
  const {
    preview: plain,
    grant,
    diagnostics,
  } = await runtime
    .interpreter()
    .fork()
    .foresee({
      sources,
      globals,
      asTurn: flags.turn ?? false,
      events: (flags.event ?? []).map(({ name, value }) => ({ name, source: 'cli', payload: value })),
      call: flags.call === undefined ? undefined : { name: flags.call, args },
    });
  if (plain === null) {
    const texts = new Map(sources.map(({ name, text }) => [name, text]));
    if (flags.json) {
      const { findings } = toPublicCheck({ diagnostics, files: [], findings: [], estimates: [] });
      terminal.out.json({ ok: false, version: 1, errors: findings });
    }
    for (const line of diagnostics.flatMap((one) => renderDiagnostic(one, SYNTAX, texts, terminal.paintErr)))
      terminal.err.prose(line);
    return EXIT.syntax;
  }
  const usual = flags.store === undefined ? null : await usualIn(flags.store);
  const preview = usual?.within(plain) ?? plain;
  const usually = grant === null ? undefined : usual?.ofGrant(grant);
  const since = flags.grant !== undefined && existsSync(flags.grant) ? await readGrant('--grant', flags.grant) : null;
  if (flags.grant !== undefined)
    await replaceFile(
      flags.grant,
      flags.grant.toLowerCase().endsWith('.json') ? `${JSON.stringify(grant, null, 2)}\n` : grantText(grant),
    );
  if (flags.html !== undefined)
    await replaceFile(flags.html, flags.grant === undefined ? previewPage(preview, sources) : grantPage(grant, since, usually));
  if (flags.json) terminal.out.json({ ok: true, ...preview, errors: [] });
  else if (flags.grant !== undefined)
    for (const line of explainGrant(grant, terminal.paintOut, since, usually)) terminal.out.prose(line);
  else for (const line of explainPreview(preview, terminal.paintOut)) terminal.out.prose(line);
  return EXIT.ok;
}

/** What calls usually cost, by the turns of a store. Throws `UsageError` for a store that cannot be opened. */
function usualIn(flag: string): ReturnType<typeof usualCosts> {
  return usable(async () => {
    await using store = await openStore(flag, { mustExist: true });
    return await usualCosts(store);
  });
}
