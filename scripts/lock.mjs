// Completes package-lock.json. npm leaves optional platform packages out of the lock when the registry it asked does
// not offer them, and `npm ci` then refuses the lock as incomplete. An entry with version, os, cpu and optional is all
// that `npm ci` wants to see for a package it will not install here. Run by `npm run lock` after every dependency change;
// an argument names the folder of another package.
import { readFileSync, writeFileSync } from 'node:fs';

const LOCK = new URL(`../${process.argv[2] ?? '.'}/package-lock.json`, import.meta.url);

/** The os, cpu and libc fields that a platform package would have, read off its name (`…-linux-x64-musl`). */
function platformOf(name) {
  const words = name.split(/[/-]/);
  const os = ['linux', 'darwin', 'win32', 'freebsd', 'openbsd', 'netbsd', 'android', 'sunos', 'aix', 'openharmony'].find((o) =>
    words.includes(o),
  );
  const cpu = ['x64', 'arm64', 'arm', 'ia32', 'ppc64', 's390x', 'riscv64', 'loong64', 'mips64el', 'wasm32'].find((c) =>
    words.includes(c),
  );
  return { cpu: cpu && [cpu], os: os && [os] };
}

const lock = JSON.parse(readFileSync(LOCK, 'utf8'));
const packages = lock.packages;
const added = [];
for (const [path, entry] of Object.entries(packages)) {
  for (const [name, range] of Object.entries(entry.optionalDependencies ?? {})) {
    const nested = `${path}/node_modules/${name}`;
    const hoisted = `node_modules/${name}`;
    const version = /\d+\.\d+\.\d+\S*/.exec(range)?.[0];
    if (version === undefined || packages[nested] || packages[hoisted]) continue;
    packages[hoisted] = { version, ...platformOf(name), ...(entry.dev ? { dev: true } : {}), optional: true };
    added.push(`${name}@${version}`);
  }
}
for (const entry of Object.values(packages)) delete entry.resolved;
lock.packages = Object.fromEntries(Object.entries(packages).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
writeFileSync(LOCK, `${JSON.stringify(lock, null, 2)}\n`);
process.stdout.write(
  added.length === 0
    ? 'package-lock.json is complete\n'
    : `completed with ${added.length} platform packages: ${added.join(', ')}\n`,
);
