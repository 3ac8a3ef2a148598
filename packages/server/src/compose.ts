import { limits } from "@agent-reach/protocol";
import { Catalog } from "./catalog/catalog.js";
import { Synonyms } from "./catalog/synonyms.js";
import { readSynonyms } from "./config/synonyms.js";
import { type Config, checkConfig } from "./config.js";
import { connect } from "./connect.js";
import { Webhooks } from "./connectors/webhooks.js";
import { openMemory } from "./engines/memory/index.js";
import { osSystem } from "./engines/os/system.js";
import { openSqlite } from "./engines/sqlite/index.js";
import { Chaos } from "./gateway/chaos.js";
import { chaosRoutes } from "./gateway/chaos-routes.js";
import { Feed } from "./gateway/feed.js";
import { healthRoutes } from "./gateway/health-routes.js";
import { createHttp } from "./gateway/http.js";
import { instanceRoutes } from "./gateway/instance-routes.js";
import { messageRoutes } from "./gateway/message-routes.js";
import { Notices } from "./gateway/notices.js";
import type { Rooms } from "./gateway/rooms.js";
import { Sessions, sayHello } from "./gateway/sessions.js";
import { streamRoutes } from "./gateway/stream-routes.js";
import { viewRoutes } from "./gateway/view-routes.js";
import { Journal } from "./journal/journal.js";
import type { System } from "./ports/system.js";
import { Directory } from "./registry/directory.js";
import { Reaper } from "./registry/reaper.js";
import { Registry } from "./registry/registry.js";
import { Admission } from "./router/admission.js";
import { Calls } from "./router/calls.js";
import { Discoverer } from "./router/discovery.js";
import { Router } from "./router/router.js";
import { MessageShelf } from "./router/shelf.js";
import { Dispatcher } from "./tasks/dispatcher.js";
import { Tasks } from "./tasks/tasks.js";
import { createLog, type Log } from "./telemetry/log.js";
import { createMetrics } from "./telemetry/metrics.js";
import { Wheel } from "./time/wheel.js";

/** A running node. */
export interface Node {
  readonly nodeId: string;
  readonly port: number;
  /** Where agents connect: `ws://host:port/registry`. */
  readonly url: string;
  readonly httpUrl: string;
  /** Takes no new work, and resolves when the calls in flight have ended, or after `timeoutMs`. */
  drain(timeoutMs?: number): Promise<void>;
  /** Closes every connection and the store. Tasks stay on disk. */
  close(): Promise<void>;
}

export interface NodeOptions {
  system?: System;
  log?: Log;
}

const DRAIN_MS = 10_000;
const DRAIN_LOOK_MS = 20;
/** How long peers may take to close their side. */
const CLOSE_MS = 500;

/**
 * Builds the whole house, from the store up, and opens the door when everything is loaded. The only file that sees every
 * floor; `connect` sees the rooms.
 */
export async function startNode(config: Config, options: NodeOptions = {}): Promise<Node> {
  checkConfig(config);
  const system = options.system ?? osSystem();
  const log =
    options.log ??
    createLog({
      level: config.log.level,
      nodeId: config.node.id,
      pretty: config.log.pretty ?? process.stderr.isTTY === true,
    });
  const onError = (error: unknown) => log.error({ err: error }, "unexpected");
  const engine = config.data.engine === "memory" ? await openMemory(system) : await openSqlite(config.data.dir, system);
  try {
    return await build(config, system, log, onError, engine);
  } catch (error) {
    await engine.close();
    throw error;
  }
}

async function build(
  config: Config,
  system: System,
  log: Log,
  onError: (error: unknown) => void,
  engine: Awaited<ReturnType<typeof openSqlite>>,
): Promise<Node> {
  const nodeId = config.node.id;
  const wheel = new Wheel(system);
  const shelf = new MessageShelf(config.journal.messagesMax);
  const journal = new Journal(engine.journal, system, nodeId, config.journal, onError, shelf);
  const registry = new Registry(engine.registry, system, {
    nodeId,
    cardBytes: config.limits.cardBytes,
    ...config.lease,
    ttlSec: config.lease.ttlSec,
    graceSec: config.lease.graceSec,
  });
  const { synonymsFile } = config.catalog;
  const synonyms = new Synonyms(synonymsFile === undefined ? {} : readSynonyms(synonymsFile));
  const catalog = new Catalog(registry.view, synonyms);
  const router = new Router(system, config.routing, config.breaker);
  router.breakers.onChange(({ record: { agentId, instanceId } }, { state, ...change }) =>
    log[state === "open" ? "warn" : "info"]({ agentId, instanceId, ...change }, `breaker ${state}`),
  );
  const admission = new Admission(system, config.limits);
  const dispatcher = new Dispatcher(
    engine.tasks,
    catalog,
    router,
    admission,
    journal,
    wheel,
    system,
    config.delivery,
    onError,
  );
  const parentOf = (messageId: string) => calls.open(messageId) ?? dispatcher.parentOf(messageId);
  const calls = new Calls(
    catalog,
    router,
    admission,
    journal,
    wheel,
    system,
    { ...config.call, ...config.delivery, ...config.limits, ...config.journal },
    (id) => dispatcher.parentOf(id),
  );
  const tasks = new Tasks(
    engine.tasks,
    catalog,
    router,
    journal,
    dispatcher,
    system,
    { ...config.task, ...config.limits },
    parentOf,
    onError,
    admission,
  );
  const reaper = new Reaper(registry, system, wheel, onError);
  reaper.onDoubt = (text) => log.warn(text);
  const feed = new Feed(registry, system);
  const webhooks = new Webhooks(registry, system, {
    allowPrivate: config.webhook.allowPrivate,
    probeIntervalMs: config.webhook.probeIntervalSec * 1000,
    answerTimeoutMs: config.delivery.slowAckTimeoutMs,
    answerBytesMax: config.limits.inputBytes + limits.envelopeBytesMax,
    dataBytesMax: config.limits.inputBytes,
  });
  let draining = false;
  const rooms: Rooms = {
    system,
    settings: {
      nodeId,
      inputBytes: config.limits.inputBytes,
      pageMax: config.limits.pageMax,
      messageBytes: config.limits.inputBytes + limits.envelopeBytesMax,
      ...config.session,
      allowedOrigins: config.server.allowedOrigins,
      allowedHosts: config.server.allowedHosts,
      host: config.server.host,
    },
    registry,
    directory: new Directory(registry, system, config.limits.pageMax),
    feed,
    discoverer: new Discoverer(catalog, router, system),
    calls,
    tasks,
    journal,
    notices: new Notices(engine.tasks, tasks, system, onError, (id) => sessions.mayResume(id)),
    waitingCalls: () => admission.lines(),
    onRoom: (instance) => admission.room(instance),
    parentOf,
    progress: (messageId, instanceId, json) => {
      const run = dispatcher.runOf(messageId);
      if (run === undefined || (instanceId !== undefined && run.record.instanceId !== instanceId)) return;
      journal.progress(run.log, run.offer?.instance, run.attempt, progressOf(json), json.length);
      rooms.notices.progress(run.record, json);
    },
    isDraining: () => draining,
    onError,
    onBroken: (err) => log.debug({ err }, "connection broken"),
  };
  const sessions = new Sessions(rooms);
  sayHello(sessions);
  registry.assertCard = (card) => {
    if (card.transport?.type === "http" && card.transport.endpoint !== undefined)
      webhooks.assertAllowed(card.transport.endpoint);
  };
  connect({ registry, catalog, router, admission, dispatcher, journal, onError });
  rooms.notices.listenTo(dispatcher);

  await journal.start();
  await registry.start(() => feed.start());
  for (const live of registry.view.instances.values()) webhooks.resume(live);
  await rooms.notices.start();
  await dispatcher.start();
  tasks.start();
  reaper.start();

  const app = createHttp(rooms);
  const metrics = createMetrics({
    registry,
    calls,
    tasks,
    dispatcher,
    breakers: router.breakers,
    sessions: () => sessions.count,
    broken: () => sessions.broken,
    durable: config.data.engine !== "memory",
    admission,
    doubts: () => reaper.doubt !== undefined,
  });
  healthRoutes(
    app,
    metrics,
    () => draining,
    () => reaper.doubt,
  );
  instanceRoutes(app, rooms, webhooks);
  messageRoutes(app, rooms);
  viewRoutes(app, rooms);
  streamRoutes(app, rooms);
  chaosRoutes(app, config.chaos.enabled ? new Chaos(registry, journal, system) : undefined);
  await app.ready();
  app.server.on("upgrade", (request, socket, head) => sessions.upgrade(request, socket, head));
  await app.listen({ host: config.server.host, port: config.server.port });
  const address = app.server.address();
  const port = typeof address === "object" && address !== null ? address.port : config.server.port;
  const host = config.server.host.includes(":") ? `[${config.server.host}]` : config.server.host;
  log.info({ host: config.server.host, port, role: config.node.role, engine: config.data.engine }, "ready");

  let closing: Promise<void> | undefined;
  return {
    nodeId,
    port,
    url: `ws://${host}:${port}/registry`,
    httpUrl: `http://${host}:${port}`,
    drain: async (timeoutMs = DRAIN_MS) => {
      draining = true;
      const until = system.monotonic() + timeoutMs;
      while (calls.counts.inFlight > 0 && system.monotonic() < until)
        await new Promise<void>((done) => system.after(DRAIN_LOOK_MS, done));
    },
    close: () => {
      closing ??= (async () => {
        draining = true;
        calls.stop();
        dispatcher.stop();
        sessions.close();
        const force = system.after(CLOSE_MS, () => {
          sessions.terminate();
          app.server.closeAllConnections();
        });
        await app.close();
        force();
        reaper.stop();
        webhooks.stop();
        tasks.stop();
        await journal.stop();
        registry.stop();
        wheel.stop();
        await engine.close();
        log.info("stopped");
      })();
      return closing;
    },
  };
}

/** What of a progress report is kept as an event. */
function progressOf(json: string): object {
  const { percent, message, data } = JSON.parse(json) as { percent?: number; message?: string; data?: unknown };
  return {
    ...(percent !== undefined && { percent }),
    ...(message !== undefined && { message }),
    ...(data !== undefined && { data }),
  };
}
