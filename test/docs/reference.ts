/** What became of a tool of the public reference. */
export type Verdict = 'same' | 'better' | 'declined';

/** Every tool that the public Go implementation registers (its listing of March 2026), or a whole group that was declined. */
export interface ReferenceRow {
  /** As the reference writes it, without `tool.`; a group ends in `.*`. */
  readonly tool: string;
  readonly verdict: Verdict;
  /** How it differs, or why it was declined. */
  readonly why: string;
}

const rows = (verdict: Verdict, why: string, ...tools: readonly string[]): readonly ReferenceRow[] =>
  tools.map((tool) => ({ tool, verdict, why }));

/** In the order of the groups. */
export const REFERENCE: readonly ReferenceRow[] = [
  ...rows(
    'same',
    '',
    'str.Length',
    'str.Substring',
    'str.TrimSpace',
    'str.SplitWords',
    'str.Contains',
    'str.HasPrefix',
    'str.HasSuffix',
  ),
  ...rows(
    'same',
    '',
    'str.Split',
    'str.LineCount',
    'str.ToUpper',
    'str.ToLower',
    'str.ToHex',
    'str.ToBase64',
    'str.BytesToBase64',
  ),
  ...rows('better', '`count` may be left out: all', 'str.Replace'),
  ...rows('better', 'an item that is not a text counts as `emit` prints it, nil as nothing', 'str.Join', 'str.Concat'),
  ...rows(
    'better',
    'bytes that are not UTF-8 are code 41, never a broken text',
    'str.FromBase64',
    'str.FromHex',
    'str.BytesFromBase64',
  ),
  ...rows(
    'better',
    'keys keep their order; a number out of range and half a character are code 41',
    'str.ParseJsonString',
    'str.ParseFromJsonBase64',
  ),
  ...rows(
    'better',
    'keys keep their order; `<`, `>`, `&`, U+2028 and U+2029 are written as they are; a value that is neither a map nor a list is code 7, where the reference gives its JSON text',
    'str.ToJsonString',
  ),
  ...rows(
    'better',
    'no capability is needed: patterns take linear time, paid for in fuel',
    'str.MatchRegex',
    'str.FindAllRegex',
    'str.ReplaceRegex',
  ),
  ...rows('better', 'cuts between characters, keys in order, nil is `nil`', 'str.Inspect'),
  ...rows('same', '', 'str.StripAnsi'),
  ...rows('declined', 'control characters for a terminal have no place in a protocol; hosts colour what they show', 'str.Color'),
  ...rows(
    'declined',
    'a bomb by design, and no data in a script is that large; a host that stores can compress',
    'str.Compress',
    'str.Decompress',
  ),
  ...rows('same', '', 'math.Add', 'math.Subtract', 'math.Multiply'),
  ...rows('better', 'the divisor 0 is code 14, as for the operators; code 21 there', 'math.Divide', 'math.Modulo'),
  ...rows('same', '', 'list.Length', 'list.IsEmpty', 'list.Append', 'list.Prepend', 'list.Get', 'list.Slice', 'list.Reverse'),
  ...rows('same', '', 'list.Head', 'list.Rest', 'list.Tail', 'list.Contains'),
  ...rows('same', 'lists are values, so the list that was given stays as it is', 'list.AppendInPlace'),
  ...rows('better', 'texts by code points; the message says what is in the way', 'list.Sort'),
  ...rows(
    'better',
    'whole numbers are `int` and `float`; all problems at once with Problems; a type that does not exist is code 15',
    'shape.Validate',
  ),
  ...rows('same', '', 'shape.Select', 'shape.IsValidPath'),
  ...rows('same', 'its name works here (P10)', 'error.New'),
  ...rows('better', 'the clock is that of the turn, recorded, so that a run can be repeated', 'time.Now', 'time.Sleep'),
  ...rows('better', 'recorded, so that a run can be repeated', 'crypto.Hash', 'crypto.HMAC', 'crypto.UUID'),
  ...rows(
    'better',
    'algorithms by name only; time checks by the clock of the turn',
    'crypto.SignJWT',
    'crypto.VerifyJWT',
    'crypto.DecodeJWT',
  ),
  ...rows(
    'better',
    'in a directory of the session with quotas; no way out by names, links or races; failures are codes, not texts',
    'fs.Read',
    'fs.Write',
    'fs.Append',
  ),
  ...rows(
    'better',
    'as fs.Read',
    'fs.Delete',
    'fs.Hash',
    'fs.LineCount',
    'fs.List',
    'fs.Mkdir',
    'fs.Move',
    'fs.Stat',
    'fs.Walk',
    'fs.SanitizeFilename',
  ),
  ...rows('same', '', 'capsule.List', 'capsule.Read'),
  ...rows('declined', 'Read without a version gives the newest', 'capsule.GetLatest'),
  ...rows('better', 'never replaces a version that is there; kept in a storage, where there is one', 'capsule.Add'),
  ...rows('better', 'control tokens are signed, for one session and turn; every turn has the tool', 'aeiou.magic'),
  ...rows('declined', 'envelopes are made by the host', 'aeiou.ComposeEnvelope'),
  ...rows(
    'better',
    'maps with the arguments; tool.tools.List and tool.tools.Help are shorter',
    'meta.ListTools',
    'meta.GetTool',
    'meta.ToolsHelp',
  ),
  ...rows('declined', '`tool.json.Stringify(tool.meta.ListTools())`', 'meta.GetToolSpecificationsJSON'),
  ...rows('declined', '`emit` and `promptuser`', 'io.*'),
  ...rows('better', 'changing takes a policy of context config; a key goes in and never comes out', 'account.*', 'agentmodel.*'),
  ...rows('declined', '`ask` is the way to a model', 'ai.*'),
  ...rows('declined', 'time is `tool.time`; a script sees nothing of the machine', 'os.*'),
  ...rows(
    'declined',
    'runs programs of the machine; give the one that is needed as a tool of your own, or by MCP',
    'shell.*',
    'git.*',
    'gotools.*',
  ),
  ...rows('declined', 'values are JSON already: `tool.json`, `tool.shape.Select`, and writing by `set`', 'tree.*'),
  ...rows('declined', 'an event is a map: `e.payload[0].Kind`', 'ns_event.*'),
  ...rows(
    'declined',
    '`neuroscript check` and `neuroscript fmt`; header lines belong to files, not to values',
    'syntax.*',
    'metadata.*',
  ),
  ...rows('declined', 'a handle is opaque to a script', 'handle.*'),
  ...rows('better', 'needs a grant; what is loaded, runs from the next one on know', 'script.*'),
  ...rows('better', 'a name that means something already is refused', 'ns.*'),
  ...rows('declined', 'forks show in `--trace`', 'debug.*'),
];
