// npm runs this before it runs the scripts of any package that it installs, so before anything is compiled. It must run on every Node.
var node = process.versions.node;
var major = Number(node.split('.')[0]);
var machine = `${process.platform}-${process.arch}`;
/** The machines for which isolated-vm contains binaries, for Node 24 and from Node 26 on; Linux with glibc and musl. */
var machines = ['linux-x64', 'linux-arm64', 'darwin-arm64', 'win32-x64'];
var problem = null;
if (major < 24) problem = `needs Node 24 or 26; this is Node ${node}`;
else if (machines.indexOf(machine) < 0) problem = `has no binary of its native module for ${machine}`;
else if (major === 25) problem = 'has no binary of its native module for Node 25; use Node 24 or 26';
var ways = `NEUROSCRIPT_COMPILE=1 compiles it, which takes a C++ compiler and minutes. With "npm install --ignore-scripts",
createThreadRuntime of neuroscript-runtime/browser needs no native code, and has no isolation: see docs/install.md.
`;
if (problem !== null && process.env.NEUROSCRIPT_COMPILE !== '1') {
  process.stderr.write(`neuroscript-runtime ${problem}. Nothing was compiled.\n${major < 24 ? '' : ways}`);
  process.exitCode = 1;
}
