import { sectionLine } from './envelope.ts';

/** A v1 program that plans and requests another turn. It runs unchanged and without tools. */
export const V1_EXAMPLE_ACTIONS = `command
  set plan = [{"op": "set", "path": "/notes/today", "value": "done"}]
  emit '{"loop":"continue","notes":"plan ready"}'
  emit "PLAN " + plan
endcommand`;

/**
 * The rules for authors of v1 programs: how to control the loop, to plan risky work in one turn and apply it in the next, and
 * to make writes safe to repeat. A line that names a tool names no other than that, because `agentBrief` leaves out lines about missing tools.
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
2. Plan, then apply. In one turn emit the plan as a line "PLAN " + plan and continue, and change nothing. Apply it in the
   next turn.
   Ask tool.policy.Allow(plan) first, and apply the plan only when it is allowed.
3. Make writes safe to repeat: after a conflict emit continue, and read again in the next turn.
   Read the version with tool.memory.Get(path), and write with tool.memory.CAS(path, version, value).

A program that fails or cannot run ends the session. Programs read USERDATA as \`userdata.fields.name\`.
Emit no secrets. The host limits turns, time, fuel and tokens; nothing that you emit changes that.
What a later turn needs, keep with tool.scratch.PutCAS(key, version, value, seconds).
`;

/** Rules and example as one text, for the system prompt of a model in a v1 loop. */
export function v1SystemPrompt(): string {
  return `${V1_RULES}
For example:

${sectionLine('ACTIONS')}
\`\`\`neuroscript
${V1_EXAMPLE_ACTIONS}
\`\`\`
`;
}
