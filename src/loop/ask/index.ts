/** The statement `ask`: models that a program asks, and the nested loops that answer. */

export { type AskHandlerOptions, askHandler } from './handler.ts';
export { type AgentProvider, openaiProvider } from './providers.ts';
