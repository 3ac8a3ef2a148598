import type { System } from "../ports/system.js";
import type { LiveInstance } from "../registry/instance.js";
import type { View } from "../registry/view.js";
import { cardTextOf } from "./card-text.js";
import type { FineStage } from "./fine-stage.js";
import { Linter } from "./linter.js";
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
/** Learnt anew from nothing when so many were forgotten for each one that is known, and never below this. */
const FORGOTTEN_PER_KNOWN = 1;
const FORGOTTEN_MIN = 1_000;

/**
 * Keeps the index of meaning in step with the registry, beside everything else: nobody's registration waits for it, and nobody's
 * question. Works in stretches; until it is through, the newest cards are not found by meaning. Then it looks into what may be wrong
 * with them.
 */
export class Learner {
  private readonly dirty = new Set<string>();
  private readonly namesOf = new WeakMap<LiveInstance, readonly string[]>();
  /** What was learnt of each, as a hash, so that an agent which only comes back costs nothing. */
  private readonly learnt = new Map<string, number>();
  /** What is to be put into the next index though it did not change. */
  private readonly again = new Set<string>();
  /** Who was there when the node started, as long as they are not learnt. */
  private readonly loaded = new Set<string>();
  readonly linter: Linter;
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
    readonly system: System,
    /** Learns the same cards, at its own pace. */
    readonly fine: FineStage | undefined = undefined,
  ) {
    this.meaning = newMeaning();
    this.linter = new Linter(view, (text, limit) => this.meaning.rank(text, limit));
    if (fine === undefined) return;
    fine.onEmbedded = () => {
      this.unsettle();
      this.arm();
    };
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
    for (const name of this.dirty) this.loaded.add(name);
    this.fine?.start();
  }

  stop(): void {
    this.fine?.stop();
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
        if (!this.unsettled) {
          if (!this.linter.step()) return undefined;
          continue;
        }
        const restsMs = SETTLE_AFTER_MS - (now - this.changedAt);
        if (restsMs > 0 && !this.meaning.isStale) return restsMs;
        this.unsettled = false;
        this.settling = this.meaning.settle(this.fine?.passages);
      } else if (this.settling.next().done === true) this.settling = undefined;
    }
    return this.pauseMs();
  }

  /** The index keeps a place for each card that it forgot; another one takes its place when it knows as much. */
  private beginAnew(): void {
    this.next = this.newMeaning();
    for (const name of this.view.capabilities.keys()) {
      this.again.add(name);
      this.dirty.add(name);
    }
  }

  private learn(name: string): void {
    const again = this.again.delete(name);
    const isNews = !this.loaded.delete(name);
    const entry = this.view.capabilities.get(name);
    const card = entry && cardTextOf(entry);
    const hash = card && hashOf(JSON.stringify(card));
    const isChanged = this.learnt.get(name) !== hash;
    if (!isChanged && !again) return;
    if (card === undefined) {
      this.learnt.delete(name);
      this.meaning.remove(name);
      this.next?.remove(name);
      this.fine?.remove(name);
    } else {
      this.learnt.set(name, hash!);
      (this.next ?? this.meaning).put(card);
      this.fine?.put(card);
    }
    if (isChanged) this.linter.changed(name, card, isNews);
    this.unsettle();
  }

  private unsettle(): void {
    this.unsettled = true;
    this.changedAt = this.system.monotonic();
  }
}
