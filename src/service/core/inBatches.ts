/**
 * Runs work for many callers at once, one batch at a time: the items that are added while a batch runs are the next one.
 * @returns a function that adds an item and resolves or rejects with the result of its batch
 */
export function runInBatches<Item, Result>(
  work: (items: readonly Item[]) => Promise<Result>,
): (item: Item) => Promise<Result> {
  let last: Promise<unknown> = Promise.resolve();
  let next: { readonly items: Item[]; readonly result: Promise<Result> } | undefined;
  return async (item) => {
    if (next === undefined) {
      const items: Item[] = [];
      const result = last.then(async () => {
        next = undefined;
        return work(items);
      });
      last = result.catch(() => undefined);
      next = { items, result };
    }
    next.items.push(item);
    return next.result;
  };
}
