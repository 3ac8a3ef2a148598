import { type Params, ReachError } from "@agent-reach/protocol";
import type { Rooms } from "./rooms.js";
import { Session, type SessionHost } from "./session.js";
import type { Wire } from "./wire.js";

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

/** One connection, told what the network says of it. */
export class Connection {
  missedPongs = 0;

  constructor(
    readonly session: Session,
    private readonly rooms: Rooms,
    private readonly over: (connection: Connection) => void,
  ) {}

  /** Whatever one connection can bring about, it ends at most itself. */
  receive(data: Buffer): void {
    try {
      this.session.receive(data);
    } catch (error) {
      this.rooms.onError(error);
      this.session.close(1011, "something went wrong on our side");
    }
  }

  /** The reader took everything. */
  drained(): void {
    this.session.caughtUp();
    for (const instance of this.session.instances.values()) this.rooms.onRoom(instance);
  }

  ponged(): void {
    this.missedPongs = 0;
  }

  closed(code: number): void {
    this.over(this);
    this.session.gone(`connection closed (${code})`);
  }
}

/** Takes connections in, says hello, pings, and keeps lost sessions for a while so that they can be resumed. */
export class Sessions implements SessionHost {
  private readonly open = new Set<Session>();
  private readonly byId = new Map<string, Session>();
  private readonly dormant = new Map<string, Dormant>();
  private readonly connections = new Set<Connection>();
  private stopPinging: (() => void) | undefined;
  /** Connections that ended in a way which no client that works right brings about: broken frames, resets. */
  broken = 0;

  constructor(private readonly rooms: Rooms) {
    this.pingAll();
  }

  get count(): number {
    return this.open.size;
  }

  /** A connection ends by broken frames or a reset. */
  brokenBy(error: unknown): void {
    this.broken++;
    this.rooms.onBroken(error);
  }

  mayResume(sessionId: string): boolean {
    return this.dormant.has(sessionId);
  }

  accept(wire: Wire): Connection {
    const { rooms } = this;
    const session = new Session(rooms, wire, this);
    const tooLate = rooms.system.after(rooms.settings.helloTimeoutMs, () => {
      if (!session.helloed) session.close(4008, "no hello in time");
    });
    const connection = new Connection(session, rooms, (gone) => {
      tooLate();
      this.connections.delete(gone);
    });
    this.connections.add(connection);
    this.open.add(session);
    return connection;
  }

  hello(session: Session, params: Params<"hello">): string {
    const { system, settings } = this.rooms;
    if (session.helloed) throw new ReachError("INVALID_REQUEST", "hello was said already.", { path: "method" });
    if (params.protocol !== PROTOCOL) {
      // In a microtask, since the answer is written before any runs.
      queueMicrotask(() => session.close(4000, "unknown protocol version"));
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
    if (known !== undefined) queueMicrotask(() => this.restore(session, known));
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
      // Not 4001: which of the two connections is the newer one, nobody here can know. A hello that was long on its way may
      // come when its client has long given it up and lives on the other, and then must be able to come back.
      live.close(4008, "its session was resumed over another connection");
      live.gone("resumed over another connection");
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

  closed(session: Session): void {
    const { system, settings, feed, notices } = this.rooms;
    this.open.delete(session);
    if (!session.helloed || this.byId.get(session.sessionId) !== session) return;
    this.byId.delete(session.sessionId);
    const watches = [...session.watches].map(([watchId, { agentId, capability }]) => ({
      watchId,
      agentId,
      capability,
    }));
    const forget = system.after(settings.resumeSec * 1000, () => {
      this.dormant.delete(session.sessionId);
      notices.abandoned(session.principals);
    });
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
