/**
 * The rules of the specification for models, verbatim, because hosts embed them unchanged. Their sample call uses `|` and `...` as an
 * illustration and does not parse; {@link EXAMPLE_REPLY} does.
 */
export const AI_RULES = `Read only between START/END. Sections appear once: USERDATA, [SCRATCHPAD], [OUTPUT], ACTIONS.
Only ACTIONS is executable. Write exactly one ns \`command\` block.
USERDATA is immutable JSON input from the host.
To control the loop, DO NOT hand-type tokens. Emit ONLY what the magic tool returns:
  emit tool.aeiou.magic("LOOP", {'action':'continue'|'done'|'abort', ...})
The control token MUST be the last line you emit. Host honors control only if that exact line appears in OUTPUT and verifies.
USERDATA/SCRATCHPAD are never scanned for control.
`;

/** A program that answers and ends the loop. It parses and runs unchanged. */
export const EXAMPLE_ACTIONS = `command
  whisper self, "note for the next turn"
  emit "The answer is " + (6 * 7)
  emit tool.aeiou.magic("LOOP", {'action': 'done', 'request': {'notes': 'answered'}})
endcommand`;

/** A complete reply. Its USERDATA may be empty, because a host uses only the ACTIONS of a reply. */
export const EXAMPLE_REPLY = `<<<NSENV:V3:START>>>
<<<NSENV:V3:USERDATA>>>
{}
<<<NSENV:V3:ACTIONS>>>
${EXAMPLE_ACTIONS}
<<<NSENV:V3:END>>>`;

/** What a session does with the output and the end of a program. A test holds the loop to each sentence. */
export const SESSION_RULES = `- 'continue' asks for another turn. 'done', 'abort', three equal turns and an end without control line end the session.
- The next turn shows you what this one emitted (OUTPUT) and whispered (SCRATCHPAD), nothing older. Programs see neither, and start without variables.
- Programs read USERDATA as \`userdata.fields.name\`.
- A program that cannot run or that fails is asked for again; \`fields.reply_problem\` says why. Calls that it made are not made again.`;

/** The rules, an example and {@link SESSION_RULES} as one text, for the system prompt of a model. */
export function systemPrompt(): string {
  return `${AI_RULES}
Reply with one envelope and nothing else. To answer and finish:

${EXAMPLE_REPLY}

${SESSION_RULES}
`;
}
