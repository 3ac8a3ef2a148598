import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { IdentityStore, SavedIdentity } from "../platform.js";

/** One JSON file, readable by its owner alone since the instanceKey is a secret; replaced whole, so never half written. */
export class IdentityFile implements IdentityStore {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  /** A file that is missing or damaged means a fresh instance, no more. */
  load(): SavedIdentity | undefined {
    try {
      const saved = JSON.parse(readFileSync(this.#path, "utf8")) as Partial<SavedIdentity> | null;
      const { agentId, instanceId, instanceKey } = saved ?? {};
      if (typeof agentId !== "string" || typeof instanceId !== "string" || typeof instanceKey !== "string")
        return undefined;
      return { agentId, instanceId, instanceKey };
    } catch {
      return undefined;
    }
  }

  save(identity: SavedIdentity): void {
    const saved = this.load();
    if (saved && saved.instanceId === identity.instanceId && saved.instanceKey === identity.instanceKey) return;
    mkdirSync(dirname(this.#path), { recursive: true });
    const fresh = `${this.#path}.${process.pid}.new`;
    writeFileSync(fresh, `${JSON.stringify(identity)}\n`, { mode: 0o600 });
    renameSync(fresh, this.#path);
  }
}
