/**
 * Time, ids and chance come from this one object, and from nowhere else.
 *
 * S1  `now` is wall time for display and for what outlives the process; it may jump either way.
 * S2  `monotonic` never goes back and does not follow the wall clock; every duration is measured on it.
 * S3  `after` fires once, not before `delayMs` of monotonic time have passed, whatever the delay's size (also above 2^31 ms).
 * S4  `newId` is a UUID of version 7: ids made later on one node sort later.
 */
export interface System {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds since some fixed moment. Fractions allowed. */
  monotonic(): number;
  /** Calls `run` once after `delayMs`; the returned function takes it back. Does not keep the process alive. */
  after(delayMs: number, run: () => void): () => void;
  newId(): string;
  /** A random secret of 32 hex digits or more, from a cryptographic source. */
  newSecret(): string;
  /** Uniform in [0, 1). */
  random(): number;
}
