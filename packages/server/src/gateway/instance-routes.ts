import { type Params, ReachError } from "@agent-reach/protocol";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { localOperator } from "../access/access.js";
import { PullLink } from "../connectors/pull.js";
import type { Webhooks } from "../connectors/webhooks.js";
import type { LiveInstance } from "../registry/instance.js";
import { complete } from "./completions.js";
import type { Body } from "./http.js";
import { instanceIdOf, messageIdOf } from "./ids.js";
import type { Rooms } from "./rooms.js";
import { check } from "./validate.js";

const PULL_MAX = 10;

/** Agents without a socket: register, heartbeat, pull, acknowledge. Every request of an instance proves itself by key and epoch. */
export function instanceRoutes(app: FastifyInstance, rooms: Rooms, webhooks: Webhooks): void {
  const { registry, system } = rooms;

  const newPull = (instance: LiveInstance) => new PullLink(system, () => rooms.onRoom(instance));
  const own = (instanceId: string, body: Record<string, unknown>): LiveInstance => {
    const { instanceKey, epoch } = body;
    const instance = registry.authorize(
      instanceId,
      typeof instanceKey === "string" ? instanceKey : undefined,
      typeof epoch === "number" ? epoch : undefined,
    );
    registry.renew(instance);
    instance.lastHeartbeatAt = system.now();
    return instance;
  };
  const ofPath = (
    request: FastifyRequest,
    schema: Parameters<typeof check>[0],
  ): { instance: LiveInstance; body: Body } => {
    const body = bodyOf(request);
    check(schema, body.value);
    return { instance: own(instanceIdOf(request), body.value), body };
  };
  /** The receiver of a delivery that was pulled, if this answer is the first to it. */
  const ofDelivery = (request: FastifyRequest, schema: Parameters<typeof check>[0]) => {
    const body = bodyOf(request);
    check(schema, body.value);
    const { instanceId, attempt } = body.value as { instanceId: string; attempt: number };
    return { body, messageId: messageIdOf(request), attempt, instance: own(instanceId, body.value) };
  };

  app.post("/v1/agents", async (request) => {
    if (rooms.isDraining())
      throw new ReachError("DRAINING", "this node is stopping; connect elsewhere, or again in a moment.");
    const body = bodyOf(request).value;
    check("register", body);
    const { card, instanceId, instanceKey } = body as Params<"register">;
    const { instance, result } = await registry.register({
      tenant: localOperator.tenant,
      principal: localOperator.principal,
      card,
      transport: "pull",
      instanceId,
      instanceKey,
      link: (live) => webhooks.linkFor(live) ?? newPull(live),
      holds: () => false,
    });
    webhooks.follow(instance);
    return result;
  });

  app.post("/v1/instances/:instanceId/heartbeat", async (request) => {
    const body = bodyOf(request).value;
    check("HttpHeartbeat", body);
    const instanceId = instanceIdOf(request);
    const known = registry.view.instances.get(instanceId);
    if (known === undefined || known.record.state === "offline") return { state: "unknown" };
    return { state: registry.heartbeat(own(instanceId, body), body as Params<"heartbeat">) };
  });

  app.post("/v1/instances/:instanceId/drain", async (request) => {
    const { instance, body } = ofPath(request, "HttpDrain");
    const { reason, handback } = body.value as Params<"drain">;
    await registry.drain(instance, reason ?? "drains");
    for (const { messageId, attempt } of handback ?? []) {
      rooms.calls.handBack(messageId, instance.record.instanceId, attempt);
      rooms.tasks.handBack(messageId, instance.record.instanceId, attempt);
    }
    return { running: instance.running };
  });

  app.delete("/v1/instances/:instanceId", async (request) => {
    const { instance, body } = ofPath(request, "HttpDeregister");
    await registry.deregister(instance, (body.value["reason"] as string | undefined) ?? "said goodbye");
    return {};
  });

  for (const change of ["subscribe", "unsubscribe"] as const) {
    app.post(`/v1/instances/:instanceId/${change}`, async (request) => {
      const { instance, body } = ofPath(request, "HttpTopic");
      const { tenant, agentId } = instance.record;
      await registry.subscriptions[change](tenant, agentId, (body.value as Params<"subscribe">).topic);
      return {};
    });
  }

  app.post("/v1/instances/:instanceId/pull", async (request, reply) => {
    const { instance, body } = ofPath(request, "HttpPull");
    const { link } = instance;
    // After a restart of the node the instance has its lease and key, but no queue yet.
    const pull = link instanceof PullLink ? link : link === undefined ? newPull(instance) : undefined;
    if (pull === undefined) {
      throw new ReachError(
        "CONFLICT",
        `instance ${instance.record.instanceId} gets its messages over ${link!.kind}; only pull agents pull.`,
      );
    }
    if (link === undefined) registry.attach(instance, pull);
    const { max, waitMs } = body.value as { max?: number; waitMs?: number };
    const gone = new AbortController();
    // A pull renews the lease, so none may wait so long that the lease ends meanwhile.
    const hungUp = () => gone.abort();
    request.raw.socket.once("close", hungUp);
    const deliveries = await pull.pull(max ?? PULL_MAX, Math.min(waitMs ?? 0, instance.terms.ttlMs / 2), gone.signal);
    request.raw.socket.off("close", hungUp);
    registry.renew(instance);
    return reply.type("application/json").send(`{"deliveries":[${deliveries.map((d) => d.json).join(",")}]}`);
  });

  app.post("/v1/deliveries/:messageId/ack", async (request) => {
    const { messageId, attempt, instance } = ofDelivery(request, "HttpAck");
    // An ack that comes twice, or for an attempt that is over, changes nothing.
    pullOf(instance)?.take(messageId, attempt)?.accepted();
    return {};
  });

  app.post("/v1/deliveries/:messageId/nack", async (request) => {
    const { messageId, attempt, instance, body } = ofDelivery(request, "HttpNack");
    const { reason, retryAfterMs } = body.value as { reason?: string; retryAfterMs?: number };
    pullOf(instance)
      ?.take(messageId, attempt)
      ?.refused("REFUSED", reason ?? "refused", retryAfterMs);
    return {};
  });

  app.post("/v1/deliveries/:messageId/complete", async (request) => {
    const { messageId, attempt, instance, body } = ofDelivery(request, "HttpComplete");
    pullOf(instance)?.take(messageId, attempt);
    const params = { ...body.value, messageId, instanceId: instance.record.instanceId, attempt } as Params<"complete">;
    return complete(rooms, instance, params, body.raw("data"), body.raw("receipt"));
  });
}

function pullOf(instance: LiveInstance): PullLink | undefined {
  return instance.link instanceof PullLink ? instance.link : undefined;
}

export function bodyOf(request: FastifyRequest): Body {
  const body = request.body as Body | undefined;
  if (body === undefined || body === null)
    throw new ReachError("INVALID_REQUEST", "a JSON body is needed.", { path: "body" });
  return body;
}
