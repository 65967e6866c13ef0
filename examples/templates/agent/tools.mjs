import { defineTool, ToolError } from 'neuroscript-runtime';

const prices = new Map([
  ['tea', 3.5],
  ['coffee', 4],
]);

const price = defineTool({
  name: 'tool.shop.Price',
  description: 'Price of one item, in euros.',
  args: [{ name: 'item', type: 'string' }],
  returns: 'float',
  effects: 'read',
  run({ item }) {
    const found = prices.get(item);
    if (found === undefined) throw new ToolError(9, `we do not sell ${item}`);
    return found;
  },
});

let orders = 0;

const order = defineTool({
  name: 'tool.shop.Order',
  description: 'Orders items; returns the number of the order.',
  args: [
    { name: 'item', type: 'string' },
    { name: 'count', type: 'int' },
  ],
  returns: 'int',
  effects: 'write',
  run({ item, count }) {
    if (!prices.has(item) || count < 1) throw new ToolError(9, `cannot order ${count} of ${item}`);
    orders += 1;
    return orders;
  },
});

export const tools = [price, order];
