// Plays hostile code in the worker's own realm after the worker has dropped its permissions. It starts exactly like a worker, on
// any Node, with or without the operating system sandbox, tries every attack, and writes the names of those that worked to descriptor 3.
// It is a script, as a worker in that sandbox is.
const { readFileSync, writeSync } = require('node:fs');

const { port, udpPort, victim, victimPid, hostPid } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
for (const scope of ['fs.read', 'addon']) process.permission.drop?.(scope);

process.on('uncaughtException', () => {});

const connected = (socket) =>
  new Promise((resolve, reject) => {
    socket.once('connect', resolve).once('error', reject);
  });
const deeds = {
  // First: later ones make Node open descriptors of its own.
  'use a descriptor that the host had open': async () => {
    const { fstatSync } = await import('node:fs');
    for (let fd = 4; fd < 1024; fd++) {
      try {
        const seen = fstatSync(fd);
        if (seen.isFile() || seen.isDirectory() || seen.isSocket()) return;
      } catch {}
    }
    throw new Error('none');
  },
  'signal the host': async () => process.kill(hostPid, 0),
  'start the inspector of another process': async () => process._debugProcess(victimPid),
  'signal another process': async () => process.kill(victimPid, 'SIGTERM'),
  'read a file': async () => readFileSync('/etc/passwd'),
  'read its own code': async () => readFileSync(process.argv[1]),
  'read /proc': async () => readFileSync('/proc/self/environ'),
  'list a folder': async () => (await import('node:fs')).readdirSync('/'),
  'write a file': async () => (await import('node:fs')).writeFileSync(victim, 'x'),
  'remove a file': async () => (await import('node:fs')).rmSync(victim),
  'open a promise file': async () => (await import('node:fs/promises')).open('/etc/passwd'),
  spawn: async () => {
    const { error } = (await import('node:child_process')).spawnSync('/bin/true');
    if (error) throw error;
  },
  fork: async () => (await import('node:child_process')).fork('/bin/true'),
  'start Node anew': async () => {
    const { error } = (await import('node:child_process')).spawnSync(process.execPath, ['--version']);
    if (error) throw error;
  },
  'start Node anew, with a shell': async () =>
    new Promise((resolve, reject) => {
      import('node:child_process').then(
        ({ exec }) => exec(`${process.execPath} --version`, (error) => (error ? reject(error) : resolve())),
        reject,
      );
    }),
  'start Node anew, for a cluster': async () => {
    const worker = (await import('node:cluster')).default.fork();
    await new Promise((resolve, reject) => worker.once('online', resolve).once('error', reject).once('exit', reject));
  },
  'start Node anew, past the module': async () => {
    const { Process } = process.binding('process_wrap');
    const failed = new Process().spawn({ file: process.execPath, args: ['node', '--version'], stdio: [{ type: 'ignore' }] });
    if (failed) throw new Error(String(failed));
  },
  'start Node anew, past the module, and wait': async () => {
    const { error } = process.binding('spawn_sync').spawn({ file: process.execPath, args: ['node', '--version'], stdio: [] });
    if (error) throw new Error(String(error));
  },
  // Where it worked nothing would be written any more.
  'become Node anew, with other flags': async () =>
    process.execve(process.execPath, ['node', '--allow-fs-read=*', '--eval', ''], { NODE_OPTIONS: '' }),
  'say that it has the permissions': async () => {
    process.permission = { has: () => true };
    readFileSync('/etc/passwd');
  },
  'start a thread': async () => new (await import('node:worker_threads')).Worker('1', { eval: true }),
  'load native code': async () => process.dlopen({ exports: {} }, '/lib/x86_64-linux-gnu/libc.so.6'),
  wasi: async () => new (await import('node:wasi')).WASI({ version: 'preview1' }),
  sqlite: async () => new (await import('node:sqlite')).DatabaseSync(victim),
  'connect by TCP': async () => connected((await import('node:net')).connect(port, '127.0.0.1')),
  'connect by fetch': async () => fetch(`http://127.0.0.1:${port}/`),
  'listen by TCP': async () =>
    new Promise((resolve, reject) => {
      import('node:net').then(({ createServer }) => createServer().once('error', reject).listen(0, '127.0.0.1', resolve), reject);
    }),
  'send by UDP': async () =>
    new Promise((resolve, reject) => {
      import('node:dgram').then(({ createSocket }) => {
        createSocket('udp4').send('x', udpPort, '127.0.0.1', (error) => (error ? reject(error) : resolve()));
      }, reject);
    }),
  'listen by UDP': async () =>
    new Promise((resolve, reject) => {
      import('node:dgram').then(
        ({ createSocket }) => createSocket('udp4').once('error', reject).bind(0, '127.0.0.1', resolve),
        reject,
      );
    }),
  'connect by HTTP': async () =>
    new Promise((resolve, reject) => {
      import('node:http').then(({ get }) => get({ host: '127.0.0.1', port }, resolve).once('error', reject), reject);
    }),
  'listen by a path': async () =>
    new Promise((resolve, reject) => {
      import('node:net').then(
        ({ createServer }) => createServer().once('error', reject).listen(`${victim}.sock`, resolve),
        reject,
      );
    }),
  'ask a name server': async () => {
    const { Resolver } = (await import('node:dns')).promises;
    const resolver = new Resolver({ timeout: 300, tries: 1 });
    resolver.setServers([`127.0.0.1:${udpPort}`]);
    await resolver.resolve4('example.test');
  },
  'become another program': async () => process.execve('/bin/true', ['true'], {}),
  'write a report': async () => {
    if (!(await import('node:fs')).existsSync(process.report.writeReport(`${victim}.json`))) throw new Error('not written');
  },
  'write a heap snapshot': async () => (await import('node:v8')).writeHeapSnapshot(`${victim}.heapsnapshot`),
  'read variables of a file': async () => process.loadEnvFile('/etc/os-release'),
  'keep something in web storage': async () => globalThis.localStorage.setItem('a', 'b'),
  'use a debugging session': async () => new (await import('node:inspector')).Session().connect(),
  'open a file as a blob': async () => (await (await import('node:fs')).openAsBlob('/etc/passwd')).text(),
  'go to another folder and list it': async () => {
    process.chdir('/etc');
    (await import('node:fs')).readdirSync('.');
  },
  'become root': async () => {
    if (process.getuid() === 0) throw new Error('it is already');
    process.setuid(0);
  },
  'look a name up': async () => (await import('node:dns/promises')).lookup('localhost'),
  'open the inspector': async () => (await import('node:inspector')).open(0),
  'see the environment': async () => {
    if (Object.keys(process.env).filter((name) => name !== 'PWD').length === 0) throw new Error('empty');
  },
};
async function attack() {
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
  writeSync(3, Buffer.concat([head, text]));
  process.exit(0);
}
attack();
