import type { Connection, ConnectionListener } from "./connection.js";
import { failure, toError } from "./failure.js";

/** Resolves when a session stands; rejects when it never will, or not within `timeoutMs`. Keeps the process alive meanwhile. */
export function untilOnline(connection: Connection, timeoutMs: number | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (connection.online) return resolve();
    if (connection.ended) {
      return reject(toError(connection.lastError ?? failure("CANCELED", "the connection is closed")));
    }
    const release = connection.hold();
    let disarm = () => {};
    const end = (settle: () => void) => {
      connection.listeners.delete(listener);
      release();
      disarm();
      settle();
    };
    const listener: ConnectionListener = {
      changed: (state, error) => {
        const refused = error && (error.code === "UNAUTHENTICATED" || error.code === "FORBIDDEN");
        if (state === "online") end(resolve);
        else if (connection.ended || refused) end(() => reject(toError(error ?? failure("CANCELED", "closed"))));
      },
    };
    connection.listeners.add(listener);
    if (timeoutMs !== undefined) {
      const text = `no connection to ${connection.where} within ${timeoutMs} ms; is the node running?`;
      const late = () => end(() => reject(toError(failure("UNAVAILABLE", text))));
      disarm = connection.options.platform.system.after(timeoutMs, late);
    }
    connection.open();
  });
}
