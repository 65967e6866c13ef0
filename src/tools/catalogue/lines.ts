/** A text on one line, without control characters: a description must not look like a part of the catalogue. */
export function oneLine(text: string): string {
  return text.replace(/\s+/gu, ' ').replace(/\p{C}/gu, '').trim();
}

/** The first sentence of a text, on one line. */
export function firstSentence(text: string): string {
  const line = oneLine(text);
  return /^.*?[.!?](?=\s+\p{Lu}|$)/u.exec(line)?.[0] ?? line;
}

/** Made at its first use, because that takes 20 ms. */
let segmenter: Intl.Segmenter | undefined;

export function sentences(text: string): readonly string[] {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'sentence' });
  return [...segmenter.segment(oneLine(text))].map(({ segment }) => segment.trim()).filter((sentence) => sentence !== '');
}
