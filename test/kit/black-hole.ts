import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { Worker } from "node:worker_threads";

/** Listens with room for next to nobody, and then never takes anybody in. */
const listener = `
  const { createServer } = require("node:net");
  const { parentPort } = require("node:worker_threads");
  const server = createServer();
  server.listen({ port: 0, host: "127.0.0.1", backlog: 1 }, () => {
    parentPort.postMessage(server.address().port);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  });
`;
/** More than fit into the queue of such a listener. */
const CROWD = 8;

/**
 * An address at which connections neither come about nor are refused, as behind a firewall that drops packets: whoever listens
 * there has a queue that is full, and nobody empties it.
 */
export class BlackHole {
  private constructor(
    private readonly worker: Worker,
    private readonly crowd: readonly Socket[],
    readonly port: number,
  ) {}

  static async open(): Promise<BlackHole> {
    const worker = new Worker(listener, { eval: true });
    const [port] = (await once(worker, "message")) as [number];
    const crowd = Array.from({ length: CROWD }, () => connect(port, "127.0.0.1").on("error", () => {}));
    await Promise.race(crowd.map((socket) => once(socket, "connect")));
    return new BlackHole(worker, crowd, port);
  }

  async close(): Promise<void> {
    for (const socket of this.crowd) socket.destroy();
    await this.worker.terminate();
  }
}
