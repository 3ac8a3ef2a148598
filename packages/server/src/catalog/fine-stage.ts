import type { Embedder } from "../ports/embedder.js";
import type { System } from "../ports/system.js";
import { type CardText, textsOf } from "./card-features.js";
import { EVERYDAY } from "./everyday.js";
import { meanOf, type Nearness, Passages } from "./passages.js";
import { isChinese, simplify } from "./text.js";

export type ClosableEmbedder = Embedder & { close(): void };

export interface FineParts {
  /** Rejects when the embedder cannot be had now; it is asked again later. */
  open(signal: AbortSignal): Promise<ClosableEmbedder>;
  /** How long a request may wait for its own vector, ms. */
  waitMs: number;
  system: System;
  /** Hears, in a sentence, when it fails for the first time, and when it works again. */
  say: { warn(text: string): void; info(text: string): void };
}

/** How near a request is to what cards say, or in a few words why that cannot be told now. */
export type Finely = { near: Nearness; trouble?: undefined } | { near?: undefined; trouble: string };

/** What reads, while there is an embedder. */
interface Reader {
  readonly embedder: ClosableEmbedder;
  readonly passages: Passages;
}

/** After a failure nobody asks for so long, ms, twice as long after the next one, and so on. */
const REST_MS = 1_000;
const REST_MAX_MS = 30_000;
/** So many cards are embedded at once: some forty texts, so that a request need not wait for long behind them. */
const CARDS_AT_ONCE = 8;

/**
 * A better embedder than the index's own, for a second look at what that one found (CAT-4). It lives elsewhere and may be slow
 * or down: cards are embedded beside everything else, and whoever asks waits for one vector, for a bounded time.
 *
 *   put ──▶ waiting ──▶ embedded in the background ──▶ passages        read: a request's vector ──▶ nearness to passages
 *
 * F1  Nobody waits for it longer than `waitMs`, and after failures nobody waits at all for a while.
 * F2  Vectors of one embedder are compared only with its own; of another one under the same address, all is embedded anew.
 */
export class FineStage {
  private readonly texts = new Map<string, readonly string[]>();
  private readonly waiting = new Set<string>();
  private reader: Reader | undefined;
  private readonly stopped = new AbortController();
  private working = false;
  private disarm: (() => void) | undefined;
  /** In a row, of those who ask and of the background together. */
  private failures = 0;
  /** In a row, of what a card says. */
  private refusals = 0;
  private restsUntil = Number.NEGATIVE_INFINITY;
  private trouble = "it is not open yet";
  private cardsAtOnce = CARDS_AT_ONCE;
  private toldAt = 0;
  /** Called when all cards are embedded, or twice as many as at the last time: what is learnt from all may be learnt anew. */
  onEmbedded: () => void = () => {};

  constructor(private readonly parts: FineParts) {}

  /** Opens the embedder, and again until that succeeds. */
  start(): void {
    this.arm(0);
  }

  stop(): void {
    this.disarm?.();
    this.stopped.abort(new Error("the node stops"));
    this.close();
  }

  /** Of so many cards it knows nothing yet. */
  get behind(): number {
    return this.waiting.size;
  }

  /** The vectors of cards, while there is an embedder. */
  get passages(): Passages | undefined {
    return this.reader?.passages;
  }

  /** Learns a card, in place of the one of that name. */
  put(card: CardText): void {
    const texts = textsOf(card).map(simplify);
    const before = this.texts.get(card.name);
    if (before?.length === texts.length && before.every((text, i) => text === texts[i])) return;
    this.reader?.passages.remove(card.name);
    this.texts.set(card.name, texts);
    this.waiting.add(card.name);
    this.arm(this.restMs());
  }

  remove(name: string): void {
    this.texts.delete(name);
    this.waiting.delete(name);
    this.reader?.passages.remove(name);
  }

  /** Never rejects. `withinMs`: whoever asks has no longer. */
  async read(request: string, withinMs = Number.POSITIVE_INFINITY): Promise<Finely> {
    const { reader } = this;
    const text = simplify(request);
    if (reader === undefined || this.restMs() > 0) return { trouble: this.trouble };
    const chinese = isChinese(text);
    if (!reads(reader.embedder, chinese)) return { trouble: `it does not read ${chinese ? "zh" : "this language"}` };
    const waited = new AbortController();
    const { waitMs, system } = this.parts;
    const ms = Math.min(waitMs, Math.max(1, Math.round(withinMs)));
    const late = new Error(`no answer within ${ms} ms`);
    const disarm = system.after(ms, () => waited.abort(late));
    try {
      const [vector] = await reader.embedder.embed([text], { role: "query", signal: waited.signal });
      this.succeeded();
      return { near: reader.passages.nearness({ vector: vector!, chinese }) };
    } catch (error) {
      // That somebody is in a hurry is no fault of the server's.
      if (error === late && ms < waitMs) return { trouble: late.message };
      this.failed(error);
      return { trouble: this.trouble };
    } finally {
      disarm();
    }
  }

  private restMs(): number {
    return Math.max(0, this.restsUntil - this.parts.system.monotonic());
  }

  private arm(delayMs: number): void {
    if (this.working || this.stopped.signal.aborted) return;
    this.disarm ??= this.parts.system.after(delayMs, () => {
      this.disarm = undefined;
      void this.work();
    });
  }

  /** Embeds what waits, until nothing does or it fails. */
  private async work(): Promise<void> {
    this.working = true;
    try {
      this.reader ??= await this.open();
      while (this.waiting.size > 0) await this.embedSome(this.reader);
    } catch (error) {
      if (this.reader !== undefined && isOfText(error)) this.refused(error);
      else this.failed(error);
    }
    this.working = false;
    if (this.waiting.size === 0) this.refusals = 0;
    if (this.refusals > 0) this.arm(pauseAfter(this.refusals));
    else if (this.reader === undefined || this.waiting.size > 0) this.arm(this.restMs());
  }

  private async open(): Promise<Reader> {
    const { signal } = this.stopped;
    const embedder = await this.parts.open(signal);
    try {
      const both = [...EVERYDAY.map(([other]) => other), ...EVERYDAY.map(([, chinese]) => chinese)];
      const vectors = await embedder.embed(both, { signal });
      const [other, chinese] = [meanOf(vectors.slice(0, EVERYDAY.length)), meanOf(vectors.slice(EVERYDAY.length))];
      signal.throwIfAborted();
      for (const name of this.texts.keys()) this.waiting.add(name);
      this.succeeded();
      return { embedder, passages: new Passages({ other, chinese }) };
    } catch (error) {
      embedder.close();
      throw error;
    }
  }

  private async embedSome({ embedder, passages }: Reader): Promise<void> {
    const cards = [...take(this.waiting, this.cardsAtOnce)].map((name) => ({ name, texts: this.texts.get(name)! }));
    // It may change or go meanwhile.
    const isStill = ({ name, texts }: { name: string; texts: readonly string[] }) => this.texts.get(name) === texts;
    // What it cannot read would be near to anything else of its kind.
    const readable = (text: string): boolean => reads(embedder, isChinese(text));
    const read = cards.filter(({ texts }) => texts.every(readable));
    try {
      const flat = read.flatMap(({ texts }) => texts);
      const vectors = flat.length === 0 ? [] : await embedder.embed(flat, { signal: this.stopped.signal });
      let at = 0;
      for (const card of read) {
        const own = card.texts.map((text) => ({ vector: vectors[at++]!, chinese: isChinese(text) }));
        if (isStill(card)) passages.put(card.name, own);
      }
    } catch (error) {
      // One text that the server refuses must not hold up all others: alone, its card only holds up itself, at the line's end.
      this.cardsAtOnce = 1;
      for (const card of cards.filter(isStill)) {
        this.waiting.delete(card.name);
        this.waiting.add(card.name);
      }
      throw error;
    }
    for (const card of cards.filter(isStill)) this.waiting.delete(card.name);
    this.refusals = 0;
    this.succeeded();
    this.cardsAtOnce = Math.min(CARDS_AT_ONCE, this.cardsAtOnce * 2);
    if (this.waiting.size > 0 && passages.size < 2 * this.toldAt) return;
    this.toldAt = passages.size;
    this.onEmbedded();
  }

  private succeeded(): void {
    if (this.failures > 0) this.parts.say.info("the fine stage of finding by meaning works again");
    this.failures = 0;
  }

  /** The server takes requests, and not what one card says: only the background waits, and longer each time. */
  private refused({ message }: Error): void {
    this.refusals++;
    if (this.refusals === 2)
      this.parts.say.warn(
        `a card is left out of the fine stage of finding by meaning, which cannot take it: ${message}`,
      );
  }

  private failed(error: unknown): void {
    if (this.stopped.signal.aborted) return;
    const { details, retryAfterMs = 0 } = error as { details?: { reason?: string }; retryAfterMs?: number };
    const { message } = error as Error;
    // Callers hear the reason alone; where the server is they need not know.
    this.trouble = details?.reason ?? message;
    this.failures++;
    const rests = Math.min(REST_MAX_MS, Math.max(retryAfterMs, pauseAfter(this.failures)));
    this.restsUntil = this.parts.system.monotonic() + rests;
    if (this.failures === 1)
      this.parts.say.warn(
        `the fine stage of finding by meaning fails, and requests are ranked without it until it works again: ${message}`,
      );
    // Whatever answers there now may be another model: what is known of the former is worth nothing with it.
    if (details?.reason === "bad_answer") this.close();
    this.arm(rests);
  }

  private close(): void {
    this.reader?.embedder.close();
    this.reader = undefined;
  }
}

function pauseAfter(failures: number): number {
  return Math.min(REST_MAX_MS, REST_MS * 2 ** (failures - 1));
}

/** Whether it is the text that the server does not take. */
function isOfText(error: unknown): error is Error {
  const { details } = error as { details?: { reason?: string } };
  return details?.reason === "refused" || details?.reason === "zero_vector";
}

/** Of what is not Chinese the language is not known, so that any other that the embedder reads may be it. */
function reads({ languages }: Embedder, chinese: boolean): boolean {
  return languages.some((each) => each === "*" || /^zh\b/.test(each) === chinese);
}

function* take<T>(from: Iterable<T>, most: number): Generator<T> {
  let count = 0;
  for (const each of from) {
    if (count++ >= most) return;
    yield each;
  }
}
