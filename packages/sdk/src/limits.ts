/** The SDK's own limits and defaults. Times in the unit of the name, sizes in bytes or characters as they say. */
export const sdkLimits = {
  /** One dial: opening the socket and the answer to `hello`. */
  connectTimeoutMs: 10_000,
  reconnectMinMs: 100,
  /** A fleet whose node was away for long is back within 10 s of its return: the last wait, and the way (LIVE-9). */
  reconnectMaxMs: 8_000,
  /** A session that lived this long was good: the next backoff begins anew. */
  stableMs: 5_000,
  /** Silence after which the SDK asks with a `ping`, and how long it then waits for any word. */
  idleProbeMs: 60_000,
  probeTimeoutMs: 10_000,
  /** A look that comes so much too late, by either clock, comes after a sleep of the process or its host. */
  sleptMs: 10_000,
  /** Discover, list, watch and the like: how long one may take, reconnects included. */
  requestTimeoutMs: 30_000,
  /** How long the node's own answer to an expired call may be late before the SDK answers itself. */
  callGraceMs: 1_000,
  /** Requests that wait for an answer on one connection. */
  pendingMax: 100_000,
  /** A handler that is done within this time answers at once; after it, the message is acknowledged first. */
  ackAfterMs: 50,
  /** Results which the node has not yet confirmed; beyond it new work is refused. */
  outboxMax: 10_000,
  /** After so many answers the agent asks for a confirmation; under light load after the time below. */
  confirmEvery: 256,
  confirmAfterMs: 1_000,
  /** How often a `complete` that was refused for the moment is tried again. */
  completeRetryMs: 1_000,
  /** What the receiver's dedupe remembers of successes: entries, characters of results, and age. */
  dedupeMax: 10_000,
  dedupeCharsMax: 64_000_000,
  dedupeMs: 86_400_000,
  drainTimeoutMs: 10_000,
  goodbyeTimeoutMs: 2_000,
  /** Progress is dropped, results never, while so much waits in the socket. */
  progressBufferBytesMax: 4_194_304,
  /** How long a submitter counts on the node's update before it asks. */
  taskUpdateMs: 5_000,
  /** How often the node is asked about a group that somebody waits for, besides telling by itself. */
  groupLookMs: 10_000,
  /** Tasks whose update is awaited on one connection. */
  followedMax: 100_000,
  /** One wait for a task's result; longer waits are made of several. */
  taskWaitMs: 30_000,
} as const;
