import { createHash } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import type { ReachError } from "@agent-reach/protocol";
import type { Embedder, EmbedOptions } from "../../ports/embedder.js";
import type { System } from "../../ports/system.js";
import { Flight, type Flights, unlessAborted } from "../openai/flight.js";
import { embedderFailure } from "./embedder-failure.js";
import { type Lane, Lanes } from "./lanes.js";
import { readLanguages } from "./language-guard.js";
import { OpenAiEndpoint } from "./openai-endpoint.js";
import { checkOpenAiSettings, type OpenAiSettings, spaceId } from "./openai-settings.js";
import type { VectorCache } from "./vector-cache.js";

export interface OpenAiParts {
  system: System;
  /** Hears what an operator should know, in a sentence. */
  warn(text: string): void;
  /** Absent: nothing is kept. */
  cache?: VectorCache | undefined;
}

/**
 * What of a text counts, in bytes of UTF-8: some 350 tokens of English or Chinese. Common models read 512, and servers refuse
 * what is longer or cut it, each in its own way.
 */
const TEXT_BYTES_MAX = 1_500;
/** So many texts are looked up at a stretch (some 3 ms, most of it reading), then others may have the event loop. */
const STRETCH = 100;
/** The key of a text with nothing in it. */
const BLANK = "";
/** Embedded anew at every start: its vector tells the model's dimensions, and whether it is still the model it was. */
const CANARY = "The quick order confirmation went to the wrong address. 订单确认发错了地址。";
/** The same model gives the same text 0.9999 or more on any hardware; another one gives anything. */
const SAME_MODEL = 0.995;

/**
 * Embeds with any server that speaks OpenAI's `POST /v1/embeddings`. Equal texts are sent once, however many ask for them at
 * the same moment, and not at all if they are in the cache. Vectors are shared with others who asked: nobody may write to them.
 * A blank text is all zero and is not sent, since servers refuse it.
 */
export class OpenAiEmbedder implements Embedder {
  /** What was found of it in use; until then what the settings say. */
  languages: readonly string[];
  private readonly lanes: Lanes;
  private readonly flights: Record<Lane, Flights<Float32Array>> = { query: new Map(), passage: new Map() };
  private closed = false;

  constructor(
    readonly id: string,
    readonly dims: number,
    private readonly settings: OpenAiSettings,
    private readonly endpoint: OpenAiEndpoint,
    private readonly cache: VectorCache | undefined,
  ) {
    this.languages = settings.languages;
    this.lanes = new Lanes(settings.requestsMax);
  }

  /** Rejects with the signal's reason, or with UNAVAILABLE and `details.reason`. What was embedded until then is cached. */
  async embed(texts: readonly string[], { role = "passage", signal }: EmbedOptions = {}): Promise<Float32Array[]> {
    signal?.throwIfAborted();
    if (this.closed) throw this.closedFailure();
    const wish = new Wish(signal);
    try {
      const keys = await this.prepare(texts, role, wish);
      await wish.arrival();
      return texts.map((text) => {
        const key = keys.get(text)!;
        return key === BLANK ? new Float32Array(this.dims) : wish.vectors.get(key)!;
      });
    } finally {
      wish.end();
    }
  }

  close(): void {
    this.closed = true;
    for (const flights of Object.values(this.flights))
      for (const flight of new Set(flights.values())) flight.callOff(this.closedFailure());
    this.endpoint.close();
  }

  private closedFailure(): ReachError {
    return embedderFailure(this.endpoint.name, "closed", "was closed; ask again when the node has started");
  }

  /** Finds or sends for every text, and answers each one's key. */
  private async prepare(texts: readonly string[], role: Lane, wish: Wish): Promise<Map<string, string>> {
    const prefix = role === "query" ? this.settings.queryPrefix : this.settings.passagePrefix;
    const keys = new Map<string, string>();
    let batch = new Map<string, string>();
    for (const [i, text] of texts.entries()) {
      if (i % STRETCH === STRETCH - 1) {
        await setImmediate();
        wish.signal?.throwIfAborted();
      }
      if (keys.has(text)) continue;
      const plain = plainText(text);
      const sent = `${prefix}${plain}`;
      const key = plain === "" ? BLANK : keyOf(sent);
      keys.set(text, key);
      if (key === BLANK || wish.vectors.has(key) || batch.has(key)) continue;
      const flight = this.flights[role].get(key);
      const cached = flight === undefined ? this.cache?.get(this.id, key, this.dims) : undefined;
      if (cached !== undefined) wish.vectors.set(key, cached);
      else if (flight !== undefined) wish.join(flight);
      else batch.set(key, sent);
      if (batch.size === this.settings.batchSize) {
        wish.join(this.send(role, batch));
        batch = new Map();
      }
    }
    if (batch.size > 0) wish.join(this.send(role, batch));
    return keys;
  }

  private send(role: Lane, batch: ReadonlyMap<string, string>): Flight<Float32Array> {
    const [keys, texts] = [[...batch.keys()], [...batch.values()]];
    return new Flight(this.flights[role], keys, async (signal) => {
      const vectors = await this.lanes.run(role, signal, () => this.endpoint.embed(texts, signal, role === "query"));
      this.cache?.put(
        this.id,
        keys.map((key, i) => [key, vectors[i]!] as const),
      );
      return vectors;
    });
  }
}

/** What one caller of `embed` waits for. */
class Wish {
  readonly vectors = new Map<string, Float32Array>();
  private readonly flights = new Set<Flight<Float32Array>>();

  constructor(readonly signal: AbortSignal | undefined) {}

  join(flight: Flight<Float32Array>): void {
    if (this.flights.has(flight)) return;
    this.flights.add(flight);
    flight.join();
  }

  async arrival(): Promise<void> {
    const landed = Promise.all([...this.flights].map(({ answers }) => answers));
    for (const vectors of await unlessAborted(landed, this.signal))
      for (const [key, vector] of vectors) this.vectors.set(key, vector);
  }

  end(): void {
    for (const flight of this.flights) flight.leave();
  }
}

/** The beginning of a text, without what no tokeniser reads: control characters, halves of characters, blanks around. */
function plainText(text: string): string {
  // Cut roughly before the costly part, and never in the middle of a character after it.
  const plain = text
    .trimStart()
    .slice(0, TEXT_BYTES_MAX)
    .replace(/[\p{Cc}\p{Cs}]+/gu, " ")
    .trim();
  const bytes = Buffer.from(plain);
  if (bytes.length <= TEXT_BYTES_MAX) return plain;
  let end = TEXT_BYTES_MAX;
  while ((bytes[end]! & 0xc0) === 0x80) end--;
  return bytes.toString("utf8", 0, end).trim();
}

function keyOf(sent: string): string {
  return createHash("sha256").update(sent).digest("base64url").slice(0, 22);
}

/**
 * Asks the server for the vector of one known text, and for a few sentences of each language. Rejects when it does not
 * answer; whoever opens it then goes on without, and tries again later.
 */
export async function openOpenAiEmbedder(
  settings: OpenAiSettings,
  { system, warn, cache }: OpenAiParts,
  signal: AbortSignal = new AbortController().signal,
): Promise<OpenAiEmbedder> {
  checkOpenAiSettings(settings);
  const endpoint = new OpenAiEndpoint(settings, system);
  try {
    const [canary] = await endpoint.embed([CANARY], signal);
    const dims = canary!.length;
    const id = spaceId(settings, dims);
    if (cache !== undefined) sift(cache, id, canary!, (what) => warn(`the embedder ${endpoint.name} ${what}`));
    const embedder = new OpenAiEmbedder(id, dims, settings, endpoint, cache);
    const { read, unread } = await readLanguages(embedder, settings.languages, signal);
    embedder.languages = read;
    if (unread.length > 0)
      warn(
        `the embedder ${endpoint.name} gives unlike sentences of ${unread.join(", ")} (nearly) the same vector, so it is not asked for texts of that language; choose a multilingual model`,
      );
    return embedder;
  } catch (error) {
    endpoint.close();
    throw error;
  }
}

/** Has done with what another model gave, which answered to this name when the cache was written. */
function sift(cache: VectorCache, id: string, canary: Float32Array, warn: (what: string) => void): void {
  const key = keyOf(CANARY);
  const before = cache.get(id, key, canary.length);
  if (before !== undefined) {
    const cosine = canary.reduce((sum, x, i) => sum + x * before[i]!, 0);
    if (cosine > SAME_MODEL) return;
    cache.forget(id);
    warn(
      "is another model than when the cache was written, by the same name; cached vectors of the former are not used any more",
    );
  }
  cache.put(id, [[key, canary]]);
}
