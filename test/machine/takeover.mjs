// Plays a worker under the full control of an attacker: runs in the operating system sandbox without Node's permission model,
// tries every attack, and writes the names of those that worked to descriptor 3.
import { readdirSync, readFileSync, writeSync } from 'node:fs';

const life = process.argv[3];
// Native code can have the process be Node once more, with flags of its choice; then all of this is tried again.
if (life === 'first')
  process.execve(process.execPath, ['node', '--expose-internals', '--no-warnings', ...process.argv.slice(1, 3), 'second'], {});

const { port, hostPid, victim, secret } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
process.on('uncaughtException', () => {});

const opened = (socket) =>
  new Promise((resolve, reject) => {
    socket.once('connect', resolve).once('listening', resolve).once('error', reject);
  });
const fs = await import('node:fs');
const net = await import('node:net');
const { spawn, spawnSync } = await import('node:child_process');
const spawned = (file, args) => {
  const { error } = spawnSync(file, args);
  if (error) throw error;
};
const deeds = {
  // First: later ones make Node open descriptors of its own.
  'use a file that the host had open': async () => {
    for (let fd = 4; fd < 1024; fd++) {
      try {
        if (fs.fstatSync(fd).isFile() || fs.fstatSync(fd).isDirectory()) return;
      } catch {}
    }
    throw new Error('none');
  },
  'signal the host': async () => process.kill(hostPid, 0),
  'stop the host': async () => process.kill(hostPid, 'SIGSTOP'),
  'see processes': async () => readdirSync('/proc'),
  'read the host through /proc': async () => readFileSync(`/proc/${hostPid}/environ`),
  'read /etc/passwd': async () => readFileSync('/etc/passwd'),
  'read a file of the host': async () => readFileSync(secret),
  'write a file of the host': async () => fs.writeFileSync(victim, 'x'),
  'write in its own folder': async () => fs.writeFileSync('/worker/x', 'x'),
  'write in the root': async () => fs.writeFileSync('/x', 'x'),
  'write its own code': async () => fs.appendFileSync('/worker/worker.mjs', 'x'),
  'write in /tmp': async () => fs.writeFileSync('/tmp/x', 'x'),
  'open a device': async () => fs.openSync('/dev/null', 'r'),
  'see more than its root': async () => {
    const seen = readdirSync('/').filter((name) => !['worker', 'lib', 'lib64', 'usr'].includes(name));
    if (seen.length === 0) throw new Error('nothing');
  },
  'use sqlite': async () => new (await import('node:sqlite')).DatabaseSync(victim),
  'start itself again': async () => spawned('/worker/node', ['--version']),
  'leave a process in a session of its own': async () => {
    const options = { detached: true, stdio: 'ignore' };
    const child = spawn('/worker/node', ['-e', 'setTimeout(() => {}, 600_000)', victim], options);
    await new Promise((resolve, reject) => child.once('spawn', resolve).once('error', reject));
    child.unref();
  },
  'start a shell': async () => spawned('/bin/sh', ['-c', 'true']),
  'connect by TCP': async () => opened(net.connect(port, '127.0.0.1')),
  'listen by TCP': async () => opened(net.createServer().listen(0, '127.0.0.1')),
  'listen by a path': async () => opened(net.createServer().listen('/worker/socket')),
  'listen by an abstract name': async () => opened(net.createServer().listen('\0worker')),
  'connect by fetch': async () => fetch(`http://127.0.0.1:${port}/`),
  'send by UDP': async () => {
    const { createSocket } = await import('node:dgram');
    await new Promise((resolve, reject) => {
      createSocket('udp4').send('x', port, '127.0.0.1', (error) => (error ? reject(error) : resolve()));
    });
  },
  'look a name up': async () => (await import('node:dns/promises')).resolve4('localhost'),
  'open the inspector': async () => {
    const inspector = await import('node:inspector');
    inspector.open(0);
    if (inspector.url() === undefined) throw new Error('it did not open');
  },
  'find something in its environment': async () => {
    if (Object.keys(process.env).filter((name) => name !== 'PWD').length === 0) throw new Error('empty');
  },
  'be somebody': async () => {
    if (process.getuid() === 65534) throw new Error('nobody');
  },
  'become somebody': async () => process.setuid(0),
  'know the name of the machine': async () => {
    if ((await import('node:os')).hostname() === 'worker') throw new Error('no');
  },
};
const worked = [];
for (const [name, deed] of Object.entries(deeds)) {
  try {
    await Promise.race([deed(), new Promise((_, reject) => setTimeout(reject, 1000))]);
    worked.push(name);
  } catch {}
}
const text = Buffer.from(JSON.stringify(worked));
const head = Buffer.alloc(4);
head.writeUInt32BE(text.length);
// The pipe does not outlast the first life; what is left is where Node itself complains, too.
if (life === 'second') writeSync(2, `\n${text}\n`);
else writeSync(3, Buffer.concat([head, text]));
process.exit(0);
