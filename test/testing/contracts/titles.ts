/** The title of a case: one of `titles` that names a requirement before the case, or the name of the case. */
export function titleOf(name: string, titles: readonly string[]): string {
  return titles.find((title) => title.endsWith(`: ${name}`)) ?? name;
}
