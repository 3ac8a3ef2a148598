import { ReachError } from "@agent-reach/protocol";
import type { FastifyInstance } from "fastify";
import type { Chaos } from "./chaos.js";
import { bodyOf } from "./instance-routes.js";
import { check } from "./validate.js";

/** Faults end by themselves, so that nobody forgets one. */
const FOR_MS = 60_000;

/** `chaos` is undefined on a node that does not allow it. */
export function chaosRoutes(app: FastifyInstance, chaos: Chaos | undefined): void {
  const allowed = (): Chaos => {
    if (chaos !== undefined) return chaos;
    throw new ReachError(
      "FORBIDDEN",
      "this node makes no faults on demand; start it with --chaos (chaos.enabled: true), in a test environment only.",
    );
  };

  app.get("/v1/chaos", async () => ({
    faults: allowed()
      .list()
      .map(({ until, ...rule }) => ({ ...rule, until: new Date(until).toISOString() })),
  }));

  app.post("/v1/chaos", async (request) => {
    const body = bodyOf(request).value;
    check("ChaosFault", body);
    const { agentId, cut, delayMs, dropAcks, forMs = FOR_MS } = body as unknown as ChaosFault;
    if (cut === true) return { agentId, connections: allowed().cut(agentId) };
    if (delayMs === undefined && dropAcks === undefined)
      throw new ReachError("INVALID_REQUEST", "say which fault: cut, delayMs or dropAcks.", { path: "delayMs" });
    return {
      agentId,
      connections: allowed().set(agentId, { delayMs: delayMs ?? 0, dropAcks: dropAcks ?? 0 }, forMs),
    };
  });

  app.delete("/v1/chaos", async (request) => {
    const { agent } = request.query as { agent?: string };
    return { cleared: allowed().clear(agent) };
  });
}

interface ChaosFault {
  agentId: string;
  cut?: boolean;
  delayMs?: number;
  dropAcks?: number;
  forMs?: number;
}
