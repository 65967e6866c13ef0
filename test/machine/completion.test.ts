// @module-tag slow
import { execFile } from 'node:child_process';
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { tempFolder } from '../folder.ts';

const BIN = fileURLToPath(new URL('../../bin/neuroscript.js', import.meta.url));
const run = promisify(execFile);

const home = tempFolder();
let env: NodeJS.ProcessEnv = {};
beforeAll(() => {
  symlinkSync(BIN, join(home, 'neuroscript'));
  for (const name of ['tools.yaml', 'turn.txt']) writeFileSync(join(home, name), '');
  env = { ...process.env, HOME: home, XDG_CONFIG_HOME: home, XDG_STATE_HOME: home, PATH: `${home}:${process.env['PATH']}` };
});

/** The script for a shell, in a file. */
async function scriptFor(shell: string): Promise<string> {
  const { stdout } = await run(process.execPath, [BIN, 'completion', shell]);
  const file = join(home, `script.${shell}`);
  writeFileSync(file, stdout);
  return file;
}

describe('completion in fish', () => {
  it.each([
    ['neuroscript expl', ['explain\texplain an error code']],
    ['neuroscript tools --format pr', ['prompt']],
    ['neuroscript tools --format=pr', ['--format=prompt']],
    ['neuroscript run --tools to', ['tools.yaml']],
    ['neuroscript run --tools=to', ['--tools=tools.yaml']],
    ['neuroscript loop --agent script:tu', ['script:turn.txt']],
    ['neuroscript explain ERR_QUO', ['ERR_QUOTA\tlimit reached']],
  ])('%s', async (line, offered) => {
    const file = await scriptFor('fish');
    const { stdout, stderr } = await run('fish', ['-c', `source ${file}; complete -C '${line}'`], { cwd: home, env });
    expect({
      stderr,
      offered: stdout
        .trimEnd()
        .split('\n')
        .map((each) => each.trimEnd()),
    }).toEqual({ stderr: '', offered });
  });
});

describe('completion in zsh', () => {
  it('the script parses, and is one for compinit too', async () => {
    const file = await scriptFor('zsh');
    await run('zsh', ['-f', '-n', file]);
    const { stdout } = await run(
      'zsh',
      ['-f', '-c', `autoload -U compinit; compinit -u -D; source ${file}; print $_comps[neuroscript]`],
      { env },
    );
    expect(stdout).toBe('_neuroscript\n');
  });

  /** What a person sees at a prompt of zsh who types a line and a tab. */
  it.each([
    ['neuroscript expl', 'neuroscript explain '],
    ['neuroscript tools --format=pr', 'neuroscript tools --format=prompt '],
    ['neuroscript run --tools to', 'neuroscript run --tools tools.yaml '],
    ['neuroscript loop --agent script:tu', 'neuroscript loop --agent script:turn.txt '],
    ['neuroscript loop --agent sc', 'neuroscript loop --agent script:'],
  ])('a tab completes %s', async (line, completed) => {
    const file = await scriptFor('zsh');
    // A widget prints the line after the completion; zpty gives the inner zsh a terminal.
    const inner = `autoload -U compinit; compinit -u -D; source ${file}; show() { print -r -- "<<$BUFFER>>"; exit }; zle -N show; bindkey '^X' show; unsetopt list_beep auto_menu; PS1=ready`;
    const program = `
      zmodload zsh/zpty
      zpty inner zsh -f -i
      zpty -w inner ${JSON.stringify(inner).replaceAll('$', '\\$')}
      zpty -r inner seen '*ready*ready*'
      zpty -w -n inner $'${line}\\t\\x18'
      while zpty -r inner piece; do print -rn -- "$piece"; done`;
    const { stdout } = await run('zsh', ['-f', '-c', program], { cwd: home, env: { ...env, TERM: 'dumb' }, timeout: 60_000 });
    expect(/<<(.*?)>>/.exec(stdout.slice(stdout.lastIndexOf('<<')))?.[1]).toBe(completed);
  });
});
