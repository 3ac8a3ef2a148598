import { Turns } from "../collections/turns.js";
import type { System } from "../ports/system.js";
import type { LiveInstance } from "../registry/instance.js";
import type { View } from "../registry/view.js";
import { cardTextOf } from "./card-text.js";
import type { FineStage } from "./fine-stage.js";
import { Linter } from "./linter.js";
import type { Answer, AskOptions, Meaning } from "./meaning.js";
import { inTurns, type Steps } from "./steps.js";
import { hashOf } from "./text.js";

/**
 * So long it works at a stretch, ms, if a step is not longer: less than anybody notices who waits for the event loop. Longer
 * where much waits, so that five hundred new cards a second are learnt as fast as they come.
 */
const STRETCH_MS = { few: 0.5, many: 2 };
const MANY_WAITING = 100;
/**
 * How long others have the event loop then, ms: longer if they need it, which shows in when a stretch begins so much after it was
 * due; but while texts are asked, what is registered should be found soon.
 */
const PAUSE_MS = { least: 1, busy: 4 };
const BUSY_MS = 1;
/**
 * A step towards new thresholds that took longer than this, as some do among many thousands of cards, is followed by a pause
 * twenty times as long before the next such step. New cards do not wait for that.
 */
const LONG_STEP_MS = 1;
const PAUSE_AFTER_LONG = 20;
const PAUSE_MAX_MS = 500;
/** Among so many capabilities a question takes milliseconds, and may be gone through in steps. */
const LARGE = 20_000;
/** For so long after a text was asked another one is expected, ms. */
const ASKED_FOR_MS = 60_000;
/** Thresholds are set anew when nothing changed for so long, ms, or when much did. */
const SETTLE_AFTER_MS = 500;
/** Learnt anew from nothing when so many were forgotten for each one that is known, and never below this. */
const FORGOTTEN_PER_KNOWN = 1;
const FORGOTTEN_MIN = 1_000;

/** An index, and what was learnt of each capability, as a hash: an agent which only comes back costs nothing. */
interface Shelf {
  readonly meaning: Meaning;
  readonly learnt: Map<string, number>;
}

/**
 * Keeps the index of meaning in step with the registry, beside everything else: nobody's registration waits for it, and nobody's
 * question. Works in stretches, what came last first; until it is through, some cards are not found by meaning. Then it looks into
 * what may be wrong with them.
 */
export class Learner {
  private readonly dirty = new Set<string>();
  /** The same, the latest at the end; what was learnt since it was put here is in the way, and passed over. */
  private readonly stack: string[] = [];
  private readonly namesOf = new WeakMap<LiveInstance, readonly string[]>();
  /** Who was there when the node started, as long as they are not learnt. */
  private readonly loaded = new Set<string>();
  readonly linter: Linter;
  private shelf: Shelf;
  private next: Shelf | undefined;
  /** What takes more than one stretch: lengths and thresholds. */
  private settling: Steps<void> | undefined;
  private unsettled = false;
  private changedAt = 0;
  private settleNextAt = 0;
  private readonly turns = new Turns();
  private askedAt = Number.NEGATIVE_INFINITY;
  /** Whether the event loop has much else to do. */
  private isBusy = false;
  private armed: { dueAt: number; disarm: () => void } | undefined;

  constructor(
    private readonly view: View,
    private readonly newMeaning: () => Meaning,
    readonly system: System,
    /** Learns the same cards, at its own pace. */
    readonly fine: FineStage | undefined = undefined,
    private readonly large = LARGE,
  ) {
    this.shelf = this.newShelf();
    this.linter = new Linter(view, (text, limit) => this.shelf.meaning.rank(text, limit));
    if (fine === undefined) return;
    fine.onEmbedded = () => {
      this.unsettle();
      this.arm(this.pauseMs());
    };
  }

  /** The index to ask now. */
  ask(): Meaning {
    this.askedAt = this.system.monotonic();
    return this.shelf.meaning;
  }

  /** Whether a question holds up the event loop for longer than others should notice. */
  get isLarge(): boolean {
    return this.shelf.meaning.size >= this.large;
  }

  /** Asks the index; a large one bit by bit, one question at a time. */
  read(text: string, limit: number, options: AskOptions): Promise<Answer> {
    if (!this.isLarge) return Promise.resolve(this.ask().ask(text, limit, options));
    return this.turns.run("read", () => inTurns(this.ask().asking(text, limit, options), this.system));
  }

  /** Capabilities that are not learnt yet. */
  get waiting(): number {
    return this.dirty.size;
  }

  /** An instance came, changed or went. */
  changed(instance: LiveInstance): void {
    const names = instance.offers.map(({ capability }) => capability.name);
    for (const name of this.namesOf.get(instance) ?? []) this.mark(name);
    for (const name of names) this.mark(name);
    this.namesOf.set(instance, names);
    this.arm(this.pauseMs());
  }

  /** Learns everybody who is registered. */
  start(): void {
    for (const instance of this.view.instances.values()) this.changed(instance);
    for (const name of this.dirty) this.loaded.add(name);
    this.fine?.start();
  }

  stop(): void {
    this.fine?.stop();
    this.armed?.disarm();
    this.armed = undefined;
  }

  private mark(name: string): void {
    this.dirty.add(name);
    this.stack.push(name);
  }

  private latest(): string | undefined {
    for (;;) {
      const name = this.stack.pop();
      if (name === undefined || this.dirty.delete(name)) return name;
    }
  }

  /** Goes on in so many ms, or sooner if that was the plan. */
  private arm(delayMs: number): void {
    const dueAt = this.system.monotonic() + delayMs;
    if (this.armed !== undefined && this.armed.dueAt <= dueAt) return;
    this.armed?.disarm();
    const disarm = this.system.after(delayMs, () => {
      this.armed = undefined;
      const now = this.system.monotonic();
      this.isBusy = now - dueAt > BUSY_MS;
      const pauseMs = this.work(now);
      if (pauseMs !== undefined) this.arm(pauseMs);
    });
    this.armed = { dueAt, disarm };
  }

  private pauseMs(): number {
    const isAsked = this.system.monotonic() - this.askedAt < ASKED_FOR_MS;
    return this.isBusy && !isAsked ? PAUSE_MS.busy : PAUSE_MS.least;
  }

  /** One stretch; answers in how many ms to go on, undefined if nothing is left to do. */
  private work(from: number): number | undefined {
    const until = from + (this.waiting > MANY_WAITING ? STRETCH_MS.many : STRETCH_MS.few);
    for (let now = from; now < until; now = this.system.monotonic()) {
      const name = this.latest();
      if (name !== undefined) {
        this.learn(name);
        continue;
      }
      if (this.next !== undefined) {
        this.shelf = this.next;
        this.next = undefined;
        this.settling = undefined;
      }
      const { meaning } = this.shelf;
      if (meaning.forgotten > FORGOTTEN_MIN + FORGOTTEN_PER_KNOWN * meaning.size) this.beginAnew();
      else {
        const restsMs = this.settle(now);
        if (restsMs === undefined ? !this.linter.step() : restsMs > 0) return restsMs;
      }
    }
    return this.pauseMs();
  }

  /** One step towards lengths and thresholds; answers in how many ms the next one is due, undefined if none is. */
  private settle(now: number): number | undefined {
    const { meaning } = this.shelf;
    if (this.settling === undefined) {
      if (!this.unsettled) return undefined;
      const restsMs = SETTLE_AFTER_MS - (now - this.changedAt);
      if (restsMs > 0 && !meaning.isStale) return restsMs;
      this.unsettled = false;
      this.settling = meaning.settle(this.fine?.passages);
    } else if (this.settleNextAt <= now) {
      if (this.settling.next().done === true) this.settling = undefined;
      const end = this.system.monotonic();
      const tookMs = end - now;
      this.settleNextAt = tookMs > LONG_STEP_MS ? end + Math.min(PAUSE_MAX_MS, tookMs * PAUSE_AFTER_LONG) : end;
    }
    return Math.max(0, this.settleNextAt - now);
  }

  /** The index keeps a place for each card that it forgot; another one takes its place when it knows as much. */
  private beginAnew(): void {
    this.next = this.newShelf();
    for (const name of this.view.capabilities.keys()) this.mark(name);
  }

  private newShelf(): Shelf {
    return { meaning: this.newMeaning(), learnt: new Map() };
  }

  private learn(name: string): void {
    const isNews = !this.loaded.delete(name);
    const entry = this.view.capabilities.get(name);
    const card = entry && cardTextOf(entry);
    const hash = card && hashOf(JSON.stringify(card));
    if (this.shelf.learnt.get(name) !== hash) {
      if (card === undefined) this.fine?.remove(name);
      else this.fine?.put(card);
      this.linter.changed(name, card, isNews);
    }
    // What comes while another index is made goes into both.
    for (const shelf of this.next === undefined ? [this.shelf] : [this.shelf, this.next]) {
      const { meaning, learnt } = shelf;
      if (learnt.get(name) === hash) continue;
      if (card === undefined) {
        learnt.delete(name);
        meaning.remove(name);
      } else {
        learnt.set(name, hash!);
        meaning.put(card);
      }
      this.unsettle();
    }
  }

  private unsettle(): void {
    this.unsettled = true;
    this.changedAt = this.system.monotonic();
  }
}
