import { afterAll, afterEach } from "vitest";
import { type Handler, SocketAgent } from "./agents.js";
import type { ReachNode } from "./node.js";
import { type Json, Wire, type WireOptions } from "./wire.js";

/** The bare clients with which a file speaks to its node. They go with the test that opened them, or with the file. */
export interface Peers {
  /** A socket that said hello. */
  bare(options?: WireOptions): Promise<Wire>;
  /** An agent on a socket of its own; it gives back what comes in unless `handler` says otherwise. */
  join(card?: Json, handler?: Handler, identity?: { instanceId?: string; instanceKey?: string }): Promise<SocketAgent>;
  /** Whatever else was opened, to be cut with the rest. */
  keep<One extends { cut(): void }>(one: One): One;
}

export function usePeers(node: () => ReachNode, until: "test" | "file" = "test"): Peers {
  const open: { cut(): void }[] = [];
  const after = until === "test" ? afterEach : afterAll;
  after(() => {
    for (const one of open.splice(0)) one.cut();
  });
  const keep: Peers["keep"] = (one) => {
    open.push(one);
    return one;
  };
  return {
    bare: async (options) => keep(await Wire.open(node().url, options)),
    join: async (...who) => keep(await SocketAgent.join(node().url, ...who)),
    keep,
  };
}
