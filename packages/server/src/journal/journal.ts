import type { JournalEvent } from "@agent-reach/protocol";
import type { Journal as JournalStore } from "../ports/journal.js";
import type { System } from "../ports/system.js";

/** Something that an event is about: an instance, as far as its address goes. */
export interface Addressed {
  readonly record: { readonly agentId: string; readonly instanceId: string };
}

/** One thing that happened. Kept as it is, and put into words only when somebody asks. */
interface Entry {
  readonly id: number;
  readonly at: number;
  readonly type: string;
  readonly log: MessageLog | undefined;
  readonly instance: Addressed | undefined;
  readonly attempt: number;
  /** Further fields, or something that makes them. */
  readonly detail: object | undefined;
}

/** Details that are put together only when they are read. */
export interface Described {
  describe(): Record<string, unknown>;
}

/** Everything that happened to one message. */
export class MessageLog {
  readonly entries: Entry[] = [];
  /** Whether it is kept on disk too: tasks always, calls when they fail. */
  durable = false;
  /** How many entries the store has. */
  flushed = 0;
  queued = false;

  constructor(
    readonly messageId: string,
    readonly traceId: string,
    readonly kind: "call" | "task",
    readonly capability: string,
    readonly parentId: string | undefined,
    readonly startedAt: number,
  ) {}
}

const FLUSH_MS = 250;
/** Events of the last moments, for those who subscribe and reconnect. */
const FEED_MAX = 20_000;
const TRIM_EVERY_MS = 60_000;
const STORED_MAX = 2_000_000;

/**
 * What happened: every message's events in a ring in memory, those of tasks and of failures on disk as well, written
 * behind. A crash may lose the last quarter of a second of it, and nothing is ever decided from it.
 */
export class Journal {
  private readonly byMessageId = new Map<string, MessageLog>();
  private readonly byTraceId = new Map<string, MessageLog[]>();
  private readonly ring: (MessageLog | undefined)[];
  private at = 0;
  private readonly feed: (Entry | undefined)[] = new Array(FEED_MAX);
  private lastId: number;
  private firstId: number;
  private dirty: MessageLog[] = [];
  private loose: Entry[] = [];
  private stopFlush: (() => void) | undefined;
  private stopTrim: (() => void) | undefined;
  private flushing: Promise<void> | undefined;
  private readonly listeners = new Set<(event: JournalEvent) => void>();

  constructor(
    private readonly store: JournalStore,
    private readonly system: System,
    private readonly nodeId: string,
    private readonly settings: { messagesMax: number; keepSec: number },
    private readonly onError: (error: unknown) => void,
  ) {
    this.ring = new Array(settings.messagesMax);
    this.lastId = this.firstId = Math.floor(system.now()) * 1000;
  }

  /** Ids go on above everything stored, also if the wall clock went back meanwhile. */
  async start(): Promise<void> {
    this.lastId = this.firstId = Math.max(this.lastId, await this.store.lastId());
    const trim = () => {
      this.stopTrim = this.system.after(TRIM_EVERY_MS, () => {
        this.store.trim(this.system.now() - this.settings.keepSec * 1000, STORED_MAX).catch(this.onError);
        trim();
      });
    };
    trim();
  }

  async stop(): Promise<void> {
    this.stopTrim?.();
    this.stopFlush?.();
    await this.flushing;
    await this.flush();
  }

  open(messageId: string, traceId: string, kind: "call" | "task", capability: string, parentId: string | undefined): MessageLog {
    const log = new MessageLog(messageId, traceId, kind, capability, parentId, this.system.now());
    const old = this.ring[this.at];
    if (old !== undefined) this.forget(old);
    this.ring[this.at] = log;
    this.at = (this.at + 1) % this.ring.length;
    this.byMessageId.set(messageId, log);
    const siblings = this.byTraceId.get(traceId);
    if (siblings === undefined) this.byTraceId.set(traceId, [log]);
    else siblings.push(log);
    return log;
  }

  find(messageId: string): MessageLog | undefined {
    return this.byMessageId.get(messageId);
  }

  add(log: MessageLog, type: string, instance?: Addressed, attempt = 0, detail?: object): void {
    const entry: Entry = { id: ++this.lastId, at: this.system.now(), type, log, instance, attempt, detail };
    log.entries.push(entry);
    this.feed[entry.id % FEED_MAX] = entry;
    if (log.durable) this.queue(log);
    if (this.listeners.size > 0) this.tell(entry);
  }

  /** Something that happened to no message: a lease, a breaker, the node itself. */
  note(type: string, instance?: Addressed, detail?: object): void {
    const entry: Entry = { id: ++this.lastId, at: this.system.now(), type, log: undefined, instance, attempt: 0, detail };
    this.feed[entry.id % FEED_MAX] = entry;
    this.loose.push(entry);
    this.arm();
    if (this.listeners.size > 0) this.tell(entry);
  }

  /** From now on this message's events go to disk, those so far included. */
  keep(log: MessageLog): void {
    log.durable = true;
    if (log.flushed < log.entries.length) this.queue(log);
  }

  /** Hears every event from now on; the returned function ends it. */
  listen(listener: (event: JournalEvent) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  async eventsOf(messageId: string): Promise<JournalEvent[]> {
    const log = this.byMessageId.get(messageId);
    const recent = log?.entries.map((e) => this.describe(e)) ?? [];
    if (log !== undefined && !log.durable) return recent;
    return merge(await this.store.byMessage(messageId), recent);
  }

  async eventsOfTrace(traceId: string): Promise<JournalEvent[]> {
    const recent = (this.byTraceId.get(traceId) ?? []).flatMap((log) => log.entries.map((e) => this.describe(e)));
    return merge(await this.store.byTrace(traceId), recent).sort((a, b) => a.id - b.id);
  }

  /** What is known of the messages of one trace, oldest first. */
  messagesOfTrace(traceId: string): readonly MessageLog[] {
    return this.byTraceId.get(traceId) ?? [];
  }

  /** Events after `id`. From memory where it reaches, else from the store, which has only those of tasks and failures. */
  async since(id: number, limit: number): Promise<{ events: JournalEvent[]; gap: boolean }> {
    const oldest = Math.max(this.firstId, this.lastId - FEED_MAX);
    if (id < oldest) return { ...(await this.store.since(id, limit)), gap: true };
    const events: JournalEvent[] = [];
    for (let next = id + 1; next <= this.lastId && events.length < limit; next++) {
      const entry = this.feed[next % FEED_MAX];
      if (entry !== undefined && entry.id === next) events.push(this.describe(entry));
    }
    return { events, gap: false };
  }

  private forget(old: MessageLog): void {
    if (this.byMessageId.get(old.messageId) === old) this.byMessageId.delete(old.messageId);
    const siblings = this.byTraceId.get(old.traceId);
    if (siblings === undefined) return;
    if (siblings.length <= 1) this.byTraceId.delete(old.traceId);
    else siblings.splice(siblings.indexOf(old), 1);
  }

  private queue(log: MessageLog): void {
    if (log.queued) return;
    log.queued = true;
    this.dirty.push(log);
    this.arm();
  }

  private arm(): void {
    this.stopFlush ??= this.system.after(FLUSH_MS, () => {
      this.stopFlush = undefined;
      this.flushing = this.flush();
    });
  }

  private async flush(): Promise<void> {
    const logs = this.dirty;
    const loose = this.loose;
    this.dirty = [];
    this.loose = [];
    const events: JournalEvent[] = loose.map((e) => this.describe(e));
    for (const log of logs) {
      log.queued = false;
      for (let i = log.flushed; i < log.entries.length; i++) events.push(this.describe(log.entries[i]!));
      log.flushed = log.entries.length;
    }
    if (events.length === 0) return;
    try {
      await this.store.append(events);
    } catch (error) {
      // The disk may be full: what happened is then in memory only, which is what a journal may lose.
      this.onError(error);
    }
  }

  private tell(entry: Entry): void {
    const event = this.describe(entry);
    for (const listener of this.listeners) listener(event);
  }

  private describe(entry: Entry): JournalEvent {
    const { log, instance, detail } = entry;
    const event: JournalEvent = { id: entry.id, at: new Date(entry.at).toISOString(), type: entry.type };
    if (log !== undefined) {
      event.messageId = log.messageId;
      event.traceId = log.traceId;
    }
    if (instance !== undefined) {
      event.agentId = instance.record.agentId;
      event.instanceId = instance.record.instanceId;
    }
    if (entry.attempt > 0) event.attempt = entry.attempt;
    event.node = this.nodeId;
    if (detail === undefined) return event;
    return Object.assign(event, "describe" in detail ? (detail as Described).describe() : detail);
  }
}

/** Stored and remembered events of one message overlap; each once, in order. */
function merge(stored: JournalEvent[], recent: JournalEvent[]): JournalEvent[] {
  if (recent.length === 0) return stored;
  if (stored.length === 0) return recent;
  const byId = new Map<number, JournalEvent>();
  for (const event of stored) byId.set(event.id, event);
  for (const event of recent) byId.set(event.id, event);
  return [...byId.values()].sort((a, b) => a.id - b.id);
}
