/** What a link holds: the program and its tools. */
export interface Shared {
  readonly source: string;
  readonly tools: string;
}

/** Longest text that a link may unpack to. */
const MAX_TEXT = 2_000_000;

/** The fragment of a link: the texts, compressed. A fragment never leaves the browser. */
export async function toFragment(shared: Shared): Promise<string> {
  const packed = new Blob([JSON.stringify(shared)]).stream().pipeThrough(new CompressionStream('deflate-raw'));
  const bytes = new Uint8Array(await new Response(packed).arrayBuffer());
  return `#1.${btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')}`;
}

/** Reads a fragment; null for none, or one of another kind. Throws an `Error` for a broken one. */
export async function fromFragment(fragment: string): Promise<Shared | null> {
  if (!fragment.startsWith('#1.')) return null;
  const binary = atob(fragment.slice(3).replaceAll('-', '+').replaceAll('_', '/'));
  const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
  const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw')).getReader();
  const decoder = new TextDecoder();
  let text = '';
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    text += decoder.decode(read.value, { stream: true });
    if (text.length > MAX_TEXT) throw new Error('the link holds too much text');
  }
  const value: unknown = JSON.parse(text);
  if (typeof value !== 'object' || value === null || !('source' in value) || !('tools' in value))
    throw new Error('the link is broken');
  const { source, tools } = value;
  if (typeof source !== 'string' || typeof tools !== 'string') throw new Error('the link is broken');
  return { source, tools };
}
