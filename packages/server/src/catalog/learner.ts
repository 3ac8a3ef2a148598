import type { System } from "../ports/system.js";
import type { LiveInstance } from "../registry/instance.js";
import type { CapabilityEntry, View } from "../registry/view.js";
import type { CardText } from "./card-features.js";
import type { Meaning } from "./meaning.js";
import { hashOf } from "./text.js";

/** So long it works at a stretch, ms, if a step is not longer: less than anybody notices who waits for the event loop. */
const STRETCH_MS = 0.5;
/** How long others have the event loop then, ms: while texts are asked, what is registered should be found soon. */
const PAUSE_MS = { asked: 1, unasked: 4 };
/**
 * A step that took longer than this, as some do among many thousands of cards, is followed by a pause a hundred times as long,
 * so that a p99 does not notice; but not by so long a one that new cards would wait for it.
 */
const LONG_STEP_MS = 1;
const PAUSE_AFTER_LONG = 100;
const PAUSE_MAX_MS = 500;
/** For so long after a text was asked another one is expected, ms. */
const ASKED_FOR_MS = 60_000;
/** Thresholds are set anew when nothing changed for so long, ms, or when much did. */
const SETTLE_AFTER_MS = 500;
/** Of one capability that many offer, the cards of so many are read, and so many texts. */
const OFFERS_READ_MAX = 100;
const TEXTS_MAX = 64;
/** Learnt anew from nothing when so many were forgotten for each one that is known, and never below this. */
const FORGOTTEN_PER_KNOWN = 1;
const FORGOTTEN_MIN = 1_000;

/**
 * Keeps the index of meaning in step with the registry, beside everything else: nobody's registration waits for it, and nobody's
 * question. Works in stretches; until it is through, the newest cards are not found by meaning.
 */
export class Learner {
  private readonly dirty = new Set<string>();
  private readonly namesOf = new WeakMap<LiveInstance, readonly string[]>();
  /** What was learnt of each, as a hash, so that an agent which only comes back costs nothing. */
  private readonly learnt = new Map<string, number>();
  /** What takes more than one stretch: lengths and thresholds. */
  private settling: Generator<void> | undefined;
  private unsettled = false;
  private changedAt = 0;
  private meaning: Meaning;
  private next: Meaning | undefined;
  private askedAt = Number.NEGATIVE_INFINITY;
  private disarm: (() => void) | undefined;

  constructor(
    private readonly view: View,
    private readonly newMeaning: () => Meaning,
    private readonly system: System,
  ) {
    this.meaning = newMeaning();
  }

  /** The index to ask now. */
  ask(): Meaning {
    this.askedAt = this.system.monotonic();
    return this.meaning;
  }

  /** Capabilities that are not learnt yet. */
  get waiting(): number {
    return this.dirty.size;
  }

  /** An instance came, changed or went. */
  changed(instance: LiveInstance): void {
    const names = instance.offers.map(({ capability }) => capability.name);
    for (const name of this.namesOf.get(instance) ?? []) this.dirty.add(name);
    for (const name of names) this.dirty.add(name);
    this.namesOf.set(instance, names);
    this.arm();
  }

  /** Learns everybody who is registered. */
  start(): void {
    for (const instance of this.view.instances.values()) this.changed(instance);
  }

  stop(): void {
    this.disarm?.();
    this.disarm = undefined;
  }

  private arm(delayMs = this.pauseMs()): void {
    this.disarm ??= this.system.after(delayMs, () => {
      this.disarm = undefined;
      const from = this.system.monotonic();
      const pauseMs = this.work(from);
      if (pauseMs === undefined) return;
      const tookMs = this.system.monotonic() - from;
      const longMs = tookMs > LONG_STEP_MS ? Math.min(PAUSE_MAX_MS, tookMs * PAUSE_AFTER_LONG) : 0;
      this.arm(Math.max(pauseMs, longMs));
    });
  }

  private pauseMs(): number {
    return this.system.monotonic() - this.askedAt < ASKED_FOR_MS ? PAUSE_MS.asked : PAUSE_MS.unasked;
  }

  /** One stretch; answers in how many ms to go on, undefined if nothing is left to do. */
  private work(from: number): number | undefined {
    for (let now = from; now < from + STRETCH_MS; now = this.system.monotonic()) {
      for (const name of this.dirty) {
        this.dirty.delete(name);
        this.learn(name);
        break;
      }
      if (this.dirty.size > 0) continue;
      if (this.next !== undefined) {
        this.meaning = this.next;
        this.next = undefined;
      }
      if (this.meaning.forgotten > FORGOTTEN_MIN + FORGOTTEN_PER_KNOWN * this.meaning.size) this.beginAnew();
      else if (this.settling === undefined) {
        if (!this.unsettled) return undefined;
        const restsMs = SETTLE_AFTER_MS - (now - this.changedAt);
        if (restsMs > 0 && !this.meaning.isStale) return restsMs;
        this.unsettled = false;
        this.settling = this.meaning.settle();
      } else if (this.settling.next().done === true) this.settling = undefined;
    }
    return this.pauseMs();
  }

  /** The index keeps a place for each card that it forgot; another one takes its place when it knows as much. */
  private beginAnew(): void {
    this.next = this.newMeaning();
    this.learnt.clear();
    for (const name of this.view.capabilities.keys()) this.dirty.add(name);
  }

  private learn(name: string): void {
    const entry = this.view.capabilities.get(name);
    const card = entry && cardTextOf(entry);
    if (card === undefined) {
      if (!this.learnt.delete(name)) return;
      this.meaning.remove(name);
      this.next?.remove(name);
    } else {
      const hash = hashOf(JSON.stringify(card));
      if (this.learnt.get(name) === hash) return;
      this.learnt.set(name, hash);
      (this.next ?? this.meaning).put(card);
    }
    this.unsettled = true;
    this.changedAt = this.system.monotonic();
  }
}

/** What all who offer it say of it. Undefined if nobody offers it. */
function cardTextOf({ name, offers, gone }: CapabilityEntry): CardText | undefined {
  if (offers.length + gone.length === 0) return undefined;
  const texts = new Set<string>();
  let operation: string | undefined;
  for (const { capability } of [...offers, ...gone].slice(0, OFFERS_READ_MAX)) {
    operation ??= capability.operation;
    if (capability.description !== undefined) texts.add(capability.description);
    for (const example of capability.examples ?? []) if (typeof example === "string") texts.add(example);
  }
  const [description, ...others] = texts;
  // In one order, whoever comes first: the same cards are not learnt twice.
  return { name, description, operation, examples: others.sort().slice(0, TEXTS_MAX) };
}
