import { createService } from './service.mjs';

const service = await createService();
const address = await service.listen({ host: '127.0.0.1', port: Number(process.env.PORT ?? 3000) });
process.stdout.write(`listening on ${address}\n`);
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void service.close());
