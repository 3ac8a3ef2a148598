import { appendFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** One line: what a process did with a key. */
export interface Entry {
  /** `begin` and `end` of an execution, `wanted`, `accepted`, `completed`: what its submitter knows of it. */
  word: string;
  key: string;
  pid: number;
}

/**
 * A file to which all processes of a test append what they do, each line in one write. So its order is the order of what
 * happened, across processes, and it survives the kill of each.
 */
export class Ledger {
  readonly directory = mkdtempSync(join(tmpdir(), "agent-reach-ledger-"));
  readonly path = join(this.directory, "ledger");

  constructor() {
    appendFileSync(this.path, "");
  }

  note(word: string, key: string): void {
    appendFileSync(this.path, `${word} ${key} ${process.pid}\n`);
  }

  entries(): Entry[] {
    return readFileSync(this.path, "utf8")
      .split("\n")
      .slice(0, -1)
      .map((line) => {
        const [word, key, pid] = line.split(" ") as [string, string, string];
        return { word, key, pid: Number(pid) };
      });
  }

  /** The keys of these lines, each with the lines about it, in order. */
  byKey(word?: string): Map<string, Entry[]> {
    const found = new Map<string, Entry[]>();
    for (const entry of this.entries()) {
      if (word !== undefined && entry.word !== word) continue;
      found.set(entry.key, [...(found.get(entry.key) ?? []), entry]);
    }
    return found;
  }

  /** Keys that were begun again after somebody knew that they had succeeded. There must be none, whatever dies. */
  begunAfterSuccess(): string[] {
    const succeeded = new Set<string>();
    const wrong: string[] = [];
    for (const { word, key } of this.entries()) {
      if (word === "completed") succeeded.add(key);
      else if (word === "begin" && succeeded.has(key)) wrong.push(key);
    }
    return wrong;
  }

  dispose(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }
}
