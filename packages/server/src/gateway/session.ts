import { type Params, ReachError } from "@agent-reach/protocol";
import { ANONYMOUS, type Caller, TENANT } from "../access/access.js";
import { HashTable } from "../collections/hash-table.js";
import { Spans, scan } from "../json/raw.js";
import type { Receiver } from "../ports/delivery.js";
import type { LiveInstance } from "../registry/instance.js";
import { errorOf, textOf } from "../router/agent-error.js";
import type { Reply } from "../router/message.js";
import { oversize } from "../router/result-size.js";
import { HeldAnswers } from "./held-answers.js";
import { SocketLink } from "./link.js";
import type { RawParams } from "./messages.js";
import { handlers } from "./methods.js";
import type { Rooms } from "./rooms.js";
import { isMethod } from "./validate.js";
import type { Wire } from "./wire.js";

const NESTING_MAX = 64;

/** Leases last seconds, so what arrives within the same moment need not renew them all again. */
const RENEWAL_MS = 20;
/** How long a reader may be far behind. */
const SLOW_MS = 10_000;
/** How long a slow reader may take to read up to why it is closed. */
const SLOW_CLOSE_MS = 30_000;

/** Who took the session in: knows which sessions there were. */
export interface SessionHost {
  /** Answers `hello`, as JSON text. */
  hello(session: Session, params: Params<"hello">): string;
  closed(session: Session): void;
}

/** Waits for the answer to something that is no delivery. */
export class Acknowledgement {
  constructor(
    readonly messageId: string,
    readonly answered: () => void,
  ) {}
}

// One scan at a time on one thread: the spans are read before the next message comes.
const top = new Spans();
const inner = new Spans();

/**
 * One connection's protocol: frames in, frames out. It knows who is on the other side and what both sides still owe each
 * other; what the methods mean stands in `methods`.
 *
 * W1  Nothing but `hello` comes first.
 * W2  Each request is answered once, with its id as it was written.
 * W3  No answer leaves over this connection before every task result that came over it earlier is on disk, since the
 *     agent takes any answer as leave to forget those results.
 */
export class Session implements RawParams {
  sessionId = "";
  /** Names it answered to; the last is the current one. */
  readonly principals = new Set<string>();
  readonly instances = new Map<string, LiveInstance>();
  readonly link = new SocketLink(this);
  readonly watches = new Map<
    string,
    { stop: () => void; agentId?: string | undefined; capability?: string | undefined }
  >();
  closed = false;
  helloed = false;
  caller: Caller;
  private pending = new HashTable<number, Receiver | Acknowledgement>();
  private nextId = 1;
  private readonly answers: HeldAnswers;
  private renewedAt = Number.NEGATIVE_INFINITY;
  private stopSlowTimer: (() => void) | undefined;

  constructor(
    readonly rooms: Rooms,
    readonly socket: Wire,
    readonly host: SessionHost,
  ) {
    this.caller = this.callerNow();
    socket.onWritten = () => this.watchBacklog();
    this.answers = new HeldAnswers(
      rooms.system,
      (text) => this.write(text),
      () => this.request("ping", "{}", new Acknowledgement("", () => {})),
    );
  }

  get principal(): string {
    return this.caller.principal;
  }

  get unanswered(): number {
    return this.pending.size;
  }

  /** The session speaks for this instance from now on. */
  hold(instance: LiveInstance): void {
    this.instances.set(instance.record.instanceId, instance);
    const joined = this.principal;
    this.principals.add(instance.record.agentId);
    this.caller = this.callerNow(instance);
    // One that was closed while its registration was stored is nobody whom anything could be told.
    if (joined !== this.principal && !this.closed) this.rejoin();
  }

  /** Its name changed, so notices for that name find it. */
  private rejoin(): void {
    const { notices } = this.rooms;
    notices.leave(this.address);
    this.address = this.makeAddress();
    notices.join(this.address);
  }

  address = this.makeAddress();

  private makeAddress() {
    return {
      sessionId: this.sessionId,
      principal: this.caller?.principal ?? ANONYMOUS,
      notify: (taskJson: string, answered: () => void, messageId: string) => {
        this.request("task.update", taskJson, new Acknowledgement(messageId, answered));
      },
      progress: (json: string) => this.notify("progress", json),
      groupUpdate: (json: string) => this.notify("group.update", json),
    };
  }

  start(sessionId: string, principals: Iterable<string>): void {
    this.sessionId = sessionId;
    this.helloed = true;
    for (const principal of principals) this.principals.add(principal);
    this.caller = this.callerNow();
    this.address = this.makeAddress();
    this.rooms.notices.join(this.address);
  }

  private callerNow(instance?: LiveInstance): Caller {
    const names = this.principals;
    if (names.size === 0) names.add(ANONYMOUS);
    const source =
      instance === undefined ? {} : { agentId: instance.record.agentId, instanceId: instance.record.instanceId };
    return {
      tenant: TENANT,
      principal: instance?.record.agentId ?? ANONYMOUS,
      principals: names,
      operator: false,
      sessionId: this.sessionId,
      agentId: instance?.record.agentId,
      instanceId: instance?.record.instanceId,
      source,
      sourceJson: JSON.stringify(source),
    };
  }

  // ── in ────────────────────────────────────────────────────────────────────────────────────────────────────────────

  receive(data: Buffer): void {
    if (this.closed) return;
    const text = data.toString();
    const tooLarge = data.length > this.rooms.settings.messageBytes;
    scan(text, top, inner, data);
    const rawId = top.raw("id");
    if (tooLarge) return this.refuseSize(rawId, data.length);
    if (top.depth > NESTING_MAX) {
      const why = `the message nests ${top.depth} levels deep; ${NESTING_MAX} is the most.`;
      if (top.raw("method") === undefined) return this.unusable(rawId, "INVALID_ANSWER", why);
      return this.error(rawId ?? "null", new ReachError("INVALID_REQUEST", why));
    }
    let message: unknown;
    try {
      message = JSON.parse(text);
    } catch (cause) {
      const why = `not JSON: ${(cause as Error).message}.`;
      this.error("null", new ReachError("INVALID_REQUEST", why, { rpc: -32700 }));
      if (top.raw("method") === undefined) this.unusable(rawId, "INVALID_ANSWER", why);
      return;
    }
    if (message === null || typeof message !== "object" || Array.isArray(message)) {
      return this.error(
        "null",
        new ReachError("INVALID_REQUEST", "not a JSON-RPC 2.0 message: an object is needed; batches are not taken."),
      );
    }
    this.renew();
    const { id, method } = message as { id?: unknown; method?: unknown };
    const fine =
      (message as { jsonrpc?: unknown }).jsonrpc === "2.0" &&
      (id === undefined || id === null || typeof id === "string" || typeof id === "number");
    if (!fine) {
      return this.error(
        "null",
        new ReachError(
          "INVALID_REQUEST",
          'not a JSON-RPC 2.0 message: jsonrpc must be "2.0", and id a string or a number.',
          { path: "jsonrpc" },
        ),
      );
    }
    if (method === undefined) return this.answer(id, message as Record<string, unknown>);
    if (typeof method !== "string") {
      return this.error(
        rawId ?? "null",
        new ReachError("INVALID_REQUEST", "method must be a string.", { path: "method" }),
      );
    }
    this.dispatch(method, (message as { params?: unknown }).params, id === undefined ? undefined : (rawId ?? "null"));
  }

  private dispatch(method: string, params: unknown, rawId: string | undefined): void {
    if (!this.helloed && method !== "hello") {
      this.error(
        rawId ?? "null",
        new ReachError("INVALID_REQUEST", `the first message must be hello, not ${method}.`, { path: "method" }),
      );
      return this.close(4000, "hello must come first");
    }
    if (!isMethod(method) || handlers[method] === undefined) {
      if (rawId !== undefined)
        this.error(
          rawId,
          new ReachError("INVALID_REQUEST", `there is no method "${method}".`, { rpc: -32601, path: "method" }),
        );
      return;
    }
    const reply = new SessionReply(this, rawId);
    try {
      const done = handlers[method](this, params === undefined ? {} : params, reply);
      if (done !== undefined) done.catch((error: unknown) => reply.error(error as Error));
    } catch (error) {
      reply.error(error as Error);
    }
  }

  /** The raw text of one parameter of the message that is being handled; only until the handler returns or waits. */
  raw(key: string): string | undefined {
    return inner.raw(key);
  }

  text(): string {
    return top.raw("params") ?? "{}";
  }

  private answer(id: unknown, message: Record<string, unknown>): void {
    const waiting = typeof id === "number" ? this.pending.delete(id) : undefined;
    if (waiting === undefined) return;
    if (waiting instanceof Acknowledgement) return waiting.answered();
    const safe = hearAnswer(waiting, message, this.rooms.settings.inputBytes);
    if (safe !== undefined) this.answers.waitFor(safe);
  }

  private refuseSize(rawId: string | undefined, size: number): void {
    const max = this.rooms.settings.messageBytes;
    const error = new ReachError(
      "PAYLOAD_TOO_LARGE",
      `the message has ${size} bytes, over the limit of ${max}; store the payload somewhere and send a reference.`,
      {
        details: { bytes: size, bytesMax: max },
      },
    );
    const isAnswer = top.raw("method") === undefined;
    if (!isAnswer) return this.error(rawId ?? "null", error);
    this.unusable(rawId, "PAYLOAD_TOO_LARGE", error.message);
  }

  /**
   * The answer to `deliver` cannot be taken. That ends its own message only, and as one that was executed: left open it would
   * count as unacknowledged, and be done again and again with the same result.
   */
  private unusable(rawId: string | undefined, code: string, message: string): void {
    const waiting = this.pending.get(Number(rawId));
    if (waiting === undefined || waiting instanceof Acknowledgement) return;
    this.pending.delete(Number(rawId));
    const safe = waiting.failed({ code, message }, undefined);
    if (safe !== undefined) this.answers.waitFor(safe);
  }

  private renew(): void {
    if (this.instances.size === 0) return;
    const now = this.rooms.system.monotonic();
    if (now - this.renewedAt < RENEWAL_MS) return;
    this.renewedAt = now;
    this.rooms.registry.renewAll(this.instances.values());
  }

  // ── out ───────────────────────────────────────────────────────────────────────────────────────────────────────────

  request(method: string, paramsJson: string, waiting: Receiver | Acknowledgement): void {
    const id = this.nextId++;
    this.pending.set(id, waiting);
    this.socket.send(`{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${paramsJson}}`);
  }

  notify(method: string, paramsJson: string): void {
    this.write(`{"jsonrpc":"2.0","method":"${method}","params":${paramsJson}}`);
  }

  result(rawId: string, json: string): void {
    this.answers.send(`{"jsonrpc":"2.0","id":${rawId},"result":${json}}`);
  }

  error(rawId: string, error: Error): void {
    const reach = error instanceof ReachError ? error : this.internal(error);
    this.answers.send(`{"jsonrpc":"2.0","id":${rawId},"error":${JSON.stringify(reach.toRpc())}}`);
  }

  private internal(error: Error): ReachError {
    const id = this.rooms.system.newId();
    this.rooms.onError(Object.assign(error, { lookup: id }));
    return new ReachError("INTERNAL", `something went wrong on our side; look for ${id} in the node's log.`, {
      details: { id },
    });
  }

  private write(text: string): void {
    if (this.closed) return;
    this.socket.send(text);
  }

  /** A reader who is far behind gets no more work; one who stays so, or is very far behind, is closed (RES-5). */
  private watchBacklog(): void {
    const { backlog, isBehind, isClosing } = this.socket;
    if (isClosing) return;
    if (backlog > this.rooms.settings.slowReaderBytes) return this.closeSlow();
    if (isBehind) this.stopSlowTimer ??= this.rooms.system.after(SLOW_MS, () => this.closeSlow());
  }

  /** The reader took everything. */
  caughtUp(): void {
    this.socket.drained();
    this.stopSlowTimer?.();
    this.stopSlowTimer = undefined;
  }

  /** The session is over at once; its reason stands behind all that waits, and a merely slow reader gets the time to find it. */
  private closeSlow(): void {
    const reason = `you read too slowly: ${this.socket.backlog} bytes wait`;
    this.close(4009, reason);
    this.rooms.system.after(SLOW_CLOSE_MS, () => this.socket.destroy());
    this.gone(reason);
  }

  close(code: number, reason: string): void {
    this.socket.close(code, reason);
  }

  /** The socket is gone: whoever waits for something from here hears it. */
  gone(reason: string): void {
    if (this.closed) return;
    this.closed = true;
    this.caughtUp();
    this.answers.stop();
    const { registry, notices } = this.rooms;
    notices.leave(this.address);
    for (const watch of this.watches.values()) watch.stop();
    const instances = [...this.instances.values()];
    for (const instance of instances) registry.lost(instance, this.link, reason);
    const unheard = this.pending.all();
    this.pending = new HashTable();
    for (const waiting of unheard) if (!(waiting instanceof Acknowledgement)) waiting.lost();
    for (const instance of instances)
      if (instance.link === undefined) for (const attempt of [...instance.held]) attempt.lost();
    this.host.closed(this);
    // Now that it is known whether the session may come back.
    notices.forget(unheard.flatMap((w) => (w instanceof Acknowledgement ? [w.messageId] : [])));
  }
}

/** Where the answer of one request goes. */
class SessionReply implements Reply {
  constructor(
    private readonly session: Session,
    private readonly rawId: string | undefined,
  ) {}

  result(json: string): void {
    if (this.rawId !== undefined) this.session.result(this.rawId, json);
  }

  error(error: Error): void {
    if (this.rawId !== undefined) this.session.error(this.rawId, error);
  }

  progress(json: string): void {
    this.session.notify("progress", json);
  }
}

/** What an agent answered to `deliver`. */
function hearAnswer(
  receiver: Receiver,
  message: Record<string, unknown>,
  dataBytesMax: number,
): Promise<void> | undefined {
  const error = message["error"] as
    | { code?: unknown; message?: unknown; data?: { code?: unknown; retryAfterMs?: unknown } }
    | undefined;
  if (error !== undefined && error !== null) {
    const retryAfterMs = error.data?.retryAfterMs;
    receiver.refused(
      typeof error.data?.code === "string" ? error.data.code : textOf(error.code ?? "REFUSED"),
      typeof error.message === "string" ? error.message : "refused",
      typeof retryAfterMs === "number" && retryAfterMs >= 0 ? retryAfterMs : undefined,
    );
    return undefined;
  }
  const result = message["result"] as Record<string, unknown> | null | undefined;
  const receipt = inner.raw("receipt");
  switch (result?.["status"]) {
    case "accepted":
      receiver.accepted();
      return undefined;
    case "completed": {
      const data = inner.raw("data") ?? "null";
      const large = oversize(data, dataBytesMax);
      if (large !== undefined) return receiver.failed(large, receipt) ?? undefined;
      return receiver.completed(data, receipt, result["data"]) ?? undefined;
    }
    case "failed":
      return receiver.failed(errorOf(result["error"]), receipt) ?? undefined;
    default:
      return (
        receiver.failed(
          { code: "INVALID_ANSWER", message: "the agent answered deliver with neither accepted, completed nor failed" },
          undefined,
        ) ?? undefined
      );
  }
}
