// An MCP server with two tools: `node examples/mcp/server.ts`.
import { McpServer } from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

const prices: Readonly<Record<string, number>> = { apple: 3, pear: 4 };
const orders: string[] = [];
const server = new McpServer({ name: 'shop', version: '1.0.0' });

server.registerTool(
  'price',
  {
    description: 'The price of one piece of fruit.',
    inputSchema: z.object({ fruit: z.string() }),
    outputSchema: z.object({ fruit: z.string(), price: z.number() }),
  },
  ({ fruit }) => {
    const price = prices[fruit];
    if (price === undefined) return { isError: true, content: [{ type: 'text', text: `we do not sell ${fruit}` }] };
    const answer = { fruit, price };
    return { content: [{ type: 'text', text: JSON.stringify(answer) }], structuredContent: answer };
  },
);

server.registerTool(
  'place-order',
  { description: 'Orders some pieces of fruit.', inputSchema: z.object({ fruit: z.string(), pieces: z.number().int().min(1) }) },
  ({ fruit, pieces }) => {
    orders.push(`${pieces} x ${fruit}`);
    return { content: [{ type: 'text', text: `order ${orders.length}: ${pieces} x ${fruit}` }] };
  },
);

await server.connect(new StdioServerTransport());
