/** Words that are no names, as plain text: for those who read names without a lexer. */
const words =
  'acos and as asin ask atan break call clear clear_error command continue cos do each else emit endcommand endfor endfunc endif ' +
  'endon endwhile error eval event fail false for func fuzzy if in into last len ln log means must mustbe named needs nil no not on ' +
  'optional or promptuser return returns set sin some tan timedate tool true typeof while whisper with ' +
  'null NULL None undefined True False';

/** All keywords (language.md 1.5), and the words that ruling 12 takes out of the names. */
export const RESERVED: ReadonlySet<string> = new Set(words.split(' '));
