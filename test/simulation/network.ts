import type { Dial, Transport, TransportEvents } from "../../packages/sdk/src/transport.js";
import type { Connection } from "../../packages/server/src/gateway/sessions.js";
import type { Wire } from "../../packages/server/src/gateway/wire.js";
import type { Chance } from "./chance.js";
import type { Process } from "./process.js";
import type { World } from "./world.js";

/** How a host's link is at the moment. */
export interface Weather {
  /** Milliseconds that a frame travels, at least and at most. */
  minMs: number;
  maxMs: number;
  /** Bytes are taken no faster than this, per millisecond. */
  bytesPerMs: number;
  /** What is sent before this moment is held back until then, as by a path that is away for a while. */
  awayUntil: number;
  /** Nothing gets through, and nobody says so. */
  black: boolean;
}

export const FAIR: Weather = { minMs: 0.2, maxMs: 3, bytesPerMs: 100_000, awayUntil: 0, black: false };

type Frame =
  | { kind: "text"; text: string; bytes: number }
  | { kind: "ping" | "pong" }
  | { kind: "close"; code: number; reason: string }
  /** The other process has ended, or its socket was destroyed. */
  | { kind: "end" };

/** Who listens at an address. */
export interface Listener {
  readonly process: Process;
  accept(wire: Wire, from: string): Connection;
}

/** What is told of frames as they are sent and as they arrive. */
export interface Tap {
  sent(from: string, to: string, text: string, link: SimLink): void;
  arrived(from: string, to: string, text: string, link: SimLink): void;
}

/** A backlog that makes a reader count as behind. Small, since the messages of a simulation are. */
const BEHIND_BYTES = 4_096;
const CLOSE_TIMEOUT_MS = 30_000;

/** Everybody's connections to the one address there is. */
export class Network {
  listener: Listener | undefined;
  readonly links = new Set<SimLink>();
  readonly #weather = new Map<string, Weather>();

  constructor(
    readonly world: World,
    readonly chance: Chance,
    readonly tap: Tap,
  ) {}

  weatherOf(host: string): Weather {
    let weather = this.#weather.get(host);
    if (weather === undefined) {
      weather = { ...FAIR };
      this.#weather.set(host, weather);
    }
    return weather;
  }

  linksOf(host: string): SimLink[] {
    return [...this.links].filter((link) => link.host === host);
  }

  /** Opens connections for a client process. */
  dialFrom(process: Process, host: string): Dial {
    return (_url, events) => new SimLink(this, host, process, events).client;
  }

  travelMs(host: string): number {
    const { minMs, maxMs } = this.weatherOf(host);
    return this.chance.between(minMs, maxMs);
  }

  /** A process ended. Its kernel says so to whoever was connected, unless its whole host went. */
  ended(process: Process, silently: boolean): void {
    for (const link of [...this.links]) link.processEnded(process, silently);
  }
}

/** One direction of a connection: bytes stay in order, and each frame takes its time. */
class Line {
  /** Bytes that were sent and not read yet. */
  backlog = 0;
  /** Bytes vanish from now on, and nobody says so. */
  dead = false;
  #last = 0;

  constructor(
    private readonly network: Network,
    private readonly host: string,
    private readonly reader: () => Process | undefined,
    private readonly read: (frame: Frame) => void,
    /** The reader took the last of what waited. */
    private readonly drained: () => void,
  ) {}

  send(frame: Frame): void {
    const { world } = this.network;
    const weather = this.network.weatherOf(this.host);
    const bytes = frame.kind === "text" ? frame.bytes : 0;
    this.backlog += bytes;
    if (this.dead || weather.black) {
      // What was lost once is missing for good: nothing behind it can be read either.
      this.dead = true;
      return;
    }
    const at = Math.max(world.now + this.network.travelMs(this.host), weather.awayUntil, this.#last);
    this.#last = at + bytes / weather.bytesPerMs;
    world.at(this.#last, () => {
      if (this.dead) return;
      this.reader()?.enter(() => {
        this.backlog -= bytes;
        this.read(frame);
        if (bytes > 0 && this.backlog === 0) this.drained();
      });
    });
  }
}

/** One connection, from its dial on: the client's transport, and the wire of the node's session. */
export class SimLink {
  readonly client: Transport;
  /** What was delivered over it, by the id of the request. */
  readonly delivered = new Map<number, { messageId: string; attempt: number }>();
  /** The node's end, once it took the connection in. */
  connection: Connection | undefined;
  /** Which process of the node has it. */
  server: Process | undefined;
  #clientOpen = true;
  #serverOpen = false;
  readonly #up: Line;
  readonly #down: Line;
  readonly #wire: SimWire;

  constructor(
    private readonly network: Network,
    readonly host: string,
    readonly process: Process,
    private readonly events: TransportEvents,
  ) {
    this.#up = new Line(
      network,
      host,
      () => this.server,
      (frame) => this.#serverReads(frame),
      () => {},
    );
    this.#down = new Line(
      network,
      host,
      () => this.process,
      (frame) => this.#clientReads(frame),
      () => this.server?.enter(() => this.#serverOpen && this.connection?.drained()),
    );
    this.#wire = new SimWire(this, this.#down);
    const up = this.#up;
    this.client = {
      send: (text) => this.#clientSends(text),
      close: (code, reason) => this.#clientCloses(code, reason),
      get bufferedBytes() {
        return up.backlog;
      },
    };
    network.links.add(this);
    network.world.in(network.travelMs(host), () => this.#knock());
  }

  /** The dial arrives. */
  #knock(): void {
    const { network } = this;
    const { listener } = network;
    const silent = network.weatherOf(this.host).black || listener?.process.paused === true;
    // Nobody answers, not even that there is nobody: the client's patience ends it.
    if (silent || !this.#clientOpen || !this.process.alive) return void network.links.delete(this);
    if (listener === undefined || !listener.process.alive) {
      network.world.in(network.travelMs(this.host), () => this.#clientEnds(1006, "connection refused"));
      return;
    }
    this.server = listener.process;
    this.#serverOpen = true;
    this.connection = listener.accept(this.#wire, this.host);
    network.world.in(network.travelMs(this.host), () => {
      this.process.enter(() => {
        if (this.#clientOpen) this.events.opened();
      });
    });
  }

  // ── faults ────────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Both sides hear that it is over; what is under way is lost. */
  cut(): void {
    this.#up.dead = this.#down.dead = true;
    this.network.world.in(this.network.travelMs(this.host), () => this.#clientEnds(1006, "reset"));
    this.network.world.in(this.network.travelMs(this.host), () => this.#serverEnds(1006));
  }

  /** Bytes vanish, and nobody hears that. */
  halfOpen(up: boolean, down: boolean): void {
    this.#up.dead ||= up;
    this.#down.dead ||= down;
  }

  processEnded(process: Process, silently: boolean): void {
    if (process === this.process) {
      if (this.#clientOpen && !silently && this.#serverOpen) this.#up.send({ kind: "end" });
      this.#clientOpen = false;
      if (silently) this.#up.dead = this.#down.dead = true;
    } else if (process === this.server) {
      if (this.#serverOpen && !silently) this.#down.send({ kind: "end" });
      this.#serverOpen = false;
    } else return;
    if (!this.#clientOpen && !this.#serverOpen) this.network.links.delete(this);
  }

  // ── the client's side ─────────────────────────────────────────────────────────────────────────────────────────────

  #clientSends(text: string): void {
    if (!this.#clientOpen || this.connection === undefined) return;
    const { network } = this;
    network.tap.sent(this.process.name, "node", text, this);
    // Its host came back without knowing of this connection, and says so.
    if (!this.#serverOpen && network.listener !== undefined && !network.weatherOf(this.host).black) {
      network.world.in(2 * network.travelMs(this.host), () => this.#clientEnds(1006, "reset by the other host"));
    }
    this.#up.send({ kind: "text", text, bytes: text.length });
  }

  #clientCloses(code: number, reason: string): void {
    if (!this.#clientOpen) return;
    this.#clientOpen = false;
    this.#up.send({ kind: "close", code, reason });
    if (!this.#serverOpen) this.network.links.delete(this);
  }

  #clientReads(frame: Frame): void {
    if (!this.#clientOpen) return;
    switch (frame.kind) {
      case "text":
        this.network.tap.arrived("node", this.process.name, frame.text, this);
        return this.events.received(frame.text);
      case "ping":
        return this.#up.send({ kind: "pong" });
      case "close":
        // The library answers a close by itself.
        this.#up.send({ kind: "close", code: frame.code, reason: frame.reason });
        return this.#clientEnds(frame.code, frame.reason);
      case "end":
        return this.#clientEnds(1006, "ended");
      case "pong":
        return;
    }
  }

  #clientEnds(code: number, reason: string): void {
    this.process.enter(() => {
      if (!this.#clientOpen) return;
      this.#clientOpen = false;
      if (!this.#serverOpen) this.network.links.delete(this);
      this.events.closed(code, reason);
    });
  }

  // ── the node's side ───────────────────────────────────────────────────────────────────────────────────────────────

  get serverOpen(): boolean {
    return this.#serverOpen;
  }

  serverSends(frame: Frame): void {
    if (!this.#serverOpen) return;
    if (frame.kind === "text") this.network.tap.sent("node", this.process.name, frame.text, this);
    // As above: a client whose host came back knows nothing of this connection.
    if (!this.process.alive && !this.network.weatherOf(this.host).black) {
      this.network.world.in(2 * this.network.travelMs(this.host), () => this.#serverEnds(1006));
    }
    this.#down.send(frame);
    if (frame.kind === "close") this.network.world.in(CLOSE_TIMEOUT_MS, () => this.#serverEnds(1006));
  }

  /** Ended here, without a word. */
  serverDestroys(): void {
    this.#down.send({ kind: "end" });
    this.network.world.in(0, () => this.#serverEnds(1006));
  }

  #serverReads(frame: Frame): void {
    if (!this.#serverOpen) return;
    switch (frame.kind) {
      case "text":
        this.network.tap.arrived(this.process.name, "node", frame.text, this);
        return this.connection!.session.receive(Buffer.from(frame.text));
      case "ping":
        return;
      case "pong":
        return this.connection!.ponged();
      case "close":
        return this.#serverEnds(frame.code);
      case "end":
        return this.#serverEnds(1006);
    }
  }

  #serverEnds(code: number): void {
    this.server?.enter(() => {
      if (!this.#serverOpen) return;
      this.#serverOpen = false;
      if (!this.#clientOpen) this.network.links.delete(this);
      this.connection!.closed(code);
    });
  }
}

/** The writing half as the node's session sees it. */
class SimWire implements Wire {
  onWritten: () => void = () => {};
  isBehind = false;
  isClosing = false;

  constructor(
    private readonly link: SimLink,
    private readonly down: Line,
  ) {}

  get backlog(): number {
    return this.down.backlog;
  }

  send(text: string): void {
    if (this.isClosing || !this.link.serverOpen) return;
    this.link.serverSends({ kind: "text", text, bytes: text.length });
    this.isBehind = this.backlog > BEHIND_BYTES;
    this.onWritten();
  }

  ping(): void {
    if (!this.isClosing) this.link.serverSends({ kind: "ping" });
  }

  drained(): void {
    this.isBehind = false;
  }

  close(code: number, reason: string): void {
    if (this.isClosing) return;
    this.isClosing = true;
    this.link.serverSends({ kind: "close", code, reason });
  }

  destroy(): void {
    this.isClosing = true;
    this.link.serverDestroys();
  }
}
