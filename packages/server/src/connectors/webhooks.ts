import { ReachError } from "@agent-reach/protocol";
import { isLoopback } from "../access/access.js";
import type { System } from "../ports/system.js";
import type { LiveInstance } from "../registry/instance.js";
import type { Registry } from "../registry/registry.js";
import { WebhookLink, type WebhookSettings } from "./http.js";
import { Prober } from "./probe.js";

export interface WebhooksSettings extends WebhookSettings {
  allowPrivate: boolean;
  /** How often agents are asked whether they are there, unless their own heartbeat is shorter. */
  probeIntervalMs: number;
}

const PRIVATE = /^(10\.|172\.(1[6-9]|2\d|3[01])\.|192\.168\.|169\.254\.|0\.|\[?(::|f[cd]|fe80))/i;

/** Agents behind an HTTP endpoint: their links and probes. Links are made again when the node starts. */
export class Webhooks {
  private readonly prober: Prober;

  constructor(
    private readonly registry: Registry,
    private readonly system: System,
    private readonly settings: WebhooksSettings,
  ) {
    this.prober = new Prober(registry, system, settings.probeIntervalMs);
  }

  /** The link to an instance whose card names an endpoint; undefined for others. */
  linkFor(instance: LiveInstance): WebhookLink | undefined {
    const endpoint = endpointOf(instance);
    if (endpoint === undefined) return undefined;
    return new WebhookLink(endpoint, () => instance.record.secret ?? "", this.system, this.settings);
  }

  follow(instance: LiveInstance): void {
    const endpoint = endpointOf(instance);
    if (endpoint !== undefined) this.prober.follow(instance, endpoint);
  }

  /** Endpoints that were known before the node started are asked again; whoever answers is online. */
  resume(instance: LiveInstance): void {
    if (instance.record.state === "offline" || instance.record.secret === undefined) return;
    const link = this.linkFor(instance);
    if (link === undefined) return;
    this.registry.attach(instance, link);
    this.follow(instance);
  }

  /** Refuses endpoints which the node must not be made to call (SEC-7). */
  assertAllowed(endpoint: string): void {
    const { hostname } = new URL(endpoint);
    if (this.settings.allowPrivate || !(isLoopback(hostname) || PRIVATE.test(hostname))) return;
    throw new ReachError(
      "INVALID_CARD",
      `transport.endpoint ${endpoint} is a private address; set webhook.allowPrivate if the node may call it.`,
      { path: "transport.endpoint" },
    );
  }

  stop(): void {
    this.prober.stop();
  }
}

function endpointOf(instance: LiveInstance): string | undefined {
  const { transport } = instance.card;
  return transport?.type === "http" ? transport.endpoint : undefined;
}
