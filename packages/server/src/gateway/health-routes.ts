import { openapi } from "@agent-reach/protocol/openapi";
import type { FastifyInstance } from "fastify";
import type { createMetrics } from "../telemetry/metrics.js";

/** Liveness, readiness, metrics and the description of the API. */
export function healthRoutes(
  app: FastifyInstance,
  metrics: ReturnType<typeof createMetrics>,
  isDraining: () => boolean,
  doubt: () => { silent: number; fleet: number } | undefined,
): void {
  app.get("/ping", async () => ({}));
  app.get("/readyz", async (_request, reply) => {
    // A node that hears nobody is still ready: callers on this side of the trouble may well reach it.
    const doubted = doubt();
    if (!isDraining()) return doubted === undefined ? {} : { silent: doubted.silent, fleet: doubted.fleet };
    const message = "[DRAINING] this node is stopping.";
    return reply.code(503).send({ code: "DRAINING", message, retryable: true, outcome: "not_executed" });
  });
  app.get("/metrics", async (_request, reply) => reply.type(metrics.contentType).send(await metrics.text()));
  app.get("/openapi.json", async () => openapi());
}
