import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect } from "vitest";
import { type OpenAiEmbedder, openOpenAiEmbedder } from "../../packages/server/src/engines/embedders/openai.js";
import { type OpenAiSettings, openAiDefaults } from "../../packages/server/src/engines/embedders/openai-settings.js";
import { VectorCache } from "../../packages/server/src/engines/embedders/vector-cache.js";
import { secretKey } from "./api-server.js";
import { EmbeddingServer } from "./embedding-server.js";
import { FakeSystem, untilTimers } from "./fake-system.js";

export { answering, secretKey } from "./api-server.js";

/** A server of embeddings and the node's client of it, on fake time, anew for each test. */
export class EmbedderBench {
  system!: FakeSystem;
  server!: EmbeddingServer;
  warnings!: string[];
  #embedders!: OpenAiEmbedder[];
  #directory: string | undefined;
  #cache: VectorCache | undefined;

  async begin(): Promise<void> {
    this.system = new FakeSystem();
    this.server = await EmbeddingServer.listen();
    this.warnings = [];
    this.#embedders = [];
    this.#directory = undefined;
    this.#cache = undefined;
  }

  readonly warn = (text: string): void => {
    this.warnings.push(text);
  };

  /** What opening sent is forgotten, so that the server's lists begin with what the test asks. */
  async open(change: Partial<OpenAiSettings> = {}, cache?: VectorCache): Promise<OpenAiEmbedder> {
    const settings = {
      ...openAiDefaults,
      baseUrl: this.server.url,
      model: "letters",
      key: secretKey,
      timeoutMs: 5_000,
    };
    const { system, warn } = this;
    const embedder = await openOpenAiEmbedder({ ...settings, ...change }, { system, warn, cache });
    this.#embedders.push(embedder);
    this.server.texts.length = 0;
    this.server.requests.drain();
    return embedder;
  }

  /** An empty cache on disk, which the end of the test throws away. */
  async cache(): Promise<VectorCache> {
    this.#directory = mkdtempSync(join(tmpdir(), "agent-reach-embedder-"));
    const { system, warn } = this;
    this.#cache = await VectorCache.open(join(this.#directory, "embeddings.db"), { rowsMax: 1_000, system, warn });
    return this.#cache;
  }

  /** What an error of this embedder looks like. */
  failure(reason: string, message: RegExp, more: object = {}): unknown {
    return expect.objectContaining({
      code: "UNAVAILABLE",
      message: expect.stringMatching(message),
      details: { reason, embedder: `letters at ${this.server.url}/v1/embeddings` },
      ...more,
    });
  }

  untilTimers(count: number): Promise<void> {
    return untilTimers(this.system, count);
  }

  async close(): Promise<void> {
    for (const embedder of this.#embedders) embedder.close();
    await this.server.close();
    this.#cache?.close();
    if (this.#directory !== undefined) rmSync(this.#directory, { recursive: true, force: true });
    expect(this.warnings.join()).not.toContain(secretKey);
  }
}

/** Vectors, or the error, no part of which holds the key. */
export async function ending(work: Promise<Float32Array[]>): Promise<unknown> {
  try {
    return await work;
  } catch (error) {
    expect(JSON.stringify([String(error), (error as Error).stack, error])).not.toContain(secretKey);
    return error;
  }
}

export function useEmbedderBench(): EmbedderBench {
  const bench = new EmbedderBench();
  beforeEach(() => bench.begin());
  afterEach(() => bench.close());
  return bench;
}
