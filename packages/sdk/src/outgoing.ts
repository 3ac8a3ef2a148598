import type { ErrorBody } from "@agent-reach/protocol";
import type { Connection } from "./connection.js";
import { toRpc } from "./failure.js";

/** What is said to the node without waiting for an answer. Without a socket it is dropped, since it belongs to the one it answers. */
export class Outgoing {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** `result` is JSON text. */
  respond(id: number | string, result: string): void {
    this.#connection.write(
      `{"jsonrpc":"2.0","id":${typeof id === "number" ? id : JSON.stringify(id)},"result":${result}}`,
    );
  }

  /** `rpc` is the JSON-RPC number where it is not that of the code. */
  refuse(id: number | string, error: ErrorBody, rpc?: number): void {
    this.#connection.write(JSON.stringify({ jsonrpc: "2.0", id, error: toRpc(error, rpc) }));
  }

  notify(method: string, params: unknown): void {
    this.#connection.write(JSON.stringify({ jsonrpc: "2.0", method, params }));
  }
}
