import { afterEach, beforeEach, expect } from "vitest";
import { OpenAiChatChooser } from "../../packages/server/src/engines/choosers/openai-chat.js";
import type { OpenAiChatSettings } from "../../packages/server/src/engines/choosers/openai-chat-settings.js";
import type { Choice, Choosing } from "../../packages/server/src/ports/chooser.js";
import { secretKey } from "./api-server.js";
import { ChatServer } from "./chat-server.js";
import { FakeSystem, settle } from "./fake-system.js";
import { within } from "./within.js";

/** A short list, as the catalog makes one. */
export const orders: readonly Choice[] = [
  { name: "cancel_order", description: "Cancels an order", examples: ["stop my order", "取消订单"] },
  { name: "list_orders", description: "Lists all orders of a customer" },
  { name: "track_parcel" },
];

/** A language model's server and the node's client of it, on fake time, anew for each test. */
export class ChatBench {
  system!: FakeSystem;
  server!: ChatServer;
  warnings!: string[];
  #choosers!: OpenAiChatChooser[];

  async begin(): Promise<void> {
    this.system = new FakeSystem();
    this.server = await ChatServer.listen();
    this.warnings = [];
    this.#choosers = [];
  }

  open(change: Partial<OpenAiChatSettings> = {}): OpenAiChatChooser {
    const settings = { baseUrl: this.server.url, model: "small", key: secretKey, timeoutMs: 2_000, cacheMax: 100 };
    const { system, warnings } = this;
    const chooser = new OpenAiChatChooser(
      { ...settings, ...change },
      { system, warn: (text) => void warnings.push(text) },
    );
    this.#choosers.push(chooser);
    return chooser;
  }

  /** What an error of this chooser looks like. */
  failure(reason: string, message: RegExp, more: object = {}): unknown {
    return expect.objectContaining({
      code: "UNAVAILABLE",
      message: expect.stringMatching(message),
      details: { reason, chooser: `small at ${this.server.url}/v1/chat/completions` },
      ...more,
    });
  }

  /** The end of it, while time passes whenever it is waited for; so later attempts go out at once. */
  async ending(work: Promise<Choosing>): Promise<unknown> {
    const end = endingOf(work);
    let ended = false;
    void end.then(() => {
      ended = true;
    });
    const waiting = (async () => {
      while (!ended) {
        // The timer of the question's own time, and that of the wait before another attempt.
        if (this.system.pending > 1) await this.system.advanceAsync(this.system.nextInMs!);
        else await settle(1);
      }
      return end;
    })();
    return within(waiting, "the end");
  }

  async close(): Promise<void> {
    for (const chooser of this.#choosers) chooser.close();
    await this.server.close();
    expect(this.warnings.join()).not.toContain(secretKey);
  }
}

/** The choice, or the error, no part of which holds the key. */
export async function endingOf(work: Promise<Choosing>): Promise<unknown> {
  try {
    return await work;
  } catch (error) {
    expect(JSON.stringify([String(error), (error as Error).stack, error])).not.toContain(secretKey);
    return error;
  }
}

export function useChatBench(): ChatBench {
  const bench = new ChatBench();
  beforeEach(() => bench.begin());
  afterEach(() => bench.close());
  return bench;
}
