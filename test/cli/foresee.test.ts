import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { previewPage } from '../../src/report/index.ts';
import type { Preview } from '../../src/wire/preview.ts';
import type { Source } from '../../src/wire/protocol.ts';
import { command, folder } from './spawn.ts';
import { within } from './terminal.ts';

const TOOLS = `tools:
  tool.fs.List: { args: [path], effects: read, cases: [{ returns: ["x", "keep"] }] }
  tool.fs.Delete: { args: [path], cases: [{ returns: null }] }
`;
const PLAN = command(
  'set found = tool.fs.List("/tmp")',
  'for each f in ["a", "b"]',
  'call tool.fs.Delete("/tmp/" + f)',
  'endfor',
  'while found',
  'call tool.fs.Delete(found[0])',
  'set found = []',
  'endwhile',
);

describe('issue 22.3: neuroscript foresee', () => {
  it('shows what a program can do, as text and as JSON', async () => {
    const cwd = folder({ 'plan.ns': PLAN, 'tools.yaml': TOOLS, 'policy.yaml': 'allow: ["tool.fs.*"]\ndeny: ["*.delete"]\n' });
    const run = (...args: readonly string[]) => within(args, { cwd });
    const text = await run('foresee', 'plan.ns', '--tools', 'tools.yaml', '--policy', 'policy.yaml');
    expect(text).toMatchObject({ code: 0, stderr: '' });
    await expect(text.stdout).toMatchFileSnapshot('golden/foresee.txt.golden');
    const json = await run('foresee', 'plan.ns', '--tools', 'tools.yaml', '--json');
    await expect(`${JSON.stringify(JSON.parse(json.stdout), null, 2)}\n`).toMatchFileSnapshot('golden/foresee.json.golden');
  });

  it('issue 47: writes a grant, to which a run is bound, and marks what changed since the grant that the file had', async () => {
    const cwd = folder({ 'plan.ns': PLAN, 'tools.yaml': TOOLS });
    const run = (...args: readonly string[]) => within(args, { cwd });
    const grant = await run('foresee', 'plan.ns', '--tools', 'tools.yaml', '--grant', 'plan.grant.yaml');
    await expect(grant.stdout).toMatchFileSnapshot('golden/foresee-grant.txt.golden');
    await expect(readFileSync(join(cwd, 'plan.grant.yaml'), 'utf8')).toMatchFileSnapshot('golden/foresee-grant.yaml.golden');
    const bound = ['--tools', 'tools.yaml', '--bound', 'plan.grant.yaml'];
    expect(await run('run', 'plan.ns', ...bound)).toEqual({ code: 0, stdout: '', stderr: '' });
    writeFileSync(
      join(cwd, 'other.ns'),
      command('call tool.fs.List("/tmp")', 'call tool.fs.Delete("/tmp/a")', 'call tool.fs.Delete("/etc")'),
    );
    expect(await run('run', 'other.ns', ...bound)).toMatchObject({
      code: 4,
      stderr: expect.stringMatching(
        /outside of the grant: .* has this argument 'path' \(NS1003\)[\s\S]*hint: allowed: path "\/tmp\/a", at most once; .*; path an item of what call 1 returned/,
      ),
    });
    writeFileSync(join(cwd, 'plan.ns'), command('call tool.fs.List("/tmp")', 'call tool.fs.Delete("/etc")'));
    const changed = await run('foresee', 'plan.ns', '--tools', 'tools.yaml', '--grant', 'plan.grant.yaml');
    expect(changed.stdout).toContain('NEW call 2: tool.fs.delete (may change something): path "/etc", at most once');
    const shown = await run('foresee', 'plan.ns', '--tools', 'tools.yaml', '--grant', 'plan.grant.yaml', '--html', 'grant.html');
    expect(shown).toMatchObject({ code: 0 });
    const page = readFileSync(join(cwd, 'grant.html'), 'utf8');
    expect(page).toContain('as before: </strong><strong>call 2: tool.fs.delete (may change something)');
    expect(page).toMatch(/<details><summary>Calls that change nothing: 1[\s\S]*call 1: tool\.fs\.list \(reads\)/);
    expect(changed.stdout).toContain('as before call 1: tool.fs.list (reads): path "/tmp", at most once');
    expect(await run('foresee', 'plan.ns', '--tools', 'tools.yaml', '--grant', 'plan.ns')).toMatchObject({ code: 2 });
    writeFileSync(join(cwd, 'none.json'), '{"version": 2}');
    expect(await run('run', 'plan.ns', '--bound', 'none.json')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('none.json'),
    });
    writeFileSync(join(cwd, 'deep.json'), '['.repeat(100_000));
    expect(await run('run', 'plan.ns', '--bound', 'deep.json')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('deep.json: the grant nests too deep, or has too many values'),
    });
  });

  it('writes a page for the human who decides, which runs nothing, loads nothing and shows everything as text', async () => {
    const name = '<img src=x onerror=alert(1)>\u202e.ns';
    const text = `</pre><script>alert('\u2066')</script>" style="x`;
    const source = command(
      `set found = tool.fs.List('${text.replaceAll("'", "\\'")}')`,
      "if found == '</td><b onclick=1>'",
      `call tool.fs.Delete(${' '.repeat(300)}"${'a'.repeat(300)}&lt;")`,
      'endif',
      'ask "<i>", "p" into y',
      'call tool.fs.Buy({"<u>": 1})',
    );
    const tools = `${TOOLS}  tool.fs.Buy: { args: [what], effects: write, requiresApproval: true, cases: [{ returns: null }] }\n`;
    const cwd = folder({ [name]: source, 'tools.yaml': tools, 'policy.yaml': 'allow: ["tool.fs.*"]\ndeny: ["*.delete"]\n' });
    const flags = ['--tools', 'tools.yaml', '--policy', 'policy.yaml'];
    const plain = await within(['foresee', name, ...flags], { cwd });
    expect(await within(['foresee', name, ...flags, '--html', 'plan.html'], { cwd })).toEqual(plain);
    const page = readFileSync(join(cwd, 'plan.html'), 'utf8');
    expect(page).toContain("default-src 'none'; style-src 'sha256-");
    const style = /<style>([\s\S]*?)<\/style>/.exec(page)?.[1] ?? '';
    expect(page).toContain(`'sha256-${createHash('sha256').update(style).digest('base64')}'`);
    const tags = new Set(page.match(/<[^>]*>/g)?.map((tag) => tag.replace(/"[^"]*"/g, '""')));
    const known = 'html head meta title style body h1 h2 p br table thead tbody tr th td code ul li span a strong pre'.split(' ');
    expect([...tags].filter((tag) => !known.includes(/^<\/?([a-z0-9]+)(?= |>)/.exec(tag)?.[1] ?? ''))).toEqual([
      '<!doctype html>',
    ]);
    expect(
      [...tags].filter((tag) => !/^<\/?[a-z0-9]+( (lang|charset|http-equiv|content|name|id|class|href)="")*>$/.test(tag)),
    ).toEqual(['<!doctype html>']);
    expect(page).not.toMatch(/[\u202e\u2066]/);
    // Each link leads to a place of the page.
    const places = new Set([...page.matchAll(/ id="([^"]*)"/g)].map(([, id]) => `#${id}`));
    const links = [...page.matchAll(/ href="([^"]*)"/g)].map(([, link]) => link ?? '');
    expect(links.length).toBeGreaterThan(6);
    expect(links.filter((link) => !places.has(link))).toEqual([]);
    // What decides is there in full.
    expect(page).toContain('&lt;/pre&gt;&lt;script&gt;alert(');
    expect(page).toContain(`<code>tool.fs.delete(&quot;${'a'.repeat(300)}&amp;lt;&quot;)</code>`);
    expect(page).toContain("<li>if found == '&lt;/td&gt;");
    expect(page).toContain('denied by the policy: <a href="#call-2">2</a>');
    expect(page).toContain('allowed only with an approval of each call: <a href="#call-4">4</a>');
    expect(page).toMatch(/<span id="line-0-4">4<\/span> {2}<a href="#call-2">\[2\]<\/a> +call tool\.fs\.Delete/);
    expect(page).toContain(createHash('sha256').update(source).digest('hex'));
  });

  it('a page is written to a file of pages alone, and of the sources of the preview alone', async () => {
    const cwd = folder({ 'plan.ns': PLAN, 'tools.yaml': TOOLS });
    expect(await within(['foresee', 'plan.ns', '--tools', 'tools.yaml', '--html', 'plan.ns'], { cwd })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--html writes a .html file'),
    });
    const { stdout } = await within(['foresee', 'plan.ns', '--tools', 'tools.yaml', '--json'], { cwd });
    const preview: Preview = JSON.parse(stdout);
    const page = (...sources: readonly Source[]): string => [...previewPage(preview, sources)].join('');
    expect(page({ name: 'plan.ns', text: PLAN })).toContain('plan.ns');
    const [call, ...calls] = preview.calls;
    const foreign: Preview = JSON.parse(
      JSON.stringify({
        ...preview,
        calls: [{ ...call, effects: '"><script>' }, ...calls],
        toolCalls: { most: '<b>', by: '<i>' },
      }),
    );
    expect([...previewPage(foreign, [{ name: 'plan.ns', text: PLAN }])].join('')).not.toMatch(/<script|<b>|<i>/);
    for (const others of [[], [{ name: 'plan.ns', text: `${PLAN}\n` }], [{ name: 'other.ns', text: PLAN }]])
      expect(() => page(...others)).toThrow('not those of the preview');
  });

  it('binds a turn', async () => {
    const envelope = (...lines: readonly string[]): string =>
      [
        ...['<<<NSENV:V3:START>>>', '<<<NSENV:V3:USERDATA>>>', '{"subject":"s","fields":{}}', '<<<NSENV:V3:ACTIONS>>>'],
        ...[command(...lines).trimEnd(), '<<<NSENV:V3:END>>>\n'],
      ].join('\n');
    const done = 'emit tool.aeiou.magic("LOOP", {"action": "done"})';
    const list = (path: string): string => `call tool.fs.List(${path})`;
    const cwd = folder({
      'tools.yaml': TOOLS,
      'actions.ns': command(list('"/tmp"'), done),
      'good.txt': envelope(list('"/tmp"'), done),
      'bad.txt': envelope(list('"/etc"'), done),
    });
    const run = (...args: readonly string[]) => within([...args, '--tools', 'tools.yaml'], { cwd });
    await run('foresee', 'actions.ns', '--turn', '--grant', 'p.json');
    expect(await run('turn', 'good.txt', '--bound', 'p.json')).toMatchObject({ code: 0 });
    const refused = await run('turn', 'bad.txt', '--bound', 'p.json', '--json');
    expect(refused.code).not.toBe(0);
    expect(JSON.parse(refused.stdout)).toMatchObject({ decision: 'HALT', error: { code: 'NS1003' } });
  });
});
