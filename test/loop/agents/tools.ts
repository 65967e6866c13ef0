import { defineTool, type ToolDefinition } from '../../../src/tools/index.ts';

type Row = readonly [name: string, description: string, args: readonly string[], returns: string];

const ROWS: readonly Row[] = [
  ['tool.shop.Find', 'Searches the products of the shop by words of their titles.', ['words', 'most?'], 'list'],
  ['tool.shop.Price', 'Gives the price of a product in cents.', ['id'], 'int'],
  ['tool.shop.Order', 'Orders a product. An order cannot be undone.', ['id', 'count'], 'map'],
  ['tool.mail.Send', 'Sends a mail to one address.', ['to', 'subject', 'body'], 'map'],
  ['tool.mail.List', 'Lists the mails of a folder, the newest first.', ['folder', 'most?'], 'list'],
  ['tool.tickets.List', 'Lists the open tickets of a team.', ['team', 'page?'], 'map'],
  ['tool.tickets.Assign', 'Assigns a ticket to a team.', ['id', 'team'], 'map'],
  ['tool.tickets.Close', 'Closes a ticket with a reason.', ['id', 'reason'], 'map'],
  ['tool.logs.Read', 'Reads the lines of a log between two times.', ['name', 'from', 'to?'], 'list'],
  ['tool.stock.Set', 'Sets the number of pieces of a product in the store.', ['id', 'count'], 'map'],
];

/** Ten tools as an application has them. Each answers with the map of its arguments. */
export const TEN: readonly ToolDefinition[] = ROWS.map(([name, description, args, returns]) =>
  defineTool({
    name,
    description,
    args: args.map((arg) => ({ name: arg.replace('?', ''), type: 'string' as const, required: !arg.endsWith('?') })),
    returns: { list: 'list of maps', map: 'a map', int: 'a number' }[returns] ?? returns,
    run: (given) => ({ ...given }),
  }),
);
