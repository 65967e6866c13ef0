/** The program of a worker, in a process or in a thread. */
export { main } from './main.ts';
export { serve } from './thread.ts';
