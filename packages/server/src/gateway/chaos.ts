import { ReachError } from "@agent-reach/protocol";
import { localOperator } from "../access/access.js";
import type { Journal } from "../journal/journal.js";
import type { Outgoing, Receiver } from "../ports/delivery.js";
import type { System } from "../ports/system.js";
import type { LiveInstance } from "../registry/instance.js";
import type { Registry } from "../registry/registry.js";
import { SocketLink } from "./link.js";

/** What is wrong with the way to an agent. */
export interface Faults {
  /** Deliveries leave that much later. */
  readonly delayMs: number;
  /** Share of acknowledgements that the node does not hear, 0..1. */
  readonly dropAcks: number;
}

export interface Rule extends Faults {
  readonly agentId: string;
  /** Wall ms at which it ends by itself. */
  readonly until: number;
}

/** Stands before a link and spoils what goes over it. */
export class FaultyWay {
  constructor(
    private readonly faults: Faults,
    private readonly system: System,
  ) {}

  deliver(message: Outgoing, receiver: Receiver, send: (message: Outgoing, receiver: Receiver) => boolean): boolean {
    const { delayMs, dropAcks } = this.faults;
    const heard = this.system.random() < dropAcks ? new HardOfHearing(receiver) : receiver;
    if (delayMs === 0) return send(message, heard);
    this.system.after(delayMs, () => {
      if (!send(message, heard)) receiver.lost();
    });
    return true;
  }
}

/** Misses that a message was received. Results are not missed: an agent may forget those once it was answered. */
class HardOfHearing implements Receiver {
  constructor(private readonly receiver: Receiver) {}

  accepted(): void {}

  completed(...result: Parameters<Receiver["completed"]>): Promise<void> | void {
    return this.receiver.completed(...result);
  }

  failed(...result: Parameters<Receiver["failed"]>): Promise<void> | void {
    return this.receiver.failed(...result);
  }

  refused(...reason: Parameters<Receiver["refused"]>): void {
    this.receiver.refused(...reason);
  }

  lost(...why: Parameters<Receiver["lost"]>): void {
    this.receiver.lost(...why);
  }
}

/**
 * Faults that an operator asks for, to see in a test environment that a deployment survives them. Rules are for an agent, hold
 * for connections that it makes later, and end by themselves. Only agents on a socket: the way to others is not ours.
 */
export class Chaos {
  private readonly rules = new Map<string, Rule & { stop: () => void }>();

  constructor(
    private readonly registry: Registry,
    private readonly journal: Journal,
    private readonly system: System,
  ) {
    registry.onArrival((instance) => this.apply(instance));
  }

  list(): Rule[] {
    return [...this.rules.values()].map(({ stop: _, ...rule }) => rule);
  }

  /** In place of the rule that the agent had. Answers how many connections it concerns now. */
  set(agentId: string, faults: Faults, forMs: number): number {
    const instances = this.connected(agentId);
    this.rules.get(agentId)?.stop();
    const stop = this.system.after(forMs, () => this.clear(agentId));
    this.rules.set(agentId, { agentId, ...faults, until: this.system.now() + forMs, stop });
    for (const instance of instances) this.apply(instance);
    this.journal.note("chaos.set", undefined, { agentId, ...faults, forMs });
    return instances.length;
  }

  /** Ends the agent's connections without a word, as a pulled cable that is noticed. Answers how many. */
  cut(agentId: string): number {
    const instances = this.connected(agentId);
    for (const { link } of instances) (link as SocketLink).cut();
    this.journal.note("chaos.cut", undefined, { agentId, connections: instances.length });
    return instances.length;
  }

  /** Of one agent, or of all. Answers how many rules there were. */
  clear(agentId?: string): number {
    const gone = [...this.rules.values()].filter((rule) => agentId === undefined || rule.agentId === agentId);
    for (const rule of gone) {
      rule.stop();
      this.rules.delete(rule.agentId);
      for (const { link } of this.instancesOf(rule.agentId)) if (link instanceof SocketLink) link.way = undefined;
      this.journal.note("chaos.cleared", undefined, { agentId: rule.agentId });
    }
    return gone.length;
  }

  private apply({ record, link }: LiveInstance): void {
    const rule = this.rules.get(record.agentId);
    if (rule !== undefined && link instanceof SocketLink) link.way = new FaultyWay(rule, this.system);
  }

  private connected(agentId: string): LiveInstance[] {
    const instances = this.instancesOf(agentId);
    const connected = instances.filter(({ link }) => link instanceof SocketLink);
    if (connected.length > 0) return connected;
    throw instances.length === 0
      ? new ReachError("NOT_FOUND", `no agent "${agentId}" is registered here; \`agent-reach agents\` lists who is.`, {
          path: "agentId",
        })
      : new ReachError("INVALID_REQUEST", `"${agentId}" is on no socket now; faults are for agents on a socket.`, {
          path: "agentId",
        });
  }

  private instancesOf(agentId: string): LiveInstance[] {
    return [...(this.registry.view.agent(localOperator.tenant, agentId)?.instances ?? [])];
  }
}
