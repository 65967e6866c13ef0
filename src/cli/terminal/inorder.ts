/**
 * Works on up to `width` items of a stream at once and hands the results on in the order of the items, each as soon as it
 * and all before it are there. Reads no further ahead than `width`, so a slow `sink` holds the source back. Rejects with
 * the first failure of the source, `work` or `sink`, and takes nothing more after it.
 */
export async function inOrder<Item, Result>(
  source: AsyncIterable<Item>,
  width: number,
  work: (item: Item) => Promise<Result>,
  sink: (result: Result) => Promise<void>,
): Promise<void> {
  let open = 0;
  let failure: { readonly error: unknown } | null = null;
  let wake: () => void = () => {};
  let tail: Promise<void> = Promise.resolve();
  for await (const item of source) {
    open += 1;
    const result = work(item);
    tail = Promise.all([result, tail])
      .then(([done]) => (failure === null ? sink(done) : undefined))
      .catch((error: unknown) => {
        failure ??= { error };
      })
      .finally(() => {
        open -= 1;
        wake();
      });
    while (open >= width && failure === null) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    if (failure !== null) break;
  }
  await tail;
  if (failure !== null) throw (failure as { readonly error: unknown }).error;
}
