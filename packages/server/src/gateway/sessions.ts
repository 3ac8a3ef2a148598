import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { type Params, ReachError } from "@agent-reach/protocol";
import { type WebSocket, WebSocketServer } from "ws";
import { checkHost, checkOrigin } from "../access/access.js";
import { handlers } from "./methods.js";
import type { Rooms } from "./rooms.js";
import { Session } from "./session.js";
import { Flusher, Socket } from "./socket.js";
import { check } from "./validate.js";

const PATH = "/registry";
const PROTOCOL = "1";
/** Lost sessions that wait for their client to come back; beyond, the oldest are forgotten. */
const DORMANT_MAX = 10_000;

/** What a session that lost its connection may come back to. */
interface Dormant {
  principals: string[];
  watches: { agentId?: string | undefined; capability?: string | undefined; watchId: string }[];
  revision: number;
  forget: () => void;
}

/** Accepts connections, says hello, pings, and keeps lost sessions for a while so that they can be resumed. */
export class Sessions {
  private readonly server: WebSocketServer;
  private readonly flusher = new Flusher();
  private readonly open = new Set<Session>();
  private readonly byId = new Map<string, Session>();
  private readonly dormant = new Map<string, Dormant>();
  private readonly connections = new Set<Connection>();
  private stopPinging: (() => void) | undefined;
  /** Connections that ended in a way which no client that works right brings about: broken frames, resets. */
  broken = 0;

  constructor(private readonly rooms: Rooms) {
    // Over twice the limit the connection ends with 1009; up to there the message is read, so that it can be answered.
    this.server = new WebSocketServer({
      noServer: true,
      maxPayload: rooms.settings.messageBytes * 2,
      perMessageDeflate: false,
      clientTracking: false,
    });
    this.pingAll();
  }

  get count(): number {
    return this.open.size;
  }

  mayResume(sessionId: string): boolean {
    return this.dormant.has(sessionId);
  }

  upgrade(request: IncomingMessage, stream: Duplex, head: Buffer): void {
    const { settings } = this.rooms;
    stream.on("error", () => stream.destroy());
    const path = (request.url ?? "").split("?")[0];
    const refusal =
      path !== PATH && path !== `${PATH}/`
        ? { status: "404 Not Found", why: `there is no socket at ${path}; connect to ${PATH}.` }
        : undefined;
    const badOrigin =
      checkOrigin(request.headers.origin, settings.allowedOrigins) ??
      checkHost(request.headers.host, settings.host, settings.allowedHosts);
    const refused = refusal ?? (badOrigin === undefined ? undefined : { status: "403 Forbidden", why: badOrigin });
    if (refused !== undefined) {
      const body = JSON.stringify(
        new ReachError(refusal === undefined ? "FORBIDDEN" : "NOT_FOUND", refused.why).toBody(),
      );
      stream.end(
        `HTTP/1.1 ${refused.status}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
      );
      return;
    }
    this.server.handleUpgrade(request, stream, head, (ws) => this.accept(ws, stream));
  }

  private accept(ws: WebSocket, stream: Duplex): void {
    const { rooms } = this;
    const session = new Session(rooms, new Socket(ws, stream, this.flusher), (gone) => this.closed(gone));
    const connection: Connection = { session, ws, missedPongs: 0 };
    this.connections.add(connection);
    this.open.add(session);
    const tooLate = rooms.system.after(rooms.settings.helloTimeoutMs, () => {
      if (!session.helloed) session.close(4008, "no hello in time");
    });
    ws.on("message", (data: Buffer, isBinary: boolean) => {
      if (isBinary) return session.close(1003, "binary frames are not taken");
      // Whatever one connection can bring about, it ends at most itself.
      try {
        session.receive(data);
      } catch (error) {
        rooms.onError(error);
        session.close(1011, "something went wrong on our side");
      }
    });
    stream.on("drain", () => {
      session.caughtUp();
      for (const instance of session.instances.values()) rooms.onRoom(instance);
    });
    ws.on("pong", () => {
      connection.missedPongs = 0;
    });
    // Broken frames and resets end in `close` too; this keeps them from ending the process.
    ws.on("error", (error) => {
      this.broken++;
      rooms.onBroken(error);
    });
    ws.on("close", (code: number) => {
      tooLate();
      this.connections.delete(connection);
      session.gone(`connection closed (${code})`);
    });
  }

  hello(session: Session, params: Params<"hello">): string {
    const { system, settings } = this.rooms;
    if (session.helloed) throw new ReachError("INVALID_REQUEST", "hello was said already.", { path: "method" });
    if (params.protocol !== PROTOCOL) {
      setImmediate(() => session.close(4000, "unknown protocol version"));
      throw new ReachError(
        "INVALID_REQUEST",
        `this node speaks protocol "${PROTOCOL}", not "${params.protocol}"; use a client of that major version.`,
        { path: "protocol" },
      );
    }
    const resumeId = params.resume?.sessionId;
    const known = resumeId === undefined ? undefined : this.claim(resumeId);
    const sessionId = known === undefined ? system.newSecret() : resumeId!;
    session.start(sessionId, known?.principals ?? []);
    this.byId.set(sessionId, session);
    if (known !== undefined) setImmediate(() => this.restore(session, known));
    return JSON.stringify({
      sessionId,
      nodeId: settings.nodeId,
      tenant: session.caller.tenant,
      resumed: known !== undefined,
      limits: {
        maxMessageBytes: settings.messageBytes,
        maxInputBytes: settings.inputBytes,
        resumeSec: settings.resumeSec,
      },
      pingIntervalMs: settings.pingIntervalMs,
      serverTime: new Date(system.now()).toISOString(),
    });
  }

  /** A dormant session, or one whose old connection has not been noticed as dead yet. */
  private claim(sessionId: string): Dormant | undefined {
    const live = this.byId.get(sessionId);
    if (live !== undefined) {
      live.close(4001, "resumed elsewhere");
      live.gone("resumed elsewhere");
    }
    const dormant = this.dormant.get(sessionId);
    dormant?.forget();
    this.dormant.delete(sessionId);
    return dormant;
  }

  /** Watches go on under their old ids, from where they stopped. */
  private restore(session: Session, { watches, revision }: Dormant): void {
    const { feed } = this.rooms;
    for (const { watchId, agentId, capability } of watches) {
      const hear = (event: object) => session.notify("event", JSON.stringify({ watchId, ...event }));
      try {
        session.watches.set(watchId, {
          stop: feed.watch(revision, { agentId, capability }, hear),
          agentId,
          capability,
        });
      } catch {
        session.notify(
          "event",
          JSON.stringify({
            watchId,
            type: "error",
            code: "REVISION_GONE",
            revision: feed.revision,
            at: new Date(this.rooms.system.now()).toISOString(),
          }),
        );
      }
    }
  }

  private closed(session: Session): void {
    const { system, settings, feed } = this.rooms;
    this.open.delete(session);
    if (!session.helloed || this.byId.get(session.sessionId) !== session) return;
    this.byId.delete(session.sessionId);
    const watches = [...session.watches].map(([watchId, { agentId, capability }]) => ({
      watchId,
      agentId,
      capability,
    }));
    const forget = system.after(settings.resumeSec * 1000, () => this.dormant.delete(session.sessionId));
    if (this.dormant.size >= DORMANT_MAX) this.forgetOldest();
    this.dormant.set(session.sessionId, {
      principals: [...session.principals],
      watches,
      revision: feed.revision,
      forget,
    });
  }

  private forgetOldest(): void {
    for (const [sessionId, { forget }] of this.dormant) {
      forget();
      this.dormant.delete(sessionId);
      return;
    }
  }

  private pingAll(): void {
    const { system, settings } = this.rooms;
    this.stopPinging = system.after(settings.pingIntervalMs, () => {
      for (const connection of this.connections) {
        // One that is over already has its own time to read why.
        if (connection.session.closed) continue;
        if (connection.missedPongs >= settings.missedPongsMax) {
          connection.session.close(4008, "no pong");
          connection.session.socket.destroy();
        } else {
          connection.missedPongs++;
          connection.session.socket.ping();
        }
      }
      this.pingAll();
    });
  }

  /** Everybody is told to go elsewhere. */
  close(): void {
    this.stopPinging?.();
    for (const { session } of this.connections) session.close(4010, "this node is stopping");
    for (const { forget } of this.dormant.values()) forget();
  }

  terminate(): void {
    for (const { session } of this.connections) session.socket.destroy();
  }
}

interface Connection {
  session: Session;
  ws: WebSocket;
  missedPongs: number;
}

/** `hello` needs the sessions, which the other methods do not. */
export function sayHello(sessions: Sessions): void {
  handlers.hello = (session, params, reply) => {
    try {
      check("hello", params);
    } catch (error) {
      setImmediate(() => session.close(4000, "bad hello"));
      throw error;
    }
    reply.result(sessions.hello(session, params as Params<"hello">));
    return undefined;
  };
}
