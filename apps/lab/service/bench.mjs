import { fork } from 'node:child_process';
import { once } from 'node:events';
import { parseArgs } from 'node:util';
import autocannon from 'autocannon';

/**
 * Loads the service of examples/templates/service with honest requests, first alone and then with hostile programs beside, and prints what the
 * honest ones got. `--check` is short and fails when an answer is wrong, a hostile program ends by anything but a limit, honest
 * requests become slower than the bound, or the host's memory exceeds its bound.
 */
const { values: flags } = parseArgs({ options: { check: { type: 'boolean' }, seconds: { type: 'string' } } });
const SECONDS = Number(flags.seconds ?? (flags.check ? 4 : 20));
/** A hostile program may hold one of two cores for its whole CPU time, 500 ms, and an honest request may have to wait for it. */
const RATIO = 60;
const RSS_BYTES = 500 * 2 ** 20;

const command = (...lines) => ['command', ...lines.map((line) => `  ${line}`), 'endcommand'].join('\n');
const HONEST = command('set total = 0', 'for each n in [1, 2, 3, 4]', '  set total = total + n', 'endfor', 'emit total');
const HOSTILE = [
  command('while true', '  set x = 1', 'endwhile'),
  command('set x = "x"', 'while true', '  set x = x + x', 'endwhile'),
  command('while true', '  emit "0123456789"', 'endwhile'),
  command('set x = []', 'while true', '  set x = [x, x]', 'endwhile'),
];

const { process: server, address } = await started();
try {
  await load(1);
  const alone = await load(SECONDS);
  const attack = attacking();
  const beside = await load(SECONDS);
  const hostile = await attack.end();
  const rss = await memory();
  print('alone', alone);
  print('with hostile programs', beside);
  say(`hostile programs: ${hostile.ended} ended by ${[...hostile.codes].join(', ')}; ${hostile.refused} refused`);
  say(`resident memory of the host: ${Math.round(rss / 2 ** 20)} MB`);
  if (flags.check) check(alone, beside, hostile, rss);
} finally {
  server.disconnect();
  await once(server, 'exit');
}

async function started() {
  const child = fork(new URL('server.mjs', import.meta.url), { execArgv: process.execArgv });
  const [{ address }] = await once(child, 'message');
  return { process: child, address };
}

async function load(seconds) {
  const url = `${address}/run`;
  const result = await autocannon({
    ...{ url, method: 'POST', connections: 4, duration: seconds, timeout: 60 },
    headers: { 'content-type': 'application/json', 'x-tenant': 'honest' },
    body: JSON.stringify({ src: HONEST }),
    verifyBody: (body) => JSON.parse(body).emits?.[0] === '10',
  });
  const { requests, latency, mismatches, non2xx, errors } = result;
  return {
    perSecond: requests.average,
    p50: latency.p50,
    p99: latency.p99,
    wrong: mismatches + non2xx + errors,
    all: requests.total,
  };
}

/** Sends hostile programs of four tenants, each as fast as it gets answers, until it is told to end. */
function attacking() {
  const found = { ended: 0, refused: 0, wrong: [], codes: new Set() };
  let goesOn = true;
  const lanes = HOSTILE.map(async (src, lane) => {
    while (goesOn) {
      const headers = { 'content-type': 'application/json', 'x-tenant': `hostile-${lane}` };
      const answer = await fetch(`${address}/run`, { method: 'POST', headers, body: JSON.stringify({ src }) });
      const result = await answer.json();
      if (answer.status === 503) found.refused++;
      else if (result.ok === false && ['quota', 'timeout'].includes(result.error?.kind)) {
        found.ended++;
        found.codes.add(`${result.error.code} (${result.error.limit})`);
      } else found.wrong.push(result);
    }
  });
  return {
    async end() {
      goesOn = false;
      await Promise.all(lanes);
      return found;
    },
  };
}

async function memory() {
  server.send('memory');
  const [{ rss }] = await once(server, 'message');
  return rss;
}

function print(title, { perSecond, p50, p99, wrong, all }) {
  say(`${title}: ${Math.round(perSecond)} requests/s, p50 ${p50} ms, p99 ${p99} ms, ${wrong} of ${all} wrong`);
}

function check(alone, beside, hostile, rss) {
  const faults = [
    ...(alone.wrong + beside.wrong > 0 ? [`${alone.wrong + beside.wrong} honest answers are wrong`] : []),
    ...(alone.all === 0 || beside.all === 0 ? ['honest requests got no answer'] : []),
    ...(hostile.ended < HOSTILE.length ? ['too few hostile programs were ended'] : []),
    ...hostile.wrong.map((result) => `a hostile program ended otherwise: ${JSON.stringify(result).slice(0, 300)}`),
    ...(beside.p99 > RATIO * Math.max(alone.p99, 10) ? [`p99 grew from ${alone.p99} to ${beside.p99} ms`] : []),
    ...(rss > RSS_BYTES ? [`the host has ${rss} bytes`] : []),
  ];
  for (const fault of faults) process.stderr.write(`${fault}\n`);
  if (faults.length > 0) process.exitCode = 1;
}

function say(line) {
  process.stdout.write(`${line}\n`);
}
