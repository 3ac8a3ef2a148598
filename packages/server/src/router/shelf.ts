import type { Caller } from "../access/access.js";
import { type LogShelf, MessageLog } from "../journal/journal.js";
import type { Offer } from "../registry/instance.js";
import { type Considered, Decision } from "./decision.js";
import { hexOf, TRACE_LENGTH, UUID_LENGTH, uuidOf, wordsOf, writeHex, writeUuid } from "./id-words.js";
import { SettledCall } from "./settled.js";

/** Longest result that is put away, in characters; longer ones are bounded by their total size instead. */
const DATA_MAX = 1024;
const EVENTS_MAX = 32;
const DECISIONS_MAX = 3;
const ATTEMPT_MAX = 255;
const DISTANCE_MAX = 0x7fffffff;

const CHUNK_BYTES = 256 * 1024;
/** A record of the most events and candidates, with the longest texts in the widest encoding, fits in this. */
const RECORD_BYTES_MAX = 9 * 1024;

/** Where the parts of a record lie: doubles, counted in units of 8 bytes, then whole numbers in units of 4, then texts. */
const STARTED = 0;
const SETTLED = 1;
const LAST_EVENT = 2;
const MATCH = 3;
const ID = 8;
const TRACE = 12;
const PARENT = 16;
const FLAGS = 20;
const CONTENT_HASH = 21;
const TIMEOUT = 22;
const EVENTS = 23;
const DATA_BYTES = 24;
const RECEIPT_BYTES = 25;
const FIRST_REFERENCE = 26;
const BODY = 27;
const EVENT_WORDS = 3;
const DECISION_WORDS = 4;
const CANDIDATE_WORDS = 8;

const IS_CALL = 1;
const HAS_PARENT = 2;
const HAS_RECEIPT = 4;
const IS_DURABLE = 8;
/** Of an event. */
const WITH_INSTANCE = 1 << 16;
const WITH_DECISION = 1 << 17;
/** Of a decision. */
const FULL = 1;
const CHOSEN = 2;

/**
 * Objects that a record refers to, nearly all of which live longer than a call: offer, caller, capability, reasons,
 * request, and the offers that were looked at if there were several.
 */
const REFERENCES = 6;

type References = [
  offer: Offer | undefined,
  caller: Caller | undefined,
  capability: string,
  reasons: readonly string[] | undefined,
  request: Record<string, unknown> | undefined,
  looked: readonly Offer[] | undefined,
];

/** A piece of memory in which records lie one behind the other. Used again when the last of them is gone. */
class Chunk {
  private readonly buffer = new ArrayBuffer(CHUNK_BYTES);
  readonly bytes = Buffer.from(this.buffer);
  readonly words = new Int32Array(this.buffer);
  readonly doubles = new Float64Array(this.buffer);
  /** What the records refer to, each to `REFERENCES` of these. */
  references: unknown[] = [];
  end = 0;
  records = 0;
}

/**
 * Calls that went well, and tasks that are in nobody's hands, put away as bytes. Tens of thousands are remembered, and
 * hardly one is ever asked for again; as objects the garbage collector copies each twice and walks it for as long as it is
 * kept. Whatever is unusual about one keeps it from being put away, and it stays as the objects that it was.
 */
export class MessageShelf implements LogShelf {
  private readonly chunks: (Chunk | undefined)[];
  private readonly starts: Int32Array;
  private current = new Chunk();
  private readonly free: Chunk[] = [];
  private chunkCount = 1;
  /** Event types, verdicts and states by number: there are a few dozen. */
  private readonly names: string[] = [];

  constructor(slots: number) {
    this.chunks = new Array(slots);
    this.starts = new Int32Array(slots);
  }

  put(slot: number, log: MessageLog): boolean {
    const call = log.subject instanceof SettledCall ? log.subject : undefined;
    if (!(call === undefined ? isResting(log) : isPlain(call))) return false;
    const last = lastDecision(log);
    const offer = call?.offer ?? last?.chosen;
    const shape = shapeOf(log, last, offer);
    if (shape === UNUSUAL) return false;
    const chunk = this.chunkWithRoom();
    const { words, doubles } = chunk;
    const at = chunk.end >> 2;
    const double = at >> 1;
    doubles[double + STARTED] = log.startedAt;
    doubles[double + LAST_EVENT] = log.lastEvent;
    doubles[double + MATCH] = last?.considered[0]?.match ?? 0;
    writeUuid(words, at + ID, log.messageId);
    writeHex(words, at + TRACE, log.traceId);
    if (log.parentId !== undefined) writeUuid(words, at + PARENT, log.parentId);
    words[at + FLAGS] =
      (call === undefined ? 0 : IS_CALL) |
      (log.parentId === undefined ? 0 : HAS_PARENT) |
      (call?.receipt === undefined ? 0 : HAS_RECEIPT) |
      (log.durable ? IS_DURABLE : 0);
    words[at + EVENTS] = log.size;
    const end = this.writeEvents(words, at + BODY, log) << 2;
    chunk.end = ((call === undefined ? end : writeCall(chunk, at, call, end)) + 7) & ~7;
    words[at + FIRST_REFERENCE] = chunk.references.length;
    chunk.references.push(
      offer,
      call?.caller,
      log.capability,
      last?.reasons,
      last?.request,
      shape === ALONE ? undefined : looked(log),
    );
    this.chunks[slot] = chunk;
    this.starts[slot] = at;
    chunk.records++;
    return true;
  }

  /** Memory that was taken for records, in bytes. */
  get bytes(): number {
    return this.chunkCount * CHUNK_BYTES;
  }

  has(slot: number): boolean {
    return this.chunks[slot] !== undefined;
  }

  isOf(slot: number, messageId: string): boolean {
    return messageId.length === UUID_LENGTH && this.isAt(slot, ID, wordsOf(messageId.replaceAll("-", "")));
  }

  ofTrace(traceId: string): (slot: number) => boolean {
    if (traceId.length !== TRACE_LENGTH) return () => false;
    const wanted = wordsOf(traceId);
    return (slot) => this.isAt(slot, TRACE, wanted);
  }

  lastEvent(slot: number): number {
    return this.chunks[slot]!.doubles[(this.starts[slot]! >> 1) + LAST_EVENT]!;
  }

  clear(slot: number): void {
    const chunk = this.chunks[slot]!;
    this.chunks[slot] = undefined;
    if (--chunk.records === 0 && chunk !== this.current) this.reuse(chunk);
  }

  read(slot: number): MessageLog {
    const { words, doubles } = this.chunks[slot]!;
    const at = this.starts[slot]!;
    const [offer, caller, capability] = this.referencesOf(slot);
    const flags = words[at + FLAGS]!;
    const log = new MessageLog(
      uuidOf(words, at + ID),
      hexOf(words, at + TRACE),
      (flags & IS_CALL) === 0 ? "task" : "call",
      capability,
      (flags & HAS_PARENT) === 0 ? undefined : uuidOf(words, at + PARENT),
      doubles[(at >> 1) + STARTED]!,
    );
    const end = this.readEvents(slot, log) << 2;
    log.durable = (flags & IS_DURABLE) !== 0;
    log.flushed = log.durable ? log.size : 0;
    if ((flags & IS_CALL) !== 0) log.subject = readCall(this.chunks[slot]!, at, log, offer!, caller!, end);
    return log;
  }

  private chunkWithRoom(): Chunk {
    const { current } = this;
    if (current.end + RECORD_BYTES_MAX <= CHUNK_BYTES) return current;
    this.current = this.free.pop() ?? this.oneMore();
    if (current.records === 0) this.reuse(current);
    return this.current;
  }

  private oneMore(): Chunk {
    this.chunkCount++;
    return new Chunk();
  }

  private reuse(chunk: Chunk): void {
    chunk.end = 0;
    chunk.references = [];
    this.free.push(chunk);
  }

  private referencesOf(slot: number): References {
    const { references, words } = this.chunks[slot]!;
    const first = words[this.starts[slot]! + FIRST_REFERENCE]!;
    return references.slice(first, first + REFERENCES) as References;
  }

  private writeEvents(words: Int32Array, start: number, log: MessageLog): number {
    let next = start;
    for (let i = 0; i < log.size; i++) {
      const decision = log.detailAt(i) as Decision | undefined;
      words[next] =
        this.numberOf(log.typeAt(i)) |
        (log.attemptAt(i) << 8) |
        (log.instanceAt(i) === undefined ? 0 : WITH_INSTANCE) |
        (decision === undefined ? 0 : WITH_DECISION);
      words[next + 1] = log.lastEvent - log.idAt(i);
      words[next + 2] = log.sinceStartAt(i);
      next += EVENT_WORDS;
      if (decision !== undefined) next = this.writeDecision(words, next, decision);
    }
    return next;
  }

  private writeDecision(words: Int32Array, start: number, decision: Decision): number {
    words[start] = (decision.full ? FULL : 0) | (decision.chosen === undefined ? 0 : CHOSEN) | (decision.omitted << 8);
    words[start + 1] = decision.after;
    words[start + 2] = decision.took;
    words[start + 3] = decision.considered.length;
    let next = start + DECISION_WORDS;
    for (const c of decision.considered) {
      words[next] = this.numberOf(c.verdict) | (this.numberOf(c.state) << 8);
      words[next + 1] = c.score;
      words[next + 2] = c.p50 ?? -1;
      words[next + 3] = c.success ?? -1;
      words[next + 4] = c.load;
      words[next + 5] = c.health;
      words[next + 6] = c.running;
      words[next + 7] = c.queued;
      next += CANDIDATE_WORDS;
    }
    return next;
  }

  /** Adds the events to the log; answers where they end. */
  private readEvents(slot: number, log: MessageLog): number {
    const { words, doubles } = this.chunks[slot]!;
    const at = this.starts[slot]!;
    const references = this.referencesOf(slot);
    const [offer] = references;
    const others = references[5]?.values();
    let next = at + BODY;
    for (let i = 0; i < words[at + EVENTS]!; i++) {
      const shape = words[next]!;
      const id = doubles[(at >> 1) + LAST_EVENT]! - words[next + 1]!;
      const sinceStart = words[next + 2]!;
      next += EVENT_WORDS;
      let decision: Decision | undefined;
      if ((shape & WITH_DECISION) !== 0) {
        decision = this.readDecision(
          words,
          next,
          log,
          references,
          doubles[(at >> 1) + MATCH]!,
          (shape >> 8) & 0xff,
          () => others?.next().value ?? offer!,
        );
        next += DECISION_WORDS + decision.considered.length * CANDIDATE_WORDS;
      }
      const instance = (shape & WITH_INSTANCE) === 0 ? undefined : offer?.instance;
      log.add(id, sinceStart, this.names[shape & 0xff]!, instance, (shape >> 8) & 0xff, decision);
    }
    return next;
  }

  private readDecision(
    words: Int32Array,
    at: number,
    log: MessageLog,
    [offer, , , reasons, request]: References,
    match: number,
    attempt: number,
    nextOffer: () => Offer,
  ): Decision {
    const decision = new Decision(log, attempt, words[at + 1]!, request, reasons!);
    const shape = words[at]!;
    if ((shape & CHOSEN) !== 0) decision.chosen = offer;
    decision.full = (shape & FULL) !== 0;
    decision.omitted = shape >> 8;
    decision.took = words[at + 2]!;
    decision.considered = Array.from({ length: words[at + 3]! }, (_, i) =>
      this.readCandidate(words, at + DECISION_WORDS + i * CANDIDATE_WORDS, nextOffer(), match),
    );
    return decision;
  }

  private readCandidate(words: Int32Array, at: number, offer: Offer, match: number): Considered {
    const optional = (n: number): number | undefined => (n < 0 ? undefined : n);
    return {
      offer,
      verdict: this.names[words[at]! & 0xff] as Considered["verdict"],
      match,
      score: words[at + 1]!,
      p50: optional(words[at + 2]!),
      success: optional(words[at + 3]!),
      load: words[at + 4]!,
      health: words[at + 5]!,
      running: words[at + 6]!,
      queued: words[at + 7]!,
      state: this.names[(words[at]! >> 8) & 0xff] as Considered["state"],
    };
  }

  private isAt(slot: number, part: number, wanted: Int32Array): boolean {
    const { words } = this.chunks[slot]!;
    const at = this.starts[slot]! + part;
    return (
      words[at] === wanted[0] &&
      words[at + 1] === wanted[1] &&
      words[at + 2] === wanted[2] &&
      words[at + 3] === wanted[3]
    );
  }

  private numberOf(name: string): number {
    const known = this.names.indexOf(name);
    return known >= 0 ? known : this.names.push(name) - 1;
  }
}

/** After what events a task is in nobody's hands. */
const RESTING = new Set(["submitted", "waiting", "completed"]);

/** All that happened to it is on disk, and nobody is at it. */
function isResting(log: MessageLog): boolean {
  return log.kind === "task" && log.durable && log.flushed === log.size && RESTING.has(log.lastType!);
}

/** One attempt, which succeeded, with an answer of ordinary size and no other name. */
function isPlain({ log, alias, attempt, offer, data, receipt, timeoutMs, degraded }: SettledCall): boolean {
  return (
    attempt === 1 &&
    !degraded &&
    alias === undefined &&
    offer !== undefined &&
    data !== undefined &&
    data.length <= DATA_MAX &&
    (receipt === undefined || receipt.length <= DATA_MAX) &&
    timeoutMs <= DISTANCE_MAX &&
    !log.durable
  );
}

const UNUSUAL = 0;
/** Nobody was looked at but the one who got it. */
const ALONE = 1;
const SEVERAL = 2;

/**
 * Whether it can be put away: nothing but decisions, all upon the same request, among what its events tell, and nobody but
 * the chosen one in them.
 */
function shapeOf(log: MessageLog, last: Decision | undefined, offer: Offer | undefined): number {
  if (log.size > EVENTS_MAX || log.messageId.length !== UUID_LENGTH || log.traceId.length !== TRACE_LENGTH)
    return UNUSUAL;
  if (log.parentId !== undefined && log.parentId.length !== UUID_LENGTH) return UNUSUAL;
  // One that waited for weeks: distances in a record have 32 bits.
  if (log.lastEvent - log.idAt(0) > DISTANCE_MAX || log.sinceStartAt(log.size - 1) > DISTANCE_MAX) return UNUSUAL;
  let decisions = 0;
  let shape = ALONE;
  for (let i = 0; i < log.size; i++) {
    const instance = log.instanceAt(i);
    if ((instance !== undefined && instance !== offer?.instance) || log.attemptAt(i) > ATTEMPT_MAX) return UNUSUAL;
    const detail = log.detailAt(i);
    if (detail === undefined) continue;
    if (!(detail instanceof Decision) || detail.attempt !== log.attemptAt(i)) return UNUSUAL;
    if (detail.previous !== undefined || detail.probe || detail.panic) return UNUSUAL;
    if (detail.reasons !== last!.reasons || detail.request !== last!.request) return UNUSUAL;
    if (detail.chosen !== undefined && detail.chosen !== offer) return UNUSUAL;
    if (++decisions > DECISIONS_MAX) return UNUSUAL;
    for (const { offer: other, queued, p50 = 0 } of detail.considered) {
      // An agent may say of its queue what it likes, and take an hour.
      if (queued !== (queued | 0) || p50 > DISTANCE_MAX) return UNUSUAL;
      if (other !== offer) shape = SEVERAL;
    }
  }
  return shape;
}

function lastDecision(log: MessageLog): Decision | undefined {
  for (let i = log.size - 1; i >= 0; i--) {
    const detail = log.detailAt(i);
    if (detail instanceof Decision) return detail;
  }
  return undefined;
}

/** Whom the decisions looked at, one after another. */
function looked(log: MessageLog): Offer[] {
  const all: Offer[] = [];
  for (let i = 0; i < log.size; i++)
    for (const { offer } of (log.detailAt(i) as Decision | undefined)?.considered ?? []) all.push(offer);
  return all;
}

/** Writes what a call has besides its log, its texts from the byte `start` on; answers where they end. */
function writeCall({ words, doubles, bytes }: Chunk, at: number, call: SettledCall, start: number): number {
  doubles[(at >> 1) + SETTLED] = call.settledAt;
  words[at + CONTENT_HASH] = call.contentHash;
  words[at + TIMEOUT] = call.timeoutMs;
  const dataBytes = bytes.utf8Write(call.data!, start, DATA_MAX * 3);
  const receiptBytes = call.receipt === undefined ? 0 : bytes.utf8Write(call.receipt, start + dataBytes, DATA_MAX * 3);
  words[at + DATA_BYTES] = dataBytes;
  words[at + RECEIPT_BYTES] = receiptBytes;
  return start + dataBytes + receiptBytes;
}

function readCall(
  { words, doubles, bytes }: Chunk,
  at: number,
  log: MessageLog,
  offer: Offer,
  caller: Caller,
  start: number,
): SettledCall {
  const receiptStart = start + words[at + DATA_BYTES]!;
  const hasReceipt = (words[at + FLAGS]! & HAS_RECEIPT) !== 0;
  return new SettledCall(
    log,
    caller,
    words[at + CONTENT_HASH]!,
    undefined,
    1,
    words[at + TIMEOUT]!,
    offer,
    bytes.toString("utf8", start, receiptStart),
    hasReceipt ? bytes.toString("utf8", receiptStart, receiptStart + words[at + RECEIPT_BYTES]!) : undefined,
    undefined,
    doubles[(at >> 1) + SETTLED]!,
    false,
  );
}
