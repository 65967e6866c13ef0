/** The name of this project in the tables. */
export const OURS = 'neuroscript';
/** Peers that goals name. */
export const [MONTY, QUICKJS] = ['@pydantic/monty', 'quickjs-emscripten'];
/** A raw V8 isolate in a process of its own, from host to host. */
export const RAW_PROCESS = 'isolated-vm in a process';
/** The smallest interpreter, in a raw isolate in a process of its own. */
export const FLOOR = 'smallest interpreter';
