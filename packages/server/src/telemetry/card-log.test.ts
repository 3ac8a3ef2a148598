import { expect, test } from "vitest";
import { card, FakeRooms } from "../../../../test/kit/fake-rooms.js";
import type { LintWarning } from "../catalog/lint.js";
import { cardLog } from "./card-log.js";

test("REG-12: a capability has one line with who offers it, and the log is not filled with them", async () => {
  const rooms = await FakeRooms.open();
  for (const agentId of ["a1", "a2"]) await rooms.join(card(agentId, ["paint"]));
  await rooms.join(card("a1", ["paint"]));
  const entry = rooms.registry.view.capabilities.get("paint")!;
  const warning: LintWarning = {
    capability: "paint",
    rule: "nearDuplicate",
    path: "",
    message: "alike",
    other: "draw",
  };
  const lines: unknown[][] = [];
  const tell = cardLog({ warn: (...line: unknown[]) => void lines.push(line) }, 2);
  for (let n = 0; n < 5; n++) tell(entry, [warning, warning]);
  const line = [{ agents: ["a1", "a2"], warnings: ["alike", "alike"] }, "paint may not be found as it is meant"];
  expect(lines).toEqual([line, line, [expect.stringContaining("only agents.get says which")]]);
});
