import type { ErrorBody, Hello } from "@agent-reach/protocol";
import type { Connection, ConnectionListener } from "./connection.js";
import { Ask } from "./pending.js";

/** What becomes of a handshake. */
export interface Handshake {
  /** Whether its socket is still the one that dials. */
  current(): boolean;
  /** The node knows nothing of the session before this one. */
  forgotten(): void;
  /** Everything was said that must be said before ordinary requests. */
  ready(): void;
  refused(error: ErrorBody): void;
}

/** From an opened socket to a session: hello, and then whatever each listener must say first (an agent registers). */
export function sayHello(connection: Connection, handshake: Handshake): void {
  const { token, client } = connection.options;
  const resume = connection.hello && { sessionId: connection.hello.sessionId };
  const answer = (hello: Hello) => {
    connection.hello = hello;
    if (!hello.resumed) handshake.forgotten();
    prepare(handshake, [...connection.listeners], 0);
  };
  const params = { protocol: "1", token, client, resume };
  connection.send(new Ask("hello", params, "socket", answer, (error) => handshake.refused(error)), undefined);
}

/** One listener after the other, each when the one before is done. */
function prepare(handshake: Handshake, listeners: readonly ConnectionListener[], at: number): void {
  if (!handshake.current()) return;
  const listener = listeners[at];
  const next = () => prepare(handshake, listeners, at + 1);
  if (!listener) handshake.ready();
  else if (listener.prepare) listener.prepare(next);
  else next();
}
