import { browserDial } from "./browser-transport.js";
import { SharedChannels } from "./channel.js";
import { Client } from "./client.js";
import type { ClientHost, ClientOptions } from "./client-options.js";
import { uuidV7 } from "./ids.js";

export * from "./exports.js";

const encoder = new TextEncoder();

const host: ClientHost = {
  shared: new SharedChannels(),
  platform: {
    language: "typescript/browser",
    dial: browserDial,
    // Browsers have no context that follows promises yet; `ctx.log` carries it there.
    context: { run: (_, work, ...args) => work(...args), get: () => undefined },
    byteLength: (text) => encoder.encode(text).length,
    system: {
      now: () => Date.now(),
      monotonic: () => performance.now(),
      after: (delayMs, run) => {
        const timer = setTimeout(run, delayMs);
        return () => clearTimeout(timer);
      },
      newId: uuidV7(
        () => Date.now(),
        (pool) => crypto.getRandomValues(pool as Uint8Array<ArrayBuffer>),
      ),
      random: () => Math.random(),
    },
  },
};

/** The client for browsers. See `Client` for what it can do. */
export class AgentReachClient extends Client {
  constructor(options: ClientOptions) {
    super(options, host);
  }
}
