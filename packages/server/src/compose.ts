import { limits } from "@agent-reach/protocol";
import { type Config, checkConfig } from "./config.js";
import { Webhooks } from "./connectors/webhooks.js";
import type { Engine } from "./engines/engine.js";
import { openMemory } from "./engines/memory/index.js";
import { osSystem } from "./engines/os/system.js";
import { openSqlite } from "./engines/sqlite/index.js";
import { Chaos } from "./gateway/chaos.js";
import { chaosRoutes } from "./gateway/chaos-routes.js";
import { healthRoutes } from "./gateway/health-routes.js";
import { createHttp } from "./gateway/http.js";
import { instanceRoutes } from "./gateway/instance-routes.js";
import { messageRoutes } from "./gateway/message-routes.js";
import { streamRoutes } from "./gateway/stream-routes.js";
import { Upgrades } from "./gateway/upgrades.js";
import { viewRoutes } from "./gateway/view-routes.js";
import { House } from "./house.js";
import type { System } from "./ports/system.js";
import { openReaders } from "./readers.js";
import { followSynonyms } from "./synonyms.js";
import { cardLog } from "./telemetry/card-log.js";
import { createLog, type Log } from "./telemetry/log.js";
import { createMetrics } from "./telemetry/metrics.js";

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

/** How long peers may take to close their side. */
const CLOSE_MS = 500;

/**
 * Opens the store, builds the house on it, and opens the doors when everything is loaded. It sees the doors and the engines;
 * `house` sees every floor, and `connect` the rooms.
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
  engine: Engine,
): Promise<Node> {
  const readers = await openReaders(config, system, {
    warn: (text) => log.warn(text),
    info: (text) => log.info(text),
  });
  const house = new House(config, system, engine, onError, (err) => log.debug({ err }, "connection broken"), readers);
  const { registry, catalog, router, calls, tasks, dispatcher, admission, journal, reaper, sessions, rooms } = house;
  const { synonymsFile } = config.catalog;
  const synonyms = synonymsFile === undefined ? undefined : followSynonyms(synonymsFile, catalog, system, log);
  router.breakers.onChange(({ record: { agentId, instanceId } }, { state, ...change }) =>
    log[state === "open" ? "warn" : "info"]({ agentId, instanceId, ...change }, `breaker ${state}`),
  );
  reaper.onDoubt = (text) => log.warn(text);
  catalog.onWarnings(cardLog(log));
  const webhooks = new Webhooks(registry, system, {
    allowPrivate: config.webhook.allowPrivate,
    probeIntervalMs: config.webhook.probeIntervalSec * 1000,
    connectTimeoutMs: config.webhook.connectTimeoutMs,
    firstByteTimeoutMs: config.webhook.firstByteTimeoutMs,
    answerBytesMax: config.limits.inputBytes + limits.envelopeBytesMax,
    dataBytesMax: config.limits.inputBytes,
  });
  registry.assertCard = (card) => {
    if (card.transport?.type === "http" && card.transport.endpoint !== undefined)
      webhooks.assertAllowed(card.transport.endpoint);
  };
  await house.start(() => {
    for (const live of registry.view.instances.values()) webhooks.resume(live);
  });

  const app = createHttp(rooms);
  const metrics = createMetrics({
    registry,
    catalog,
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
    () => house.isDraining,
    () => reaper.doubt,
  );
  instanceRoutes(app, rooms, webhooks);
  messageRoutes(app, rooms);
  viewRoutes(app, rooms);
  streamRoutes(app, rooms);
  chaosRoutes(app, config.chaos.enabled ? new Chaos(registry, journal, system) : undefined);
  const upgrades = new Upgrades(rooms.settings, sessions);
  await app.ready();
  app.server.on("upgrade", (request, socket, head) => upgrades.upgrade(request, socket, head));
  await app.listen({ host: config.server.host, port: config.server.port });
  const address = app.server.address();
  const port = typeof address === "object" && address !== null ? address.port : config.server.port;
  const host = config.server.host.includes(":") ? `[${config.server.host}]` : config.server.host;
  log.info({ host: config.server.host, port, role: config.node.role, engine: config.data.engine }, "ready");

  let closing: Promise<void> | undefined;
  return {
    nodeId: config.node.id,
    port,
    url: `ws://${host}:${port}/registry`,
    httpUrl: `http://${host}:${port}`,
    drain: (timeoutMs) => house.drain(timeoutMs),
    close: () => {
      closing ??= (async () => {
        house.leave();
        const force = system.after(CLOSE_MS, () => {
          sessions.terminate();
          app.server.closeAllConnections();
        });
        await app.close();
        force();
        webhooks.stop();
        synonyms?.stop();
        await house.stop();
        readers.close();
        await engine.close();
        log.info("stopped");
      })();
      return closing;
    },
  };
}
