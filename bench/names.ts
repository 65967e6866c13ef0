/** The name of this project in the tables. */
export const OURS = 'neuroscript';
/** The same with kept isolates. */
export const OURS_KEPT = "neuroscript, isolation 'tenant'";
/** Peers that goals name. */
export const [MONTY, QUICKJS] = ['@pydantic/monty', 'quickjs-emscripten'];
/** The second of them in a process that can be killed, behind pipes as ours is. */
export const QUICKJS_PROCESS = 'quickjs-emscripten in a process';
/** A raw V8 isolate in a process of its own, from host to host. */
export const RAW_PROCESS = 'isolated-vm in a process';
/** The smallest interpreter, in a raw isolate in a process of its own. */
export const FLOOR = 'smallest interpreter';
/** The same in an isolate that is kept. */
export const FLOOR_KEPT = 'smallest interpreter, kept';
