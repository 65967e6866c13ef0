/**
 * The tools of the AI SDK (`ai`), both ways: its tools for programs, and a tool with which its models run programs. Entry point
 * `neuroscript-runtime/ai`.
 */

export * from './programtool.ts';
export { type SdkTool, type SdkToolOptions, sdkTools } from './sdktools.ts';
