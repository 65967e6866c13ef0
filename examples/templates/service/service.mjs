import { readFileSync } from 'node:fs';
import Fastify from 'fastify';
import { answerRequest, BusyError, ConfigError, createRuntime, loadPolicy } from 'neuroscript-runtime';
import { tools } from './tools.mjs';

const policy = loadPolicy(readFileSync(new URL('policy.yaml', import.meta.url), 'utf8'), 'policy.yaml');

/** Whose request this is. Put here what your authentication says: a client can write any header. */
const tenantOf = (request) => request.headers['x-tenant'] ?? request.ip;

/**
 * A service with two routes that take a request, such as { "src": "command … endcommand" }. POST /run answers with the result of its
 * program; POST /stream sends what it emits at once, as server-sent events, and then the result. A program that fails or reaches a
 * limit is an answer too. A request can only tighten the limits. The runs of one tenant do not hold up those of another.
 */
export async function createService(options = {}) {
  const tenants = { defaults: { concurrency: 4, queueLength: 32 } };
  const runtime = await createRuntime({ tools, policy, limits: { cpuMs: 500, wallMs: 5_000 }, tenants, ...options });
  const service = Fastify({ bodyLimit: 1_000_000 });
  service.decorate('runtime', runtime);
  service.addHook('onClose', () => runtime.close());

  /** Runs the program of a request. A client that leaves cancels it. */
  const answer = (request, reply, onOut) => {
    const gone = new AbortController();
    reply.raw.once('close', () => gone.abort());
    return answerRequest(runtime, JSON.stringify(request.body), { tenant: tenantOf(request), signal: gone.signal, onOut });
  };

  service.setErrorHandler((error, _, reply) => {
    if (error instanceof BusyError) return reply.code(503).header('retry-after', '1').send({ error: error.message });
    if (error instanceof ConfigError) return reply.code(400).send({ error: error.message });
    return reply.send(error);
  });

  service.post('/run', (request, reply) => answer(request, reply));

  service.post('/stream', async (request, reply) => {
    const send = (event, data) => {
      if (!reply.sent) {
        reply.hijack();
        reply.raw.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
      }
      reply.raw.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
    };
    const result = await answer(request, reply, ({ emits }) => {
      for (const text of emits) send('emit', text);
    });
    send('result', result);
    reply.raw.end();
    return reply;
  });
  return service;
}
