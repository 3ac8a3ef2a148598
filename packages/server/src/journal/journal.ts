import type { JournalEvent } from "@agent-reach/protocol";
import type { Journal as JournalStore } from "../ports/journal.js";
import type { System } from "../ports/system.js";
import { iso } from "../time/iso.js";
import { Recent, type Shelf } from "./recent.js";

/** Something that an event is about: an instance, as far as its address goes. */
export interface Addressed {
  readonly record: { readonly agentId: string; readonly instanceId: string };
}

/** Details that are put together only when they are read. */
export interface Described {
  describe(): Record<string, unknown>;
}

/** Values an event takes in a log: id, time, type, instance, attempt, detail. */
const STRIDE = 6;

/**
 * Everything that happened to one message. Events lie flat in one array, their ids and times as small distances from the
 * node's first id and from the message's arrival: some hundred bytes a call, since tens of thousands are kept.
 */
export class MessageLog {
  /** Where it stands among the newest messages. */
  slot = -1;
  /** How many of the events the store has. */
  flushed = 0;
  /** Whether it is kept on disk too: tasks always, calls when they fail. */
  durable = false;
  queued = false;
  progressReports = 0;
  progressBytes = 0;
  private readonly values: unknown[] = [];
  /** How many events there are; the methods below take their numbers from 0. */
  size = 0;
  /** The call itself, for as long as a repeated request may ask for it. */
  subject: object | undefined;

  constructor(
    readonly messageId: string,
    readonly traceId: string,
    readonly kind: "call" | "task",
    /** Of a call in words, the words until they are read. */
    public capability: string,
    readonly parentId: string | undefined,
    readonly startedAt: number,
  ) {}

  /** `id` and `sinceStartMs` are distances, from the journal's first id and from `startedAt`. */
  add(
    id: number,
    sinceStartMs: number,
    type: string,
    instance: Addressed | undefined,
    attempt: number,
    detail: object | undefined,
  ): void {
    this.values.push(id, sinceStartMs, type, instance, attempt, detail);
    this.size++;
  }

  idAt(event: number): number {
    return this.values[event * STRIDE] as number;
  }

  sinceStartAt(event: number): number {
    return this.values[event * STRIDE + 1] as number;
  }

  typeAt(event: number): string {
    return this.values[event * STRIDE + 2] as string;
  }

  instanceAt(event: number): Addressed | undefined {
    return this.values[event * STRIDE + 3] as Addressed | undefined;
  }

  attemptAt(event: number): number {
    return this.values[event * STRIDE + 4] as number;
  }

  detailAt(event: number): object | undefined {
    return this.values[event * STRIDE + 5] as object | undefined;
  }

  /** The newest event's id, 0 if there is none. */
  get lastEvent(): number {
    return this.size === 0 ? 0 : this.idAt(this.size - 1);
  }

  /** The newest event's type. */
  get lastType(): string | undefined {
    return this.size === 0 ? undefined : this.typeAt(this.size - 1);
  }

  /** The detail of the newest event of one of these types. */
  detailOf(types: readonly string[]): unknown {
    for (let i = this.size - 1; i >= 0; i--) if (types.includes(this.typeAt(i))) return this.detailAt(i);
    return undefined;
  }
}

/** Keeps messages that are over in less room, each in the place that it has among the newest. */
export interface LogShelf extends Shelf<MessageLog> {
  /** Of the one in this place, without taking it down. */
  lastEvent(slot: number): number;
  ofTrace(traceId: string): (slot: number) => boolean;
}

const FLUSH_MS = 250;
/**
 * Logs that are put into words in one go: a fraction of those that wait, at least so many and at most so many. The event loop
 * has its turn before the next: a call that comes meanwhile should wait for a millisecond of it and not for all of it, and on a
 * slow disk, where more wait, the steps grow.
 */
const FLUSH_FRACTION = 1 / 8;
const FLUSH_MIN = 24;
const FLUSH_MAX = 256;
/** Events of no message that are kept in memory. */
const NOTES_MAX = 1000;
const TRIM_EVERY_MS = 60_000;
/** Progress reports kept per message, and how much of their data in all. */
const PROGRESS_MAX = 1000;
const PROGRESS_BYTES_MAX = 1024 * 1024;
const STORED_MAX = 2_000_000;

/**
 * What happened: the newest messages' events in memory, those of tasks and of failures on disk as well, written
 * behind. A crash may lose the last quarter of a second of it, and nothing is ever decided from it.
 */
export class Journal {
  private readonly logs: Recent<MessageLog>;
  private lastId: number;
  private firstId: number;
  /** Events up to this id may have been in logs that are forgotten by now. */
  private forgottenId: number;
  private dirty: MessageLog[] = [];
  private notes: JournalEvent[] = [];
  private unsavedNotes: JournalEvent[] = [];
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
    private readonly shelf: LogShelf,
  ) {
    this.logs = new Recent(settings.messagesMax, shelf, (slot) => this.forget(slot));
    this.lastId = this.firstId = this.forgottenId = Math.floor(system.now()) * 1000;
  }

  /** Ids go on above everything stored, also if the wall clock went back meanwhile. */
  async start(): Promise<void> {
    this.lastId = this.firstId = this.forgottenId = Math.max(this.lastId, await this.store.lastId());
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

  open(
    messageId: string,
    traceId: string,
    kind: "call" | "task",
    capability: string,
    parentId: string | undefined,
  ): MessageLog {
    const log = new MessageLog(messageId, traceId, kind, capability, parentId, this.system.now());
    this.logs.add(log);
    return log;
  }

  find(messageId: string): MessageLog | undefined {
    return this.logs.get(messageId);
  }

  /** `at`: wall ms. */
  add(
    log: MessageLog,
    type: string,
    instance?: Addressed,
    attempt = 0,
    detail?: object,
    at: number = this.system.now(),
  ): void {
    const current = this.logs.current(log);
    current.add(++this.lastId - this.firstId, at - current.startedAt, type, instance, attempt, detail);
    if (current.durable) this.queue(current);
    if (this.listeners.size > 0) this.tell(this.describe(current, current.size - 1));
  }

  /** Puts away what is over, if it fits: from then on `find` gives another object, and what is added goes there. */
  shelve(log: MessageLog): boolean {
    return this.logs.shelve(log);
  }

  /** Progress of a message; of a flood of it, the first reports are kept, and of large ones that they came. */
  progress(log: MessageLog, instance: Addressed | undefined, attempt: number, detail: object, bytes = 0): void {
    if (++log.progressReports > PROGRESS_MAX) return;
    const fits = log.progressBytes + bytes <= PROGRESS_BYTES_MAX;
    if (fits) log.progressBytes += bytes;
    const kept = fits ? detail : { ...detail, data: undefined, omittedBytes: bytes };
    this.add(log, "progress", instance, attempt, kept);
  }

  /** Something that happened to no message: a lease, a breaker, the node itself. */
  note(type: string, instance?: Addressed, detail?: object): void {
    const event = this.event(++this.lastId, this.system.now(), type, instance, 0, detail);
    this.notes.push(event);
    if (this.notes.length > 2 * NOTES_MAX) {
      this.forgottenId = Math.max(this.forgottenId, this.notes[this.notes.length - NOTES_MAX - 1]!.id);
      this.notes = this.notes.slice(-NOTES_MAX);
    }
    this.unsavedNotes.push(event);
    this.arm();
    if (this.listeners.size > 0) this.tell(event);
  }

  /** From now on this message's events go to disk, those so far included. */
  keep(log: MessageLog): void {
    log.durable = true;
    if (log.flushed < log.size) this.queue(log);
  }

  /** Hears every event from now on; the returned function ends it. */
  listen(listener: (event: JournalEvent) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  async eventsOf(messageId: string): Promise<JournalEvent[]> {
    const log = this.logs.get(messageId);
    const recent = log === undefined ? [] : this.eventsIn(log);
    if (log !== undefined && !log.durable) return recent;
    return merge(await this.store.byMessage(messageId), recent);
  }

  async eventsOfTrace(traceId: string): Promise<JournalEvent[]> {
    const recent = this.messagesOfTrace(traceId).flatMap((log) => this.eventsIn(log));
    return merge(await this.store.byTrace(traceId), recent).sort((a, b) => a.id - b.id);
  }

  /** The remembered messages of one trace, oldest first. A walk over all of them: traces are asked for by people, messages come by the ten thousand. */
  messagesOfTrace(traceId: string): readonly MessageLog[] {
    return this.logs.select((log) => log.traceId === traceId, this.shelf.ofTrace(traceId));
  }

  /** Events after `id`. From memory where it reaches, else from the store, which has only those of tasks and failures. */
  async since(id: number, limit: number): Promise<{ events: JournalEvent[]; gap: boolean }> {
    if (id < this.forgottenId) return { ...(await this.store.since(id, limit)), gap: true };
    const events = this.notes.filter((e) => e.id > id);
    const after = id - this.firstId;
    const logs = this.logs.select(
      (log) => log.lastEvent > after,
      (slot) => this.shelf.lastEvent(slot) > after,
    );
    for (const log of logs) {
      for (let i = 0; i < log.size; i++) if (log.idAt(i) > after) events.push(this.describe(log, i));
    }
    return { events: events.sort((a, b) => a.id - b.id).slice(0, limit), gap: false };
  }

  private eventsIn(log: MessageLog): JournalEvent[] {
    const events: JournalEvent[] = [];
    for (let i = 0; i < log.size; i++) events.push(this.describe(log, i));
    return events;
  }

  private forget(slot: number): void {
    const last = this.logs.at(slot)?.lastEvent ?? this.shelf.lastEvent(slot);
    if (last > 0) this.forgottenId = Math.max(this.forgottenId, last + this.firstId);
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
    let events = this.unsavedNotes;
    this.unsavedNotes = [];
    do {
      const step = Math.max(FLUSH_MIN, Math.ceil(this.dirty.length * FLUSH_FRACTION));
      const logs = this.dirty.splice(0, Math.min(step, FLUSH_MAX));
      for (const log of logs) {
        log.queued = false;
        for (let i = log.flushed; i < log.size; i++) events.push(this.describe(log, i));
        log.flushed = log.size;
      }
      try {
        // The port wants ids to rise within a batch.
        if (events.length > 0) await this.store.append(events.sort((a, b) => a.id - b.id));
      } catch (error) {
        // The disk may be full: what happened is then in memory only, which is what a journal may lose.
        this.onError(error);
      }
      for (const log of logs) this.shelve(log);
      events = [];
    } while (this.dirty.length > 0);
  }

  private tell(event: JournalEvent): void {
    for (const listener of this.listeners) listener(event);
  }

  private describe(log: MessageLog, i: number): JournalEvent {
    const at = log.startedAt + log.sinceStartAt(i);
    const id = log.idAt(i) + this.firstId;
    return this.event(id, at, log.typeAt(i), log.instanceAt(i), log.attemptAt(i), log.detailAt(i), log);
  }

  private event(
    id: number,
    at: number,
    type: string,
    instance: Addressed | undefined,
    attempt: number,
    detail: object | undefined,
    log?: MessageLog,
  ): JournalEvent {
    // Written out: what is added to a spread copy costs microseconds.
    const time = iso(at);
    const event: JournalEvent =
      log === undefined
        ? { id, at: time, type, node: this.nodeId }
        : { id, at: time, type, node: this.nodeId, messageId: log.messageId, traceId: log.traceId };
    if (instance !== undefined) {
      event.agentId = instance.record.agentId;
      event.instanceId = instance.record.instanceId;
    }
    if (attempt > 0) event.attempt = attempt;
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
