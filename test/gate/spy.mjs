// Loaded before the command (`node --import`). It records the command's calls to the system and writes them at the end, as one
// JSON line, to descriptor 3. It also makes the gate's call number SPY_AT of SPY_BREAK fail. It patches the modules of Node
// before other code imports them.
import child from 'node:child_process';
import dgram from 'node:dgram';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import os from 'node:os';
import timers from 'node:timers';

const { writeSync } = fs;
const calls = [];
const broken = process.env.SPY_BREAK ?? '';
const at = Number(process.env.SPY_AT ?? 1);
let seen = 0;

function spy(object, name, note) {
  const real = object[name];
  object[name] = function spied(...args) {
    if (note !== null) calls.push([name, ...note(args)]);
    if (name === broken && /src.gate/.test(new Error().stack) && ++seen === at) throw new Error(`${name} was made to fail`);
    return Reflect.apply(real, this, args);
  };
}

// Node itself reads modules with these functions, so only the calls for the queue are recorded.
const ofQueue = (path) => typeof path === 'string' && path.startsWith(process.env.SPY_QUEUE ?? '\0');
for (const name of Object.keys(fs).filter((key) => typeof fs[key] === 'function' && /^[a-z]/.test(key)))
  spy(fs, name, (args) => (ofQueue(args[0]) ? [args[0], typeof args[1] === 'number' ? args[1] : null] : []));
for (const name of ['spawn', 'spawnSync', 'exec', 'execSync', 'execFile', 'execFileSync', 'fork'])
  spy(child, name, (args) => [args[0], args[1], args[2]?.shell ?? null]);
for (const name of ['connect', 'createConnection', 'createServer']) spy(net, name, () => []);
spy(dgram, 'createSocket', () => []);

// A timer that has run by the end of the process is no handle any more.
const waits = [];
for (const object of [globalThis, timers])
  for (const name of ['setTimeout', 'setInterval', 'setImmediate']) {
    const real = object[name];
    object[name] = function spied(...args) {
      if (/src.gate/.test(new Error().stack)) waits.push(name);
      return Reflect.apply(real, this, args);
    };
  }

const clock = [];
const RealDate = Date;
globalThis.Date = class extends RealDate {
  constructor(...args) {
    if (args.length === 0) clock.push('Date');
    super(...args);
  }
};
for (const [object, name] of [
  [Date, 'now'],
  [performance, 'now'],
  [process, 'hrtime'],
  [process, 'uptime'],
  [os, 'uptime'],
  [Math, 'random'],
]) {
  const real = object[name];
  object[name] = function spied(...args) {
    clock.push(name);
    return Reflect.apply(real, this, args);
  };
}

syncBuiltinESMExports();

process.on('exit', (code) => {
  const notes = calls.filter((call) => call.length > 1 || /^(connect|create|exec|spawn|fork)/.test(call[0]));
  const asked = { code, calls: notes, clock: clock.length, handles: [...waits, ...process.getActiveResourcesInfo()] };
  writeSync(3, `${JSON.stringify(asked)}\n`);
});
