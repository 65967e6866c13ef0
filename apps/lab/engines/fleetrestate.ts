import { CONCURRENCY, FLEET_SESSIONS, type FleetRow, fleetSids, openFleetSessions } from '../../../bench/fleet.ts';
import { Fleet, type FleetPart, type FleetServer } from './fleet.ts';
import { post, type RestateServer, WITH_SDK } from './restate.ts';

/** Sessions by the worker that has them: each worker is an object of its own, so that all have the same share. */
type Shares = readonly (readonly string[])[];

/** Measures workers that Restate calls, on sessions in Postgres. As many of a worker run at a time as of a host that claims them. */
export async function measureRestate(
  restate: RestateServer,
  server: FleetServer,
  part: FleetPart,
  quick: boolean,
): Promise<FleetRow> {
  const sessions = FLEET_SESSIONS[quick ? 'quick' : 'whole'];
  await using fleet = await Fleet.open('fleetworker.ts', server, part, WITH_SDK);
  const names = fleet.hosts.map((_, index) => `${fleet.name}-${index + 1}`);
  for (const { port } of fleet.hosts) await restate.register(`http://127.0.0.1:${port}`);
  const open = async (shares: Shares): Promise<void> => {
    for (const [index, sids] of shares.entries()) await openFleetSessions(fleet.store, sids, names[index]);
  };
  const drive = async (shares: Shares): Promise<void> => {
    const failed = Promise.withResolvers<never>();
    const left = shares.map((sids) => [...sids]);
    const send = (index: number): void => {
      const sid = left[index]?.shift();
      if (sid === undefined) return;
      void post(`${restate.ingress}/${names[index]}/${sid}/turn/send`).then(({ status }) => {
        if (status !== 202) failed.reject(new Error(`Restate does not take a turn: ${status}`));
      }, failed.reject);
    };
    const ended = fleet.ended(shares.flat().length, send);
    for (const index of shares.keys()) for (let n = 0; n < CONCURRENCY; n++) send(index);
    await Promise.race([ended, failed.promise]);
  };
  const warm = names.map((name) => fleetSids(`warm-${name}`, CONCURRENCY));
  await open(warm);
  await drive(warm);
  const sids = fleetSids('fleet', sessions);
  const shares = names.map((_, index) => sids.filter((__, at) => at % names.length === index));
  await open(shares);
  const servers = server.pid === null ? [] : [server.pid, restate.pid];
  const row = {
    engine: part.logs ? 'Restate, Postgres, log' : 'Restate, Postgres',
    executor: part.executor,
    hosts: part.hosts,
    inFlight: part.inFlight,
  };
  return await fleet.measure(row, sessions, servers, () => drive(shares));
}
