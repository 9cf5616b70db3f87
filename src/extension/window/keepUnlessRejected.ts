/**
 * Returns a function that calls `create` once and then returns its promise again, unless that was rejected: then the next
 * caller tries again. So a failure doesn't outlive its cause.
 */
export function keepUnlessRejected<T>(create: () => Promise<T>): () => Promise<T> {
  let kept: Promise<T> | undefined;
  return () => {
    if (kept !== undefined) return kept;
    const created = create();
    kept = created;
    created.catch(() => {
      if (kept === created) kept = undefined;
    });
    return created;
  };
}
