import { afterAll, afterEach, beforeAll, expect } from "vitest";
import type { ReachNode } from "./node.js";
import { Wire } from "./wire.js";

/** A connection that sends nothing wrong: whatever the tests of a file do to the node, it is still served after each. */
export function useBystander(node: () => ReachNode): { comeBack(): Promise<void> } {
  let wire: Wire;
  const comeBack = async () => {
    wire = await Wire.open(node().url);
  };
  beforeAll(comeBack);
  afterEach(async () => {
    expect(await wire.request("ping")).toEqual({});
  });
  afterAll(() => wire?.cut());
  return { comeBack };
}
