import { type Answered, post, type RestateServer, WITH_SDK } from '../../../apps/lab/engines/restate.ts';
import { Bench, type HostInit, type HostProcess, until } from '../matrix/bench.ts';
import { Relay } from './relay.ts';

/** A store, a shop, and workers that a server of Restate calls, one at a time. */
export class Fleet implements AsyncDisposable {
  readonly bench: Bench;
  readonly #server: RestateServer;
  readonly #relay: Relay;
  #isKnown = false;

  private constructor(bench: Bench, server: RestateServer, relay: Relay) {
    this.bench = bench;
    this.#server = server;
    this.#relay = relay;
  }

  static async open(server: RestateServer, url: string, options: { readonly fileLog?: boolean } = {}): Promise<Fleet> {
    return new Fleet(await Bench.open({ engine: 'postgres', url, ...options }), server, await Relay.open());
  }

  /** Starts a worker. Restate calls it from now on. */
  async worker(hold: HostInit['hold'] = null): Promise<HostProcess> {
    const worker = await this.bench.host({ kind: 'worker', hold, execArgv: WITH_SDK });
    this.#relay.to(worker.port);
    if (!this.#isKnown) {
      await this.#server.register(this.#relay.url);
      this.#isKnown = true;
    }
    return worker;
  }

  /** Calls a handler of a session through Restate. */
  call(sid: string, handler: string, input?: unknown): Promise<Answered> {
    return post(`${this.#server.ingress}/${this.bench.name}/${sid}/${handler}`, input);
  }

  /** Calls a handler that must not fail. */
  async must(sid: string, handler: string, input?: unknown): Promise<unknown> {
    const { status, body } = await this.call(sid, handler, input);
    if (status !== 200 && status !== 202) throw new Error(`${handler} of ${sid}: ${status} ${JSON.stringify(body)}`);
    return body;
  }

  async start(sid: string, more: object = {}): Promise<void> {
    await this.must(sid, 'start', { userdata: { subject: sid, fields: {} }, ...more });
  }

  /** Waits until all sessions wait for a call. */
  waiting(): Promise<void> {
    return this.bench.all('the turns wait', ({ waits }) => waits !== null);
  }

  /** The invocations of this fleet's object that have not ended. */
  async invocations(): Promise<readonly string[]> {
    const query = `SELECT id, target, status, retry_count, last_failure FROM sys_invocation WHERE target_service_name = '${this.bench.name}' AND status <> 'completed'`;
    const response = await fetch(`${this.#server.admin}/query`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify({ query }),
    });
    const { rows }: { readonly rows: readonly { readonly id: string }[] } = JSON.parse(await response.text());
    return rows.map(({ id }) => id);
  }

  /** Cancels the invocations that have not ended, as an operator does. */
  async cancelInvocations(): Promise<void> {
    for (const id of await this.invocations()) await post(`${this.#server.admin}/invocations/${id}/cancel`, undefined, 'PATCH');
  }

  /** Waits until all sessions have ended, and Restate has nothing left to do for them. */
  async finish(): Promise<void> {
    await until('Restate has nothing left to do', async () => {
      const sessions = await this.bench.store.list();
      return sessions.every(({ status, owed }) => status !== 'open' && owed === 0) && (await this.invocations()).length === 0;
    });
    await this.bench.finish();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.bench[Symbol.asyncDispose]();
    await this.#relay[Symbol.asyncDispose]();
  }
}
