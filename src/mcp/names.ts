/** The name of a server or of its tool as an identifier: `_` replaces every other character, and stands before a digit. */
export function scriptName(name: string): string {
  const plain = name.replace(/[^A-Za-z0-9_]/g, '_').slice(0, 100);
  return /^[A-Za-z_]/.test(plain) ? plain : `_${plain}`;
}
