/** The name of this project in the tables. */
export const OURS = 'neuroscript';
/** Peers that goals name. */
export const [MONTY, QUICKJS] = ['@pydantic/monty', 'quickjs-emscripten'];
