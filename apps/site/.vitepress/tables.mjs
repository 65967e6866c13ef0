/** Columns of a table that no page has room for, and that a phone has no room for: its rows are then shown one below the other. */
const [WIDE, MANY] = [7, 3];
/** Characters of code that a table may break; more of them in the first of two columns, which has the room. */
const [LONG, LONG_NAME] = [14, 30];
/** Characters of code in the first of two columns with which a phone has no room for the second. */
const BESIDE = 20;

/** Cells of wide tables bring the names of their columns along, long code in tables may be broken, and `<br>` breaks a line of a cell. */
export function fitTables(md) {
  md.inline.ruler.before('link', 'line_of_cell', (state, silent) => {
    if (!state.src.startsWith('<br>', state.pos)) return false;
    if (!silent) state.push('hardbreak', 'br', 0);
    state.pos += '<br>'.length;
    return true;
  });
  md.renderer.rules.table_open = (tokens, index, _options, _env, self) =>
    `<table tabindex="0"${self.renderAttrs(tokens[index])}>`;
  md.core.ruler.push('wide_tables', ({ tokens }) => {
    for (const [index, { type }] of tokens.entries()) {
      if (type !== 'table_open') continue;
      const own = tokens.slice(
        index,
        tokens.findIndex((token, at) => at > index && token.type === 'table_close'),
      );
      const names = own.flatMap((token, at) => (token.type === 'th_open' ? [own[at + 1].content] : []));
      markLongCode(own);
      if (names.length === 2 && fitNames(own)) tokens[index].attrJoin('class', 'many');
      // A column without a name, as that of what a table is about: a header must say something.
      for (const [at, token] of own.entries())
        if (/^th_/.test(token.type) && (own[at + 1]?.content === '' || own[at - 1]?.content === '')) token.tag = 'td';
      if (names.length < MANY) continue;
      tokens[index].attrJoin('class', names.length < WIDE ? 'many' : 'wide');
      const cells = own.filter((token) => token.type === 'td_open');
      for (const [at, cell] of cells.entries()) cell.attrSet('data-column', names[at % names.length]);
    }
  });
}

/** Keeps names in the first of two columns whole. Returns whether there are long ones. */
function fitNames(tokens) {
  const cells = tokens.flatMap(({ type }, at) => (type === 'td_open' ? [tokens[at + 1]] : []));
  const names = cells.filter((_, at) => at % 2 === 0).flatMap(({ children }) => children ?? []);
  const codes = names.filter(({ type }) => type === 'code_inline');
  for (const code of codes) if (code.content.length <= LONG_NAME) code.attrSet('class', '');
  return codes.some(({ content }) => content.length > BESIDE);
}

function markLongCode(tokens) {
  for (const code of tokens.flatMap(({ children }) => children ?? []))
    if (code.type === 'code_inline' && code.content.length > LONG) code.attrJoin('class', 'long');
}
