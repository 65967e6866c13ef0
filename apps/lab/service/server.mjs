import { cpSync } from 'node:fs';

// The starter project, as `neuroscript init --service` writes it.
const project = new URL('../../../.cache/lab-service/', import.meta.url);
for (const name of ['agent', 'service'])
  cpSync(new URL(`../../../examples/templates/${name}/`, import.meta.url), project, { recursive: true });
const { createService } = await import(new URL('service.mjs', project).href);

/** The service in a process of its own, which tells its address and, when asked, its resident memory in bytes. */
const tenants = {
  defaults: { concurrency: 1, queueLength: 16 },
  each: { honest: { concurrency: 16, queueLength: 1000, share: 8 } },
};
const service = await createService({ tenants });
process.send({ address: await service.listen({ host: '127.0.0.1', port: 0 }) });
process.on('message', () => process.send({ rss: process.memoryUsage.rss() }));
process.once('disconnect', () => service.close());
