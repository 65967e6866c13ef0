import { type IncomingHttpHeaders, request } from 'node:http';
import {
  FileLog,
  LoopController,
  type LoopResult,
  MemoryStore,
  runtimeExecutor,
  type SessionStore,
  systemClock,
} from '../../src/loop/index.ts';
import { createRuntime, type Runtime } from '../../src/runtime/index.ts';
import { defineTool, type ToolDefinition } from '../../src/tools/index.ts';
import type { Asset } from '../../src/ui/assets.ts';
import { type Answers, fileLog, Inspector, serveUi } from '../../src/ui/index.ts';
import { newKeyring, reply, USERDATA } from '../loop/fake.ts';

export const TOOLS: readonly ToolDefinition[] = [
  defineTool({ name: 'tool.stock.Count', args: [{ name: 'what', type: 'string' }], returns: 'int', run: () => 3 }),
  defineTool({
    name: 'tool.stock.Order',
    args: [
      { name: 'what', type: 'string' },
      { name: 'number', type: 'int' },
    ],
    run: () => 'ordered',
  }),
  defineTool({ name: 'tool.stock.Sell', args: [{ name: 'what', type: 'string' }], run: () => 'sold' }),
  defineTool({
    name: 'tool.human.Approve',
    args: [{ name: 'what', type: 'string' }],
    returns: 'bool',
    run: ({ what }, runtime) => runtime.pending({ reason: `may I ${String(what)}?`, expiresIn: 86_400_000 }),
  }),
];

/** Emits the token of a decision. */
export const magic = (action: string): string => `emit tool.aeiou.magic("LOOP", {"action": "${action}"})`;
export const block = (...lines: readonly string[]): string =>
  ['command', ...lines.map((line) => `  ${line}`), 'endcommand'].join('\n');

/** Sessions as a host leaves them: one that ended well, one that failed, one that was denied, one that waits. */
export const PROGRAMS: Readonly<Record<string, readonly string[]>> = {
  good: [
    block('set n = tool.stock.Count("tea")', 'emit "there are " + n', 'whisper self, "counted"', magic('continue')),
    block('if tool.stock.Count("tea") > 2', '  emit "enough"', 'else', '  emit "order some"', 'endif', magic('done')),
  ],
  fails: [block('emit "begun"', 'set x = 1 / 0', magic('done'))],
  denied: [block('emit tool.stock.Sell("tea")', magic('done'))],
  waits: [block('if tool.human.Approve("sell")', '  emit "yes"', 'endif', magic('done'))],
};

/** A runtime with these tools, as a host has it. */
export function hostRuntime(): Promise<Runtime> {
  const policy = {
    ...{ allow: ['*'], deny: ['tool.stock.sell'], grants: ['*:*:*'] },
    flow: { labels: { 'tool.stock.count': ['counted'] }, sinks: { 'tool.stock.Order.number': { refuse: ['counted'] } } },
  };
  return createRuntime({ tools: TOOLS, policy, concurrency: 1 });
}

/** Drives sessions with these programs. */
export async function drive(
  store: SessionStore,
  programs: Readonly<Record<string, readonly string[]>>,
  { log }: { readonly log?: string } = {},
): Promise<readonly LoopResult[]> {
  await using runtime = await hostRuntime();
  const loop = new LoopController({
    executor: runtimeExecutor(runtime),
    keyring: newKeyring('ui', systemClock),
    store,
    log: log === undefined ? undefined : new FileLog(log),
  });
  const results: LoopResult[] = [];
  for (const [sid, turns] of Object.entries(programs)) {
    const agent = {
      name: `agent of ${sid}`,
      reply: async ({ turn }: { readonly turn: number }) => reply(turns[turn - 1] ?? block(magic('done'))),
    };
    results.push(await loop.runLoop({ sid, agent, userdata: { ...USERDATA, subject: `subject of ${sid}` } }));
  }
  return results;
}

/** Answers calls with these tools, as the command does. */
export function answersOf(store: SessionStore, runtime: Runtime): Answers {
  const controller = new LoopController({
    executor: runtimeExecutor(runtime),
    keyring: newKeyring('none', systemClock),
    store,
  });
  return {
    refusal: ({ tool }) => (tool === 'tool.stock.sell' ? 'a plan of the gate' : null),
    complete: (sid, call, answer) => controller.complete(sid, call, answer),
  };
}

const asset = (text: string, type: string): Asset => ({ bytes: Buffer.from(text), type });

/** A page of the form that the build writes. */
export const ASSETS = new Map([
  [
    'index.html',
    asset(
      '<!doctype html>\n<html><head>\n<script type="module" crossorigin src="./assets/i-1.js"></script>\n<link rel="stylesheet" crossorigin href="./assets/s-1.css">\n</head><body></body></html>\n',
      'text/html; charset=utf-8',
    ),
  ],
  ['assets/i-1.js', asset('document.title = "</script><!--";', 'text/javascript; charset=utf-8')],
  ['assets/s-1.css', asset('body { color: black }', 'text/css; charset=utf-8')],
]);

/** An inspector of a store. Failures that no request caused end the test. */
export function inspectorOf(store: SessionStore, more: { readonly log?: string; readonly answers?: Answers } = {}): Inspector {
  return new Inspector({
    store,
    place: 'a store',
    log: more.log === undefined ? null : fileLog(more.log),
    decisions: null,
    clock: systemClock,
    version: '0',
    openRuntime: () => createRuntime({ tools: [], policy: { allow: ['*'], grants: ['*:*:*'] }, concurrency: 1 }),
    answers: more.answers ?? null,
  });
}

export interface Answered {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export interface AskOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A served inspector, and a browser that is in. */
export async function serve(inspector: Inspector) {
  const errors: unknown[] = [];
  const server = await serveUi({ inspector, assets: ASSETS, port: 0, onError: (error) => errors.push(error) });
  const { origin, searchParams } = new URL(server.url);
  const send = (path: string, { method = 'GET', headers = {}, body }: AskOptions = {}): Promise<Answered> =>
    new Promise((resolve, reject) => {
      const asking = request(origin, { path, method, headers: { connection: 'close', ...headers } }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text: Buffer.concat(chunks).toString() }),
        );
      });
      asking.on('error', reject);
      asking.end(body);
    });
  const enter = async (): Promise<string> => {
    const { headers } = await send(`/?token=${searchParams.get('token') ?? ''}`);
    return headers['set-cookie']?.[0]?.split(';')[0] ?? '';
  };
  return { ...server, origin, errors, send, enter };
}

export { MemoryStore };
