import type { RegistryStore } from "../ports/registry-store.js";

const KEY = "epochs";

/**
 * The highest epoch of all instances that were ever forgotten. An instance that comes back after that gets an epoch above
 * it, so that epochs never begin anew for an instanceId, also after a restart of the node; see docs/adr/0005.
 */
export class Fence {
  private highest = 0;

  constructor(private readonly store: RegistryStore) {}

  get epoch(): number {
    return this.highest;
  }

  async load(): Promise<void> {
    this.highest = (await this.store.get("fence", KEY))?.epoch ?? 0;
  }

  /** Resolves when it is stored: only then may an instance of that epoch be forgotten. */
  async raise(epoch: number): Promise<void> {
    if (epoch <= this.highest) return;
    await this.store.put([{ record: { kind: "fence", key: KEY, revision: 0, epoch } }]);
    this.highest = epoch;
  }
}
