import { PURE_TOOLS } from './tools.ts';

/**
 * The signatures of every pure tool, joined by commas: the only part of a declaration that the interpreter needs. The build puts
 * the value of this constant into the guest's script in place of this module, so that no descriptions enter an isolate.
 */
export const SIGNATURES: Readonly<Record<string, string>> = Object.fromEntries(
  Object.values(PURE_TOOLS)
    .flatMap((group) => Object.entries(group))
    .map(([name, { args }]) => [name, args.map(([signature]) => signature).join(',')]),
);
