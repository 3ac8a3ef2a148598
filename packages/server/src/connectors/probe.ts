import { request } from "undici";
import type { System } from "../ports/system.js";
import type { LiveInstance } from "../registry/instance.js";
import type { Registry } from "../registry/registry.js";

const PROBE_TIMEOUT_MS = 2000;

/**
 * Asks agents behind an HTTP endpoint whether they are there: `GET /ping` of the endpoint's origin. Any answer under 500
 * renews the lease; they need send no heartbeats, but may.
 */
export class Prober {
  private readonly stops = new Map<string, () => void>();

  constructor(
    private readonly registry: Registry,
    private readonly system: System,
    private readonly intervalMs: number,
  ) {
    registry.onChange(({ instance, removed }) => {
      if (instance !== undefined && (removed || instance.record.state === "offline")) this.unfollow(instance);
    });
  }

  follow(instance: LiveInstance, endpoint: string): void {
    this.unfollow(instance);
    const url = new URL("/ping", endpoint).href;
    const next = () => {
      // A probe stands in for the heartbeats, so it comes at least as often as they would.
      const waitMs = Math.min(this.intervalMs, instance.terms.heartbeatIntervalMs);
      this.stops.set(
        instance.record.instanceId,
        this.system.after(waitMs, () => void probe()),
      );
    };
    const probe = async () => {
      const alive = await isAlive(url);
      if (!this.stops.has(instance.record.instanceId)) return;
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
    for (const stop of this.stops.values()) stop();
    this.stops.clear();
  }

  private unfollow(instance: LiveInstance): void {
    this.stops.get(instance.record.instanceId)?.();
    this.stops.delete(instance.record.instanceId);
  }
}

async function isAlive(url: string): Promise<boolean> {
  try {
    const response = await request(url, {
      method: "GET",
      headersTimeout: PROBE_TIMEOUT_MS,
      bodyTimeout: PROBE_TIMEOUT_MS,
    });
    response.body.resume();
    return response.statusCode < 500;
  } catch {
    return false;
  }
}
