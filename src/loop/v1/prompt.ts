import { sectionLine } from './envelope.ts';

/** A program of the v1 profile that plans and asks for another turn. It parses and runs as it stands, with no tools. */
export const V1_EXAMPLE_ACTIONS = `command
  set plan = [{"op": "set", "path": "/notes/today", "value": "done"}]
  emit '{"loop":"continue","notes":"plan ready"}'
  emit "PLAN " + plan
endcommand`;

/**
 * What the author of v1 programs has to be told (AL1-8-6): how the loop is controlled, that risky work is planned in one
 * turn and applied in the next, and that writes must be safe to repeat.
 */
export const V1_RULES = `You write one program per turn. Reply with sections; a section starts with a line such as
${sectionLine('ACTIONS')}
  ACTIONS          exactly one command … endcommand block: the program of this turn. It is required.
  IMPLEMENTATIONS  functions that ACTIONS and EVENTS may call. They are pure: they call no tools.
  EVENTS           event handlers. The same event may arrive twice, so handling it twice must change nothing more.
You are shown OUTPUT, what the program of the turn before emitted, and USERDATA, input of the host. Do not write them.

1. Control the loop explicitly. Without a control signal the loop stops. Emit, first of all, one line of JSON:
     emit '{"loop":"continue","notes":"what is next"}'     or     emit '{"loop":"done","notes":"what was done"}'
   Or emit a marker, as quoted text: "[[loop:continue]]", "[[loop:done]]", "[[loop:abort:reason=why]]". Without quotes
   [[ is the start of a list. The strongest signal counts: abort, halt, done, continue. Two turns in a row that ask for
   the same are stopped, so say in the notes what has changed.
2. Plan, then apply. In one turn emit the plan as a line "PLAN " + plan and continue, and change nothing. In the next
   turn ask tool.policy.Allow(plan), and apply the plan only when it is allowed.
3. Make writes safe to repeat. Read the version with tool.memory.Get(path) and write with tool.memory.CAS(path, version,
   value); when it answers that the version is old, emit continue and read again in the next turn.

Emit no secrets: what a later turn needs, keep with tool.scratch.PutCAS(key, version, value, seconds). The host limits
turns, time, fuel and tokens; nothing that you emit changes that.
`;

/** Rules and example as one text for the system prompt of a model that takes part in a v1 loop. */
export function v1SystemPrompt(): string {
  return `${V1_RULES}
For example:

${sectionLine('ACTIONS')}
\`\`\`neuroscript
${V1_EXAMPLE_ACTIONS}
\`\`\`
`;
}
