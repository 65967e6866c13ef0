import type { Shared } from './share.ts';

interface Example extends Shared {
  readonly name: string;
}

/** The programs of the list, each with the tools that it calls. */
export const EXAMPLES: readonly Example[] = [
  {
    name: 'Tools and errors',
    source: `command
  for each item in ["pen", "book", "gold"]
    on error do
      emit item + ": " + system_error_message
      clear_error
    endon
    emit item + " costs " + tool.shop.Price(item)
  endfor
endcommand
`,
    tools: JSON.stringify({ 'tool.shop.Price': { pen: 3, book: 12 } }, null, 2),
  },
  {
    name: 'Procedures and maps',
    source: `func count(needs words returns counts) means
  set counts = {}
  for each word in words
    if is_nil(counts[word])
      set counts[word] = 0
    endif
    set counts[word] = counts[word] + 1
  endfor
  return counts
endfunc

func main() means
  set counts = count(tool.str.SplitWords("the cat and the hat and the bat"))
  for each word, number in counts
    emit word + ": " + number
  endfor
  return counts
endfunc
`,
    tools: '',
  },
  {
    name: 'Events',
    source: `on event "order" as e do
  emit "ordered " + e["Payload"]["item"]
endon

func main() means
  emit "no event came"
endfunc
`,
    tools: '',
  },
  {
    name: 'A quota',
    source: `command
  set numbers = []
  while true
    set numbers = numbers + [len(numbers)]
  endwhile
endcommand
`,
    tools: '',
  },
  {
    name: 'Patterns and JSON',
    source: `command
  set orders = tool.json.Parse('[{"id": "a-1", "sum": 3}, {"id": "b-2", "sum": 40}]')
  for each order in orders
    if tool.regex.Match("^[a-z]-[0-9]+$", order["id"])
      emit \`\`\`order {{order["id"]}}: {{order["sum"]}}\`\`\`
    endif
  endfor
endcommand
`,
    tools: '',
  },
];
