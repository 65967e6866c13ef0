import { randomUUID } from 'node:crypto';
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineTool, type ToolDefinition, type ToolRuntime } from '../../../src/tools/index.ts';
import type { Belonging, ShopRequest } from './plan.ts';

/** A system outside of all hosts. It notes every request in the order of arrival, and takes one order for each key. */
export class Shop {
  readonly #requests: string;
  readonly #orders: string;
  readonly #belongings: string;

  constructor(folder: string) {
    this.#requests = join(folder, 'requests.jsonl');
    this.#orders = join(folder, 'orders');
    this.#belongings = join(folder, 'belongings.jsonl');
    mkdirSync(this.#orders, { recursive: true });
  }

  request(request: ShopRequest): void {
    appendFileSync(this.#requests, `${JSON.stringify(request)}\n`);
  }

  order(key: string): void {
    const place = join(this.#orders, Buffer.from(key).toString('base64url'));
    if (!existsSync(place)) writeFileSync(place, '');
  }

  belonging(belonging: Belonging): void {
    appendFileSync(this.#belongings, `${JSON.stringify(belonging)}\n`);
  }

  requests(): readonly ShopRequest[] {
    return linesOf(this.#requests).map((line) => JSON.parse(line));
  }

  belongings(): readonly Belonging[] {
    return linesOf(this.#belongings).map((line) => JSON.parse(line));
  }

  orders(): readonly string[] {
    return readdirSync(this.#orders).map((name) => Buffer.from(name, 'base64url').toString());
  }
}

function linesOf(file: string): readonly string[] {
  return existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : [];
}

/** The tools of one host. `reached` is awaited at the moments `call`, when an order is taken and nobody knows of it, and `run`. */
export function shopTools(
  shop: Shop,
  owner: string,
  reached: (step: 'call' | 'run', sid: string, turn: number) => Promise<void>,
): readonly ToolDefinition[] {
  const placeOf = ({ turn }: ToolRuntime) => ({ sid: turn.sessionId ?? '', turn: turn.turnIndex ?? 0 });
  const book = async (_: unknown, runtime: ToolRuntime): Promise<string> => {
    const { sid, turn } = placeOf(runtime);
    const { key, fence } = runtime.call;
    shop.request({ owner, sid, turn, key: key ?? '', fence: fence ?? 0 });
    shop.order(key ?? '');
    await reached('call', sid, turn);
    return 'booked';
  };
  const item = { args: [{ name: 'item', type: 'string' }], returns: 'string', effects: 'write' } as const;
  return [
    defineTool({ ...item, name: 'tool.shop.Book', idempotent: true, run: book }),
    defineTool({ ...item, name: 'tool.shop.Send', run: book }),
    defineTool({
      name: 'tool.shop.Look',
      effects: 'read',
      returns: 'string',
      async run(_, runtime) {
        const { sid, turn } = placeOf(runtime);
        await reached('run', sid, turn);
        return 'seen';
      },
    }),
    defineTool({
      name: 'tool.shop.Approve',
      returns: 'bool',
      run: (_, runtime) => runtime.pending({ reason: 'may I?', expiresIn: 600_000 }),
    }),
    defineTool({
      name: 'tool.shop.Keep',
      args: [{ name: 'count', type: 'int' }],
      returns: 'int',
      effects: 'write',
      async run({ count }, runtime) {
        const { sid, turn } = placeOf(runtime);
        const note = (what: Belonging['what'], id: string): void => shop.belonging({ owner, sid, id, what });
        note('made', await runtime.sandboxDir());
        for (let n = 0; n < count; n++) {
          const id = randomUUID();
          runtime.handles.create('thing', { [Symbol.dispose]: () => note('given back', id) });
          note('made', id);
        }
        await reached('call', sid, turn);
        return runtime.handles.size;
      },
    }),
    defineTool({
      name: 'tool.shop.Hurry',
      returns: 'bool',
      run: (_, runtime) => runtime.pending({ reason: 'may I, soon?', expiresIn: 3000 }),
    }),
    defineTool({ name: 'tool.shop.Die', run: () => process.kill(process.pid, 'SIGKILL') }),
  ];
}
