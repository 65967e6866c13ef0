/** `ask`: agents that a program asks, and the nested loops that answer. */
export { type AgentProvider, openaiProvider } from './agents.ts';
export { type AskHandlerOptions, askHandler } from './handler.ts';
