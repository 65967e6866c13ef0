import { readFileSync } from 'node:fs';
import Fastify from 'fastify';
import { BusyError, createRuntime, loadPolicy } from 'neuroscript-runtime';
import { answerRequest } from 'neuroscript-runtime/wire';
import { tools } from './tools.mjs';

const policy = loadPolicy(readFileSync(new URL('policy.yaml', import.meta.url), 'utf8'), 'policy.yaml');

/**
 * A service with one route: POST /run takes a request, such as { "src": "command … endcommand" }, and answers with the result
 * of its program. A program that fails or reaches a limit is an answer too. A request can only tighten the limits.
 */
export async function createService() {
  const runtime = await createRuntime({ tools, policy, limits: { cpuMs: 500, wallMs: 5_000 } });
  const service = Fastify({ bodyLimit: 1_000_000 });
  service.addHook('onClose', () => runtime.close());
  service.post('/run', async (request, reply) => {
    // A client that leaves cancels its program.
    const gone = new AbortController();
    reply.raw.once('close', () => gone.abort());
    try {
      return await answerRequest(runtime, JSON.stringify(request.body), { signal: gone.signal });
    } catch (error) {
      if (!(error instanceof BusyError)) throw error;
      return reply.code(503).header('retry-after', '1').send({ error: error.message });
    }
  });
  return service;
}
