import { describe, expect, it } from "vitest";
import { parseCards, parseFlawlessCards } from "./cards-file.js";

const read = (value: unknown) => parseCards(JSON.stringify(value), "cards.json");
const capability = { name: "track", description: "Where it is", examples: ["where is it", { not: "a sentence" }] };

describe("a file of cards", () => {
  it.each([
    ["one card", { agentId: "a", capabilities: [capability] }, "capabilities[0]"],
    ["cards", [{ agentId: "a", capabilities: [capability] }], "[0].capabilities[0]"],
    ["bare capabilities", [capability], "[0]"],
    ["one capability", capability, ""],
    [
      "agents as `agents --json` prints them",
      { agents: [{ agentId: "a", card: { agentId: "a", capabilities: [capability] } }] },
      "agents[0].card.capabilities[0]",
    ],
    [
      "another spelling",
      [{ agent_id: "a", capabilities: [{ id: "track", semantic: "Where it is", examples: ["where is it"] }] }],
      "[0].capabilities[0]",
    ],
  ])("may be %s", (_what, value, place) => {
    const { cards, places, errors } = read(value);
    expect(errors).toEqual([]);
    expect(cards).toMatchObject([{ name: "track", description: "Where it is", examples: ["where is it"] }]);
    expect(places.get("track")).toEqual([place]);
  });

  it("joins what several agents say of one capability", () => {
    const { cards, places } = read([
      { agentId: "a", capabilities: [{ name: "track", examples: ["one", "two"] }] },
      { agentId: "b", capabilities: [{ name: "track", description: "Where", examples: ["two", "three"] }] },
    ]);
    expect(cards).toMatchObject([{ name: "track", description: "Where", examples: ["one", "two", "three"] }]);
    expect(places.get("track")).toHaveLength(2);
  });

  it("is read as far as it can be, each mistake with its path and rule", () => {
    const { cards, errors } = read([
      { agentId: "a b", capabilities: [{ name: "" }, { name: "x", tags: "no" }, { name: "fine" }] },
      { name: 3 },
      4,
      { agentId: "twice", capabilities: [{ name: "a" }, { name: "a" }] },
      { agentId: "none", maxConcurrentTasks: 0 },
    ]);
    expect(cards.map(({ name }) => name)).toEqual(["fine", "a"]);
    expect(errors.map(({ field, rule }) => `${field} ${rule}`)).toEqual([
      "[0].capabilities[0].name minLength",
      "[0].capabilities[1].tags type",
      "[0].agentId pattern",
      "[1].name type",
      "[2] type",
      "[3].capabilities[1].name unique",
      "[4].maxConcurrentTasks minimum",
    ]);
    for (const { file, field, message } of errors) {
      expect(file).toBe("cards.json");
      expect(message.startsWith(field)).toBe(true);
    }
  });

  it("without a single capability or with a mistake is no catalog", () => {
    expect(() => parseFlawlessCards("[]", "cards.json")).toThrow("cards.json has no capability");
    expect(() => parseFlawlessCards('[{"name":3}]', "cards.json")).toThrow("cards.json: [0].name must be a string");
    expect(() => parseFlawlessCards("{", "cards.json")).toThrow("cards.json is not JSON");
  });
});
