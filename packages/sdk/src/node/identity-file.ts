import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { IdentityStore, SavedIdentity } from "../platform.js";

/**
 * One JSON file, readable by its owner alone since the instanceKey is a secret; replaced whole, so never half written. It
 * belongs to the process that wrote it for as long as that lives: a child started with the same settings would otherwise take
 * its parent's instance over.
 */
export class IdentityFile implements IdentityStore {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  /** A file that is missing, damaged or another living process's means a fresh instance, no more. */
  load(): SavedIdentity | undefined {
    const saved = this.#read();
    if (saved === undefined || lives(saved.pid)) return undefined;
    const { agentId, instanceId, instanceKey } = saved;
    return { agentId, instanceId, instanceKey };
  }

  save(identity: SavedIdentity): void {
    const { pid } = process;
    const saved = this.#read();
    if (saved !== undefined) {
      if (lives(saved.pid)) return;
      const { instanceId, instanceKey } = identity;
      if (saved.instanceId === instanceId && saved.instanceKey === instanceKey && saved.pid === pid) return;
    }
    mkdirSync(dirname(this.#path), { recursive: true });
    const fresh = `${this.#path}.${pid}.new`;
    writeFileSync(fresh, `${JSON.stringify({ ...identity, pid })}\n`, { mode: 0o600 });
    renameSync(fresh, this.#path);
  }

  #read(): (SavedIdentity & { pid: unknown }) | undefined {
    try {
      const saved = JSON.parse(readFileSync(this.#path, "utf8")) as (SavedIdentity & { pid?: unknown }) | null;
      const { agentId, instanceId, instanceKey, pid } = saved ?? ({} as { [key: string]: unknown });
      if (typeof agentId !== "string" || typeof instanceId !== "string" || typeof instanceKey !== "string")
        return undefined;
      return { agentId, instanceId, instanceKey, pid };
    } catch {
      return undefined;
    }
  }
}

/** Whether another process has this number. One that is not ours to signal lives too. */
function lives(pid: unknown): boolean {
  if (typeof pid !== "number" || pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
