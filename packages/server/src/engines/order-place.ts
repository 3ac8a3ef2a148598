/** Where tasks stand that have no number: behind all that have one. */
export const UNNUMBERED = Number.MAX_SAFE_INTEGER;

/** Where a task stands among those with its orderKey; equals stand as they were inserted (TS5). */
export function placeOf({ request }: { readonly request: { readonly sequence?: number } }): number {
  return request.sequence ?? UNNUMBERED;
}
