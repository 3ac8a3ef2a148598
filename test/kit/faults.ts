import { execFileSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

interface Pair {
  client: Socket;
  server: Socket;
}

/**
 * A TCP relay that fails on demand, as networks do. While it is a black hole, or stalls, both ends believe in their
 * connection and nothing arrives: neither a byte nor the end of it. What went into a black hole is lost, so its connections
 * are good for nothing afterwards; what a stall held back arrives when it ends, as TCP sends again what a dead route lost.
 */
export class HalfOpenProxy {
  readonly #server: Server;
  readonly #pairs = new Set<Pair>();
  #blackHole = false;
  #stalled = false;
  #refuse = false;
  #delayMs = 0;
  #bytesPerTick: number | undefined;

  private constructor(targetPort: number) {
    this.#server = createServer((client) => {
      if (this.#refuse) {
        client.destroy();
        return;
      }
      const pair = { client, server: connect(targetPort, "127.0.0.1") };
      this.#pairs.add(pair);
      this.#pass(pair, pair.client, pair.server);
      this.#pass(pair, pair.server, pair.client);
      if (this.#stalled) pause(pair);
    });
  }

  static async to(targetPort: number): Promise<HalfOpenProxy> {
    const proxy = new HalfOpenProxy(targetPort);
    await new Promise<void>((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `ws://127.0.0.1:${this.port}/registry`;
  }

  /** From now on nothing passes and nothing ends. */
  blackHole(): void {
    this.#blackHole = true;
  }

  /** From now on nothing passes and nothing ends, until `heal`; then all of it does. */
  stall(): void {
    this.#stalled = true;
    for (const pair of this.#pairs) pause(pair);
  }

  /** Ends every connection with a reset, and refuses new ones while `refuse`. */
  cut(refuse = false): void {
    this.#refuse = refuse;
    for (const { client, server } of this.#pairs) {
      client.resetAndDestroy();
      server.resetAndDestroy();
    }
    this.#pairs.clear();
  }

  delay(ms: number): void {
    this.#delayMs = ms;
  }

  /** Lets so many bytes pass in each direction per 10 ms. */
  throttle(bytesPerTick: number | undefined): void {
    this.#bytesPerTick = bytesPerTick;
  }

  heal(): void {
    this.#blackHole = false;
    this.#refuse = false;
    this.#delayMs = 0;
    this.#bytesPerTick = undefined;
    if (!this.#stalled) return;
    this.#stalled = false;
    for (const { client, server } of this.#pairs) {
      client.resume();
      server.resume();
    }
  }

  async close(): Promise<void> {
    this.cut(true);
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #pass(pair: Pair, from: Socket, to: Socket): void {
    from.on("error", () => {});
    from.on("data", (chunk: Buffer) => {
      if (this.#blackHole) return;
      if (this.#bytesPerTick !== undefined) {
        from.pause();
        setTimeout(
          () => {
            to.write(chunk);
            from.resume();
          },
          (10 * chunk.length) / this.#bytesPerTick,
        );
        return;
      }
      if (this.#delayMs > 0) setTimeout(() => to.write(chunk), this.#delayMs);
      else if (!to.write(chunk)) {
        from.pause();
        to.once("drain", () => this.#stalled || from.resume());
      }
    });
    from.once("close", () => {
      if (this.#blackHole) return;
      this.#pairs.delete(pair);
      to.destroy();
    });
  }
}

function pause({ client, server }: Pair): void {
  client.pause();
  server.pause();
}

/** A disk so small that it can be filled: a tmpfs mount. Needs root, as the build has it. */
export class SmallDisk {
  readonly path: string;
  #ballast: string | undefined;

  constructor(megabytes: number) {
    this.path = mkdtempSync(join(tmpdir(), "agent-reach-disk-"));
    try {
      execFileSync("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", this.path], { stdio: "pipe" });
    } catch (error) {
      rmSync(this.path, { recursive: true, force: true });
      const why = error instanceof Error ? error.message : String(error);
      throw new Error(`a full disk cannot be made here: mounting a tmpfs needs root and CAP_SYS_ADMIN (${why})`);
    }
  }

  /** Writes until not one more byte fits. */
  fill(): void {
    this.#ballast = join(this.path, "ballast");
    const file = openSync(this.#ballast, "w");
    let chunk = 1 << 20;
    try {
      while (chunk >= 1) {
        try {
          if (writeSync(file, Buffer.alloc(chunk)) < chunk) chunk >>= 1;
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
          chunk >>= 1;
        }
      }
    } finally {
      closeSync(file);
    }
  }

  free(): void {
    if (this.#ballast !== undefined) rmSync(this.#ballast, { force: true });
  }

  dispose(): void {
    execFileSync("umount", ["-l", this.path], { stdio: "pipe" });
    rmSync(this.path, { recursive: true, force: true });
  }
}
