/** Pages that list other files: the error codes and the JSON Schemas. */

/** A file of the repository that a list names. */
export interface Listed {
  readonly file: string;
  readonly text: string;
}

/** The page that lists the error codes, from their pages. A list per kind of code keeps them short. */
export function errorsPage(pages: readonly Listed[]): string {
  const rows = pages.map(({ file, text }) => {
    const [, code = '', title = ''] = /^# (\w+): (.*)$/m.exec(text) ?? [];
    const [, first = ''] = /^# .*\n+([\s\S]*?)\n\n/.exec(text) ?? [];
    return { code, title, first: first.replaceAll('\n', ' '), link: `./${file}` };
  });
  const kinds = [
    ['Errors of programs', /^NS/, 'A program can handle these with `on error`, unless their page says otherwise.'],
    ['Errors of the host', /^ERR_/, 'Runs, turns, sessions and commands end with these.'],
    ['Lints of the protocol', /^LINT_/, 'A turn reports these and goes on.'],
  ] as const;
  const parts = kinds.flatMap(([title, pattern, words]) => {
    const lines = rows
      .filter(({ code }) => pattern.test(code))
      .sort((a, b) => a.code.localeCompare(b.code, 'en', { numeric: true }))
      .map(({ code, title, first, link }) => `| [\`${code}\`](${link}) | ${title} | ${first} |`);
    return [`## ${title}`, words, ['| code | name | meaning |', '| --- | --- | --- |', ...lines].join('\n')];
  });
  return `${['# Error codes', '`neuroscript explain CODE` prints the page of a code.', ...parts].join('\n\n')}\n`;
}

/** A page that lists the pages of a folder of the site, with their names in the menus. */
export function folderPage(
  title: string,
  words: string,
  pages: readonly { readonly text: string; readonly link: string }[],
): string {
  return `${[`# ${title}`, words, pages.map(({ text, link }) => `- [${text}](${link})`).join('\n')].join('\n\n')}\n`;
}

/** The page that lists the JSON Schemas. */
export function schemasPage(schemas: readonly Listed[]): string {
  const rows = schemas.map(({ file, text }) => {
    const { title, description } = titled(JSON.parse(text));
    return `| [\`${file}\`](../schemas/${file}) | ${description ?? title ?? ''} |`;
  });
  const words =
    'The JSON that commands print and the files that they read have schemas. The package contains them in `docs/schemas/`.';
  return `${['# JSON schemas', words, ['| schema | describes |', '| --- | --- |', ...rows].join('\n')].join('\n\n')}\n`;
}

function titled(schema: unknown): { readonly title?: string; readonly description?: string } {
  return typeof schema === 'object' && schema !== null ? schema : {};
}
