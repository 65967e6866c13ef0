import type { ErrorInfo } from '../../wire/errors.ts';

/** Whether a tool keeps values: `--storage` says where, and allows it. */
export function keepsValues(tool: string): boolean {
  return ['tool.memory.', 'tool.scratch.', 'tool.capsule.'].some((group) => tool.startsWith(group));
}

/** An error with what to write so that it does not come again: for a denied call, the flags and the lines of a policy file. */
export function withNextStep(error: ErrorInfo): ErrorInfo {
  if (error.code !== 'NS1003' || error.hint !== undefined) return error;
  if (error.message.includes(' foreseen, and the run is bound')) return { ...error, hint: UNFORESEEN };
  const tool = /^tool '([\w.]+)' was not found/.exec(error.message)?.[1];
  return { ...error, hint: tool === undefined ? WITHOUT_FLAG : howToAllow(tool) };
}

/** A turn or the end of a session, as it is shown, with what {@link withNextStep} says. */
export function withAdvice<Shown extends { readonly error: ErrorInfo | null }>(shown: Shown): Shown {
  return shown.error === null ? shown : { ...shown, error: withNextStep(shown.error) };
}

const UNFORESEEN = "if the program may make this call, write a new preview with 'neuroscript foresee --json' and read it first";

const WITHOUT_FLAG =
  "a file given with --policy says what is allowed; without one, the tools of --tools and --mcp and those without effects ('explain NS1003')";

/** The flags, and the lines of a policy file, that allow a tool by its canonical name. */
export function howToAllow(tool: string): string {
  const lines = `{allow: [${tool}], grants: ["*:*:*"]}`;
  const file = `with --policy FILE, which names every tool of the program: ${lines} ('explain NS1003')`;
  return `allow it ${keepsValues(tool) ? `with --storage FILE ('none': in memory), or ` : ''}${file}`;
}
