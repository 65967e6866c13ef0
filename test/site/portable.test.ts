import { describe, expect, it } from 'vitest';
import { faultsOf } from '../../apps/site/faults.ts';
import { BASE, portable } from '../../apps/site/portable.ts';

describe('a built site without its base', () => {
  const html = `<head><link href="${BASE}assets/a.css"></head><body><a href="${BASE}x.html"></a><script>JSON.parse("{\\"base\\":\\"${BASE}\\"}")</script></body>`;

  it('has relative addresses in pages, by their depth', () => {
    expect(portable('index.html', html)).toContain('href="./assets/a.css"');
    expect(portable('docs/errors/NS1.html', html)).toContain('href="../../assets/a.css"');
    expect(portable('docs/errors/NS1.html', html)).toContain('href="../../x.html"');
  });

  it('learns its path before its scripts read it', () => {
    const made = portable('docs/a.html', html);
    expect(made).toContain('\\"base\\":\\""+__base__+"\\"');
    expect(made.indexOf('__base__=new URL("../",location)')).toBeLessThan(made.indexOf('JSON.parse'));
  });

  it('has relative addresses in style sheets, and a variable in scripts', () => {
    expect(portable('assets/a.css', `url(${BASE}assets/b.png)`)).toBe('url(../assets/b.png)');
    expect(portable('assets/a.js', `f("${BASE}").length+'${BASE}assets/c.js'`)).toBe(
      `f((""+__base__+"")).length+(''+__base__+'assets/c.js')`,
    );
    expect(portable('assets/b.js', `const e='{"0":"${BASE}a.html","1":"${BASE}"}',t=\`x${BASE}y\`,r=/["']/;`)).toBe(
      `const e=('{"0":"'+__base__+'a.html","1":"'+__base__+'"}'),t=\`x\${__base__}y\`,r=/["']/;`,
    );
    expect(portable('hashmap.json', BASE)).toBe(BASE);
  });
});

describe('the faults of a site', () => {
  const faults = (files: Record<string, string>): string[] => faultsOf(new Map(Object.entries(files)));
  const target = '<h2 id="here">';

  it('are none where links lead to files and headings', () => {
    const page =
      '<a href="docs/b.html#here"></a><a href="./"></a><a href="#self"></a><p id="self"><a href="https://example.test/">';
    expect(faults({ 'index.html': page, 'docs/b.html': `${target}<a href="../index.html"></a><a href="../"></a>` })).toEqual([]);
  });

  it.each([
    ['a page that is missing', '<a href="c.html"></a>', 'index.html: links to c.html, which is not a file'],
    ['a heading that is missing', '<a href="docs/b.html#there"></a>', 'links to docs/b.html#there, which is not a heading'],
    ['an absolute path', '<a href="/docs/b.html"></a>', 'links to /docs/b.html, which is not a file'],
    ['the base', BASE, `contains ${BASE}`],
    ['a script from outside', '<script src="https://cdn.test/a.js">', 'loads https://cdn.test/a.js'],
    ['a font from outside', '<link rel="stylesheet" href="//fonts.test/a.css">', 'loads //fonts.test/a.css'],
    ['an image from outside', '<img alt="" src="https://img.test/a.png">', 'loads https://img.test/a.png'],
    ['a style from outside', '<p style="background:url(https://img.test/b.png)">', 'loads https://img.test/b.png'],
  ])('name %s', (_, html, fault) => {
    expect(faults({ 'index.html': html, 'docs/b.html': target }).join()).toContain(fault);
  });

  it('name what scripts and style sheets load from outside', () => {
    expect(faults({ 'a.js': 'fetch("https://x.test/")', 'b.js': 'import("https://x.test/m.js")' })).toHaveLength(2);
    expect(faults({ 'a.css': '@import "https://x.test/a.css"', 'b.css': 'a{src:url("https://x.test/f.woff2")}' })).toHaveLength(
      2,
    );
    expect(faults({ 'a.js': 'const seen = "https://x.test/"; import("./b.js")', 'b.js': 'export * from "./a.js"' })).toEqual([]);
  });
});
