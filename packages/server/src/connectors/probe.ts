import { Agent, request } from "undici";
import type { System } from "../ports/system.js";
import type { LiveInstance } from "../registry/instance.js";
import type { Registry } from "../registry/registry.js";

const PROBE_TIMEOUT_MS = 2000;

/**
 * Asks agents behind an HTTP endpoint whether they are there: `GET /ping` of the endpoint's origin. Any answer under 500
 * renews the lease; they need send no heartbeats, but may.
 */
export class Prober {
  private readonly followed = new Map<string, Followed>();
  private readonly agent = new Agent({
    connect: { timeout: PROBE_TIMEOUT_MS },
    headersTimeout: PROBE_TIMEOUT_MS,
    bodyTimeout: PROBE_TIMEOUT_MS,
  });

  constructor(
    private readonly registry: Registry,
    private readonly system: System,
    private readonly intervalMs: number,
  ) {
    registry.onChange(({ instance, removed }) => {
      if (instance === undefined) return;
      const { state, epoch, instanceId } = instance.record;
      const known = this.followed.get(instanceId);
      // A newer run may live elsewhere: what answers at the old address says nothing about it.
      if (known !== undefined && (removed || state === "offline" || epoch !== known.epoch)) this.unfollow(instance);
    });
  }

  follow(instance: LiveInstance, endpoint: string): void {
    this.unfollow(instance);
    const url = new URL("/ping", endpoint).href;
    const { instanceId, epoch } = instance.record;
    const followed: Followed = { epoch, stop: () => {} };
    this.followed.set(instanceId, followed);
    const next = () => {
      // A probe stands in for the heartbeats, so it comes at least as often as they would.
      const waitMs = Math.min(this.intervalMs, instance.terms.heartbeatIntervalMs);
      followed.stop = this.system.after(waitMs, () => void probe());
    };
    const probe = async () => {
      const alive = await this.isAlive(url);
      if (this.followed.get(instanceId) !== followed) return;
      instance.probe = alive ? 1 : 0;
      if (alive) {
        instance.lastHeartbeatAt = this.system.now();
        this.registry.renew(instance);
      }
      next();
    };
    next();
  }

  stop(): void {
    for (const { stop } of this.followed.values()) stop();
    this.followed.clear();
    void this.agent.close();
  }

  private async isAlive(url: string): Promise<boolean> {
    try {
      const { statusCode, body } = await request(url, { dispatcher: this.agent });
      // The status says it all; a body that does not end is cut off.
      body.dump().catch(() => {});
      return statusCode < 500;
    } catch {
      return false;
    }
  }

  private unfollow(instance: LiveInstance): void {
    this.followed.get(instance.record.instanceId)?.stop();
    this.followed.delete(instance.record.instanceId);
  }
}

/** One run of an agent at one address. */
interface Followed {
  epoch: number;
  stop: () => void;
}
