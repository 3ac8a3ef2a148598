/**
 * A UUID cut short for people. The end, since ids begin with the time: those of one minute have the same beginning.
 */
export const shortId = (id: string): string => id.slice(-8);
