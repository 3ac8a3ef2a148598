import { defaults, limits } from "@agent-reach/protocol";
import { engines, logLevels, nodeRoles, type SettingPath } from "./shape.js";

/** What a value may be. A duration is a number in the unit of the setting's name, or text like "30s"; bytes likewise. */
export type SettingType =
  | "string"
  | "boolean"
  | "integer"
  | "number"
  | "duration"
  | "durations"
  | "bytes"
  | "strings"
  | "choice";

export type Unit = "ms" | "sec" | "bytes";

export type SettingValue = string | number | boolean | string[] | number[];

export interface Setting {
  readonly path: SettingPath;
  readonly type: SettingType;
  readonly unit?: Unit;
  /** Absent: not set unless somebody sets it; `doc` says what holds then. */
  readonly default?: SettingValue;
  readonly min?: number;
  readonly max?: number;
  /** Outside these bounds a bare number is probably in another unit: said as a warning, not refused. */
  readonly plausible?: readonly [number, number];
  readonly choices?: readonly string[];
  /** Shown to nobody: not by `config show`, in no message and no log. */
  readonly secret?: boolean;
  /** Environment variable. */
  readonly env: string;
  /** Command line flag, with its dashes. */
  readonly flag: string;
  readonly doc: string;
}

type Row = Omit<Setting, "path" | "env" | "flag">;

const duration = (unit: "ms" | "sec", value: number | undefined, doc: string, more: Partial<Row> = {}): Row => ({
  type: "duration",
  unit,
  ...(value === undefined ? {} : { default: value }),
  min: unit === "ms" ? 1 : 0.05,
  max: unit === "ms" ? limits.waitMsMax : limits.waitMsMax / 1000,
  // A wait of under 100 ms is nearly always seconds written into a field of milliseconds.
  ...(unit === "ms" ? { plausible: [100, limits.waitMsMax] as const } : {}),
  doc,
  ...more,
});
const whole = (value: number, min: number, max: number, doc: string): Row => ({
  type: "integer",
  default: value,
  min,
  max,
  doc,
});
const bytes = (value: number, min: number, max: number, doc: string): Row => ({
  type: "bytes",
  unit: "bytes",
  default: value,
  min,
  max,
  doc,
});
const rate = (doc: string): Row => ({
  type: "number",
  default: 0,
  min: 0,
  max: 1_000_000,
  doc: `${doc} A second's worth may come at once. 0: as many as they like.`,
});
const weight = (value: number, doc: string): Row => ({ type: "number", default: value, min: 0, max: 1000, doc });
const bearerToken: Row = {
  type: "string",
  secret: true,
  doc: "Sent there as bearer token. On a command line others can read it; the environment or a file is the better place. Not set: none is sent.",
};

// A type that names every path: a setting that is in Config and not here, or the other way round, does not compile.
const rows: Record<SettingPath, Row> = {
  "server.host": {
    type: "string",
    default: "127.0.0.1",
    doc: "Address to listen on. One that others can reach needs `server.insecure`, since this release knows no authentication.",
  },
  "server.port": whole(defaults.port, 0, 65_535, "Port of the WebSocket and HTTP door. 0 takes a free one."),
  "server.allowedOrigins": {
    type: "strings",
    default: [],
    doc: "Origins of web pages that may connect, like `https://shop.example`. Loopback pages always may.",
  },
  "server.allowedHosts": {
    type: "strings",
    default: [],
    doc: "Further names in a `Host` header under which the node answers, like `reach.example:8800`.",
  },
  "server.insecure": {
    type: "boolean",
    default: false,
    doc: "Listen on an address that others can reach although nobody is asked who they are.",
  },
  "server.requestTimeoutMs": duration(
    "ms",
    30_000,
    "How long a request over HTTP may take to come in whole. For its head `session.helloTimeoutMs` holds, where that is less.",
    { max: 3_600_000 },
  ),
  "node.id": { type: "string", default: "node-1", doc: "Name of this node in answers, events and logs." },
  "node.role": {
    type: "choice",
    choices: nodeRoles,
    default: "standalone",
    doc: "`standalone`: one node with its own store.",
  },
  "data.dir": {
    type: "string",
    default: ".agent-reach",
    doc: "Directory of the store; made if it is missing. One node at a time may use it.",
  },
  "data.engine": {
    type: "choice",
    choices: engines,
    default: "sqlite",
    doc: "`sqlite` keeps everything over restarts; `memory` forgets everything, tasks too, when the node stops.",
  },
  "lease.heartbeatIntervalSec": duration(
    "sec",
    defaults.heartbeatIntervalSec,
    "How often an agent says that it is alive, unless its card says otherwise.",
    { min: 0.05, max: 3600, plausible: [1, 300] },
  ),
  "lease.ttlHeartbeats": {
    type: "number",
    default: defaults.ttlHeartbeats,
    min: 1,
    max: 1000,
    doc: "Heartbeats missed until an instance is `suspect` and gets no new work.",
  },
  "lease.graceHeartbeats": {
    type: "number",
    default: defaults.graceHeartbeats,
    min: 0,
    max: 1000,
    doc: "Further heartbeats missed until it is `offline` and its work goes to others.",
  },
  "lease.ttlSec": duration(
    "sec",
    undefined,
    "Silence until `suspect`. Not set: `lease.ttlHeartbeats` times the interval of the card.",
    { max: 86_400, plausible: [1, 3600] },
  ),
  "lease.graceSec": duration(
    "sec",
    undefined,
    "Further silence, after the ttl, until `offline`. Not set: `lease.graceHeartbeats` times the interval of the card.",
    { min: 0, max: 86_400, plausible: [0, 3600] },
  ),
  "lease.purgeAfterSec": duration("sec", 86_400, "How long an agent that is offline stays in the directory."),
  "lease.flapRestSec": duration(
    "sec",
    30,
    "How long an instance that lost its lease more than three times in two minutes gets no new work. 0: it does not rest.",
    { min: 0, max: 3600, plausible: [0, 600] },
  ),
  "lease.massExpiryHoldSec": duration(
    "sec",
    300,
    "How long nobody is made offline when most of at least five instances fall silent at once, since then it is more likely the node that does not hear. 0: they are made offline as usual.",
    { min: 0, max: 86_400, plausible: [0, 3600] },
  ),
  "session.resumeSec": duration(
    "sec",
    defaults.resumeSec,
    "How long watches and addresses of a lost connection wait for it to come back.",
    { min: 0, plausible: [0, 86_400] },
  ),
  "session.pingIntervalMs": duration(
    "ms",
    defaults.pingIntervalMs,
    "How often a silent connection is asked for a sign of life.",
  ),
  "session.missedPongsMax": whole(3, 1, 1000, "Unanswered pings until the connection is closed with 4008."),
  "session.helloTimeoutMs": duration(
    "ms",
    limits.helloTimeoutMs,
    "How long a new connection may take to say `hello`, and a request over HTTP for its head.",
  ),
  "session.slowReaderBytes": bytes(
    33_554_432,
    65_536,
    2_147_483_648,
    "A client that is this far behind in reading is closed with 4009.",
  ),
  "session.watchesMax": whole(
    100,
    1,
    100_000,
    "Watches that one connection may have; the next is refused. One watch without a filter hears of everything.",
  ),
  "limits.inputBytes": bytes(limits.inputBytesMax, 1024, 268_435_456, "Largest `input` or `data` of one message."),
  "limits.cardBytes": bytes(limits.cardBytesMax, 1024, 16_777_216, "Largest card."),
  "limits.queuedCallsMax": whole(1000, 0, 1_000_000, "Calls that may wait for a free instance, per capability."),
  "limits.inFlightCallsMax": whole(
    256,
    1,
    1_000_000,
    "Calls of one capability that one caller may have in flight, waiting ones included; the next is `BUSY` at once.",
  ),
  "limits.inFlightCallsMin": whole(
    20,
    1,
    1_000_000,
    "How far that shrinks while the capability is slow. Not under `limits.inFlightCallsMax`: it never does.",
  ),
  "limits.messagesPerSecPerCaller": rate("Calls and tasks that one caller may send in a second."),
  "limits.messagesPerSecPerCapability": rate("Calls and tasks that one capability may get in a second."),
  "limits.messagesPerSecPerTenant": rate("Calls and tasks that one tenant may send in a second."),
  "limits.pageMax": whole(limits.pageMax, 1, limits.pageMax, "Largest page of a list."),
  "limits.tasksPerRequestMax": whole(
    1000,
    1,
    100_000,
    "Tasks that one `submit.many` or `publish` may make. They are written in one commit, during which the node does nothing else.",
  ),
  "call.timeoutMs": duration("ms", defaults.callTimeoutMs, "How long a call may take that names no `timeoutMs`."),
  "call.rememberMs": duration("ms", 60_000, "How long the answer of a call is kept for a caller that asks again.", {
    min: 0,
    plausible: [0, limits.waitMsMax],
  }),
  "delivery.ackTimeoutMs": duration(
    "ms",
    defaults.ackTimeoutMs,
    "How long an agent may take to acknowledge a delivery.",
  ),
  "delivery.slowAckTimeoutMs": duration(
    "ms",
    defaults.slowAckTimeoutMs,
    "The same for agents that are reached over HTTP or pull.",
  ),
  "delivery.backoffMs": {
    type: "durations",
    unit: "ms",
    default: [1000, 3000, 9000],
    min: 0,
    max: limits.waitMsMax,
    plausible: [100, limits.waitMsMax],
    doc: "Waits before each further try of an unacknowledged delivery; after the last one the task is a dead letter.",
  },
  "delivery.lossesMax": whole(5, 0, 1000, "How often a task may lose its instance until it is a dead letter."),
  "delivery.lostGraceMs": duration(
    "ms",
    2000,
    "How long work in hand waits for a lost connection to come back until it goes to another instance.",
    { min: 0, plausible: [0, limits.waitMsMax] },
  ),
  "delivery.gapTimeoutMs": duration(
    "ms",
    30_000,
    "How long a task of an order waits, from its submission, for missing `sequence` numbers before it goes without them.",
    { min: 0, plausible: [0, limits.waitMsMax] },
  ),
  "task.completionTimeoutMs": duration(
    "ms",
    defaults.completionTimeoutMs,
    "How long a delivered task may take until it counts as stalled.",
  ),
  "task.deadlineMs": duration("ms", defaults.deadlineMs, "How long a task may wait in all until it is a dead letter."),
  "task.keepSec": duration("sec", 86_400, "How long a settled task is kept."),
  "journal.messagesMax": whole(50_000, 0, 10_000_000, "Messages whose decisions and events are kept in memory."),
  "journal.keepSec": duration("sec", 604_800, "How long the events of tasks and failures are kept on disk."),
  "routing.weights.latency": weight(0.5, "How much a short answer time counts."),
  "routing.weights.success": weight(0.3, "How much a high success rate counts."),
  "routing.weights.cost": weight(0.1, "How much a low cost tier counts."),
  "routing.weights.load": weight(0.1, "How much free room counts."),
  "routing.healthMin": { type: "number", default: 0.8, min: 0, max: 1, doc: "Instances with less health get no work." },
  "breaker.enabled": {
    type: "boolean",
    default: true,
    doc: "Send nothing to an instance for a capability that failed there over half of the time lately, except single probes.",
  },
  "catalog.synonymsFile": {
    type: "string",
    doc: "YAML file of what people call capabilities and tags, read anew whenever it is saved. Not set: none.",
  },
  "catalog.acceptAt": {
    type: "number",
    min: 0,
    max: 1,
    doc: "Least fit of a request in words, below which the catalog says that nobody serves it. Not set: learnt from the cards.",
  },
  "catalog.tellApartAt": {
    type: "number",
    min: 0.5,
    max: 1,
    default: 0.6,
    doc: "Least chance of the first capability against the second, below which a request in words is ambiguous.",
  },
  "catalog.fine.baseUrl": {
    type: "string",
    doc: "OpenAI-compatible server of embeddings, like `https://api.openai.com/v1`, for a second and better look at what a request in words may mean. It is sent the request and what the cards say. Not set: no fine stage.",
  },
  "catalog.fine.model": { type: "string", doc: "The model's name there. Set together with `catalog.fine.baseUrl`." },
  "catalog.fine.key": bearerToken,
  "catalog.fine.dimensions": {
    type: "integer",
    min: 1,
    max: 8_192,
    doc: "Length of the vectors, for models that can give shorter ones. Not set: what the model gives.",
  },
  "catalog.fine.queryPrefix": {
    type: "string",
    default: "",
    doc: "Put before a request, for models that were trained so, like `query: `.",
  },
  "catalog.fine.passagePrefix": {
    type: "string",
    default: "",
    doc: "Put before what a card says, for models that were trained so, like `passage: `.",
  },
  "catalog.fine.languages": {
    type: "strings",
    default: ["*"],
    doc: "Languages the model is for, like `en`; it is not asked about others. `*`: any. Whether it tells English and Chinese sentences apart is tried out at the start in any case.",
  },
  "catalog.fine.batchSize": whole(16, 1, 512, "Texts of cards in one request to the server."),
  "catalog.fine.requestsMax": whole(3, 1, 64, "Requests to the server at once."),
  "catalog.fine.timeoutMs": duration("ms", 30_000, "How long a batch of cards may take.", { max: 3_600_000 }),
  "catalog.fine.waitMs": duration(
    "ms",
    1000,
    "How long a request waits for its own vector, until it is ranked without the fine stage.",
    { max: 60_000 },
  ),
  "catalog.fine.cacheRowsMax": whole(
    100_000,
    0,
    10_000_000,
    "Vectors that are kept in `embeddings.db` in `data.dir`, so that a start does not embed every card anew. 0: none.",
  ),
  "catalog.llm.baseUrl": {
    type: "string",
    doc: "OpenAI-compatible server of a language model, like `https://api.openai.com/v1`, which chooses among the nearest capabilities where a request in words fits none well enough. It is sent the request and what the cards say. Not set: no model is asked.",
  },
  "catalog.llm.model": { type: "string", doc: "The model's name there. Set together with `catalog.llm.baseUrl`." },
  "catalog.llm.key": bearerToken,
  "catalog.llm.timeoutMs": duration(
    "ms",
    2000,
    "How long the model may take to choose, until the request is served as without it.",
    { max: 600_000 },
  ),
  "catalog.llm.cacheMax": whole(10_000, 0, 1_000_000, "Choices of the model that are remembered. 0: none."),
  "webhook.allowPrivate": {
    type: "boolean",
    doc: "Whether webhook agents may live at loopback and private addresses. Not set: only while the node itself listens on loopback.",
  },
  "webhook.connectTimeoutMs": duration(
    "ms",
    500,
    "How long a connection to an endpoint may take, TLS included, until the message goes elsewhere as surely not executed. Looked at twice a second, so half a second more at most.",
    { max: 3_600_000 },
  ),
  "webhook.firstByteTimeoutMs": duration(
    "ms",
    1000,
    "How long an endpoint may then take for the first byte of its answer, a 202 at least, until the outcome is unknown. Not for capabilities whose card has a longer `timeoutHintMs`: they work before they answer. Looked at twice a second. 0: only the time for the whole answer counts.",
    { min: 0, max: 3_600_000, plausible: [0, 3_600_000] },
  ),
  "webhook.probeIntervalSec": duration("sec", 15, "How often webhook agents are probed.", {
    max: 3600,
    plausible: [1, 300],
  }),
  "chaos.enabled": {
    type: "boolean",
    default: false,
    doc: "Whether faults may be asked for (`agent-reach chaos`), to test a deployment. Never in production.",
  },
  "log.level": { type: "choice", choices: logLevels, default: "info", doc: "Least severity that is logged." },
  "log.pretty": {
    type: "boolean",
    doc: "Log lines for people instead of JSON. Not set: when the log goes to a terminal.",
  },
};

/** The few settings that everyone types have a short flag; all others are spelled like their path. */
const shortFlags: Partial<Record<SettingPath, string>> = {
  "server.host": "--host",
  "server.port": "--port",
  "server.insecure": "--insecure",
  "server.allowedOrigins": "--allowed-origins",
  "server.allowedHosts": "--allowed-hosts",
  "data.dir": "--data",
  "data.engine": "--engine",
  "chaos.enabled": "--chaos",
};

const words = (path: string): string[] =>
  path
    .replace(/([a-z0-9])([A-Z])/g, "$1.$2")
    .toLowerCase()
    .split(".");

/** The one table: file keys, environment, flags, documentation and checks all come from here. */
export const settings: readonly Setting[] = (Object.entries(rows) as [SettingPath, Row][]).map(([path, row]) => ({
  path,
  ...row,
  env: `AGENT_REACH_${words(path).join("_").toUpperCase()}`,
  flag: shortFlags[path] ?? `--${words(path).join("-")}`,
}));

export const settingByPath: ReadonlyMap<string, Setting> = new Map(settings.map((setting) => [setting.path, setting]));
