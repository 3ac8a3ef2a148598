import { AsyncLocalStorage } from "node:async_hooks";
import { randomFillSync } from "node:crypto";
import { SharedChannels } from "../channel.js";
import type { ClientHost } from "../client-options.js";
import { uuidV7 } from "../ids.js";
import type { Context } from "../platform.js";
import { wsDial } from "./ws-transport.js";

const storage = new AsyncLocalStorage<Context>();

/** Node's clock, sockets and context. */
export const nodeHost: ClientHost = {
  shared: new SharedChannels(),
  platform: {
    language: "typescript/node",
    dial: wsDial,
    context: {
      run: (context, work, ...args) => storage.run(context, work, ...args),
      get: () => storage.getStore(),
    },
    byteLength: (text) => Buffer.byteLength(text),
    system: {
      now: () => Date.now(),
      monotonic: () => performance.now(),
      after: (delayMs, run, hold = false) => {
        const timer = setTimeout(run, delayMs);
        if (!hold) timer.unref();
        return () => clearTimeout(timer);
      },
      newId: uuidV7(
        () => Date.now(),
        (pool) => randomFillSync(pool),
      ),
      random: () => Math.random(),
    },
  },
};

/** The same, for agents that never ask for the context and count microseconds: following promises costs about one. */
export const nodeHostWithoutContext: ClientHost = {
  ...nodeHost,
  platform: { ...nodeHost.platform, context: { run: (_, work, ...args) => work(...args), get: () => undefined } },
};
