/** How much each fact counts when candidates are compared. Only their proportions matter. */
export interface Weights {
  latency: number;
  success: number;
  cost: number;
  load: number;
}

export const nodeRoles = ["standalone"] as const;
export const engines = ["sqlite", "memory"] as const;
export const logLevels = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;

/** Everything that a node can be told. Each leaf is one row of `settings`, where it is documented. */
export interface Config {
  server: {
    host: string;
    port: number;
    allowedOrigins: string[];
    allowedHosts: string[];
    insecure: boolean;
    requestTimeoutMs: number;
  };
  node: { id: string; role: (typeof nodeRoles)[number] };
  data: { dir: string; engine: (typeof engines)[number] };
  lease: {
    heartbeatIntervalSec: number;
    ttlHeartbeats: number;
    graceHeartbeats: number;
    /** Given explicitly, it overrides the multiple of heartbeats. So does `graceSec`. */
    ttlSec?: number;
    graceSec?: number;
    purgeAfterSec: number;
    flapRestSec: number;
    massExpiryHoldSec: number;
  };
  session: {
    resumeSec: number;
    pingIntervalMs: number;
    missedPongsMax: number;
    helloTimeoutMs: number;
    slowReaderBytes: number;
    watchesMax: number;
  };
  limits: {
    inputBytes: number;
    cardBytes: number;
    queuedCallsMax: number;
    inFlightCallsMax: number;
    inFlightCallsMin: number;
    messagesPerSecPerCaller: number;
    messagesPerSecPerCapability: number;
    messagesPerSecPerTenant: number;
    pageMax: number;
    tasksPerRequestMax: number;
  };
  call: { timeoutMs: number; rememberMs: number };
  delivery: {
    ackTimeoutMs: number;
    slowAckTimeoutMs: number;
    /** One wait before each further try; as many tries follow the first as there are waits. */
    backoffMs: number[];
    lossesMax: number;
    lostGraceMs: number;
    gapTimeoutMs: number;
  };
  task: { completionTimeoutMs: number; deadlineMs: number; keepSec: number };
  journal: { messagesMax: number; keepSec: number };
  routing: { weights: Weights; healthMin: number };
  breaker: { enabled: boolean };
  catalog: {
    synonymsFile?: string;
    acceptAt?: number;
    tellApartAt: number;
    /** Off while `baseUrl` and `model` are not set. */
    fine: {
      baseUrl?: string;
      model?: string;
      key?: string;
      dimensions?: number;
      queryPrefix: string;
      passagePrefix: string;
      languages: string[];
      batchSize: number;
      requestsMax: number;
      timeoutMs: number;
      waitMs: number;
      cacheRowsMax: number;
    };
    /** Likewise. */
    llm: { baseUrl?: string; model?: string; key?: string; timeoutMs: number; cacheMax: number };
  };
  webhook: {
    allowPrivate: boolean;
    connectTimeoutMs: number;
    firstByteTimeoutMs: number;
    probeIntervalSec: number;
  };
  chaos: { enabled: boolean };
  log: { level: (typeof logLevels)[number]; pretty?: boolean };
}

type Leaves<T, Prefix extends string = ""> = {
  [K in keyof T & string]-?: NonNullable<T[K]> extends readonly unknown[]
    ? `${Prefix}${K}`
    : NonNullable<T[K]> extends object
      ? Leaves<NonNullable<T[K]>, `${Prefix}${K}.`>
      : `${Prefix}${K}`;
}[keyof T & string];

/** The dotted path of one setting, like `lease.ttlSec`. */
export type SettingPath = Leaves<Config>;
