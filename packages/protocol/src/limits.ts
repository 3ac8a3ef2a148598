/** Everything has a limit, and all of them stand here. Sizes in bytes of UTF-8, times in the unit of the name. */
export const limits = {
  /** Largest `input` or `data` of one message (DLV-12). A setting of the node; this is the default. */
  inputBytesMax: 1_048_576,
  /** Room for the envelope around an input; a frame may be input + envelope. */
  envelopeBytesMax: 65_536,
  nestingMax: 64,
  cardBytesMax: 262_144,
  capabilitiesMax: 256,
  schemaBytesMax: 65_536,
  schemaDepthMax: 32,
  nameLengthMax: 128,
  textLengthMax: 8_192,
  tagsMax: 64,
  /** Topics that one agent may subscribe to. */
  topicsMax: 256,
  labelsMax: 64,
  examplesMax: 100,
  keyLengthMax: 256,
  /** Longest wait that a message may ask for: 366 days. Beyond it is a mistake in the unit. */
  waitMsMax: 31_622_400_000,
  pageMax: 500,
  pageDefault: 100,
  helloTimeoutMs: 10_000,
  pullMax: 100,
  pullWaitMsMax: 60_000,
} as const;

/** Node-wide defaults that clients may want to know. */
export const defaults = {
  port: 8800,
  heartbeatIntervalSec: 15,
  /** Heartbeats that make the ttl (missed → suspect), and those on top that make the grace (→ offline). */
  ttlHeartbeats: 3,
  graceHeartbeats: 2,
  maxConcurrentTasks: 10,
  callTimeoutMs: 30_000,
  ackTimeoutMs: 5_000,
  slowAckTimeoutMs: 30_000,
  completionTimeoutMs: 600_000,
  deadlineMs: 86_400_000,
  resumeSec: 60,
  pingIntervalMs: 30_000,
  topK: 3,
} as const;
