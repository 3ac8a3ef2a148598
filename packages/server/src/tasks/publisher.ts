import { type Published, ReachError } from "@agent-reach/protocol";
import type { Catalog } from "../catalog/catalog.js";
import { agentsOf } from "../catalog/found.js";
import { Turns } from "../collections/turns.js";
import type { System } from "../ports/system.js";
import type { TaskStore } from "../ports/task-store.js";
import { type MessageRequest, wantedBy } from "../router/message.js";
import { type Batches, errorOf, type Locate } from "./batches.js";
import { taskContent } from "./new-task.js";
import { assertConfirmed } from "./taken-before.js";

/** Who is meant, by the name under which it is delivered to them. */
interface Audience {
  readonly name: string;
  readonly agentIds: readonly string[];
}

/**
 * Fan-out (DLV-16): one task for each agent that subscribes to a topic, or offers a capability, be it there at the moment or
 * known from the last 24 h. Who that is, is decided once, when the publish is taken; after that each delivery is a task like
 * any other, targeted at its agent.
 */
export class Publisher {
  /** Repeats of a publish that is under way wait for what becomes of it: meanwhile its audience may have changed. */
  private readonly turns = new Turns();

  constructor(
    private readonly store: TaskStore,
    private readonly catalog: Catalog,
    private readonly batches: Batches,
    private readonly system: System,
  ) {}

  /**
   * Answers when all of its tasks are on disk. `request` is without a target yet, and with the topic as the capability if
   * there is one. `takesNew`: false while the node drains, which still answers what it was asked before.
   */
  async publish(request: MessageRequest, takesNew = true): Promise<Published> {
    const { groupId, capability } = request.envelope;
    if (groupId === undefined) return this.expand(request, this.audienceOf(request), takesNew);
    return this.turns.run(JSON.stringify([request.caller.principal, groupId]), async () => {
      const audience = this.audienceOf(request);
      const name = audience instanceof ReachError ? capability! : audience.name;
      const earlier = await this.earlier(request, name, groupId);
      if (earlier !== undefined) return this.vouchedFor(earlier);
      // Anew: whoever has gone while that was looked up would be taken for somebody who cannot be reached.
      return this.expand(request, this.audienceOf(request), takesNew);
    });
  }

  /** What was read may lie in the file without the disk having confirmed it, and then the store takes nothing more, not even this. */
  private async vouchedFor(earlier: Published): Promise<Published> {
    await this.store.insertAll([], () => true).catch(assertConfirmed);
    return earlier;
  }

  private async expand(
    request: MessageRequest,
    audience: Audience | ReachError,
    takesNew: boolean,
  ): Promise<Published> {
    if (audience instanceof ReachError) throw audience;
    const { agentIds, name } = audience;
    this.batches.assertFits(agentIds.length);
    const groupId = request.envelope.groupId ?? this.system.newId();
    const requests = agentIds.map((agentId): MessageRequest => {
      const envelope = {
        ...request.envelope,
        capability: name,
        target: { agentId },
        groupId,
        // Of its own for each agent, so that it can be told whose publish a task belongs to.
        idempotencyKey: keyOf(groupId, agentId),
        // Who stands in for one of them would get it twice.
        fallback: [],
      };
      return { ...request, messageId: this.system.newId(), envelope };
    });
    const locate: Locate = (error, at) => errorOf(`for ${agentIds[at]!}`, error);
    const tasks = await this.batches.submit(request.caller, requests, locate, takesNew);
    return { groupId, deliveries: tasks.length };
  }

  /** To nobody is an answer for a topic, and none for a capability: that must have been offered by somebody. */
  private audienceOf(request: MessageRequest): Audience | ReachError {
    const { caller, topic } = request;
    if (topic !== undefined) return { name: topic, agentIds: this.catalog.subscribers(caller.tenant, topic) };
    const resolution = this.catalog.resolve(wantedBy(request));
    if (!resolution.ok) return resolution.error;
    return { name: resolution.resolved.name, agentIds: agentsOf(resolution.resolved) };
  }

  /** What came of the same publish before: it is not expanded again, whoever has come since. */
  private async earlier(request: MessageRequest, name: string, groupId: string): Promise<Published | undefined> {
    const { principal } = request.caller;
    const [task] = await this.store.list({ groupId, principal }, { limit: 1 });
    if (task === undefined) return undefined;
    const { target } = task.request;
    const isSame =
      target?.agentId !== undefined &&
      task.idempotencyKey === keyOf(groupId, target.agentId) &&
      task.contentHash === taskContent({ ...request, envelope: { ...request.envelope, capability: name, target } });
    if (!isSame) {
      throw new ReachError(
        "CONFLICT",
        `the group "${groupId}" holds other tasks already; publish under another groupId, or none and one is made.`,
        { path: "groupId" },
      );
    }
    const counts = await this.store.countGroup(groupId);
    const own = counts.find((count) => count.principal === principal);
    return { groupId, deliveries: Object.values(own?.byState ?? {}).reduce((sum, count) => sum + count, 0) };
  }
}

function keyOf(groupId: string, agentId: string): string {
  return `${groupId}/${agentId}`;
}
