import { readFileSync, statSync } from "node:fs";
import type { System } from "../../ports/system.js";

/** What a file holds, or in half a sentence why that cannot be told. */
export type Content = { ok: true; text: string } | { ok: false; problem: string };

const LOOK_MS = 1_000;
/** What has just changed may not be written to its end: it is read when it looks the same so much later. */
const STILL_MS = 250;

/**
 * A small text file that people and programs change while the node runs.
 *
 * It is looked at once a second. To be told by the system (`fs.watch`) would be sooner and is less sure: an editor that saves
 * by renaming, or Kubernetes, which swaps a symlink above the file, leaves the watch on a file that is gone, and network file
 * systems tell nothing. A look follows symlinks wherever they lead now, and costs a few microseconds; it is synchronous, so
 * that nothing comes between a look and what follows from it.
 *
 * F1  Each content that stays for two seconds is told once, also when it is the absence of the file.
 * F2  What was touched, or put in place anew, and says the same is not told.
 */
export class FollowedFile {
  /** As it was read last. */
  content: Content;
  private stamp: string | undefined;
  private readStamp: string | undefined;
  private cancelLook: (() => void) | undefined;

  constructor(
    private readonly path: string,
    private readonly bytesMax: number,
    private readonly system: System,
  ) {
    // The stamps stay unknown, so a change between this read and the first look is not missed.
    this.content = readSmallFile(path, bytesMax);
  }

  follow(changed: (content: Content) => void): void {
    const look = (): void => {
      const stamp = stampOf(this.path);
      const isStill = stamp === this.stamp;
      this.stamp = stamp;
      this.cancelLook = this.system.after(isStill ? LOOK_MS : STILL_MS, look);
      if (!isStill || stamp === this.readStamp) return;
      this.readStamp = stamp;
      const before = this.content;
      this.content = readSmallFile(this.path, this.bytesMax);
      if (!isSame(before, this.content)) changed(this.content);
    };
    this.cancelLook = this.system.after(LOOK_MS, look);
  }

  stop(): void {
    this.cancelLook?.();
  }
}

/** What a file of at most so many bytes holds now. */
export function readSmallFile(path: string, bytesMax: number): Content {
  try {
    const stats = statSync(path);
    // Reading a pipe would wait for somebody to write.
    if (!stats.isFile()) return { ok: false, problem: "it is not a file" };
    if (stats.size > bytesMax)
      return { ok: false, problem: `it has ${stats.size} bytes, and at most ${bytesMax} are read` };
    return { ok: true, text: readFileSync(path, "utf8") };
  } catch (error) {
    return { ok: false, problem: problemOf(error as NodeJS.ErrnoException) };
  }
}

/** Another one whenever the file may be another one: written, renamed over, reached by another way, gone. */
function stampOf(path: string): string {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = statSync(path, { bigint: true });
    return [dev, ino, size, mtimeNs, ctimeNs].join(" ");
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? "unknown";
  }
}

function isSame(a: Content, b: Content): boolean {
  return a.ok ? b.ok && a.text === b.text : !b.ok && a.problem === b.problem;
}

function problemOf({ code, message }: NodeJS.ErrnoException): string {
  if (code === "ENOENT") return "there is no such file";
  if (code === "EACCES") return "the node may not read it";
  return code ?? message;
}
