import { openStaticEmbedder } from "@agent-reach/embedder-static";
import { beforeAll, describe, expect, test } from "vitest";
import { readLexicon } from "../engines/os/lexicon.js";
import type { CardText } from "./card-features.js";
import { Concepts } from "./concepts.js";
import { Meaning } from "./meaning.js";
import type { LocalEmbedder } from "./stages.js";

const cards: CardText[] = [
  {
    name: "order.list",
    description: "List the orders of a customer",
    operation: "list",
    examples: ["show me my orders", "which orders are open", "all orders of last week"],
  },
  {
    name: "order.cancel",
    description: "Cancel an order that has not been shipped",
    operation: "cancel",
    examples: ["cancel my order", "I don't want it any more, stop the order", "call off order 4711"],
  },
  {
    name: "order.address",
    description: "Change the delivery address of an order",
    operation: "update",
    examples: ["send it to another address", "change where my order goes", "wrong street on my order"],
  },
  {
    name: "refund.status",
    description: "查询退款进度",
    operation: "query",
    examples: ["我的退款到哪了", "退款什么时候到账", "钱退了没有"],
  },
  {
    name: "leave.request",
    description: "提交请假申请",
    operation: "submit",
    examples: ["我想请两天假", "下周一请病假", "帮我提个年假申请"],
  },
  {
    name: "weather",
    description: "Weather forecast for a place",
    operation: "query",
    examples: ["will it rain tomorrow", "how warm is it in Berlin", "do I need an umbrella"],
  },
];

let concepts: Concepts;
let embedder: LocalEmbedder;
beforeAll(async () => {
  concepts = new Concepts(readLexicon());
  embedder = await openStaticEmbedder();
});

function learnt(learn: readonly CardText[] = cards, thresholds = {}): Meaning {
  const meaning = new Meaning(concepts, embedder, thresholds);
  for (const card of learn) meaning.put(card);
  for (const _ of meaning.settle());
  return meaning;
}
const first = (meaning: Meaning, text: string): string | undefined => meaning.ask(text, 3).ranked[0]?.name;

describe("CAT-3: capabilities are found by what a text means", () => {
  test.each([
    ["could you list everything I have ordered", "order.list"],
    ["please deliver my parcel to my office instead", "order.address"],
    ["is there going to be snow on Friday", "weather"],
    ["退的钱还没收到，帮我看看", "refund.status"],
    ["明天不舒服，想休息一天", "leave.request"],
  ])("%s", (text, name) => {
    expect(first(learnt(), text)).toBe(name);
  });

  test.each([
    ["取消这个订单", "order.cancel"],
    ["明天会下雨吗", "weather"],
    ["has my refund been paid", "refund.status"],
    ["I'd like to take sick leave next Monday", "leave.request"],
  ])("in the other language: %s", (text, name) => {
    expect(first(learnt(), text)).toBe(name);
  });

  test("Traditional characters are the same as Simplified ones", () => {
    const meaning = learnt();
    expect(meaning.ask("我的退款什麼時候到帳", 3)).toEqual(meaning.ask("我的退款什么时候到帐", 3));
  });

  test("each stage's score is told, and they add up to the order", () => {
    const { ranked } = learnt().ask("cancel order 12", 6);
    expect(ranked).toHaveLength(6);
    for (const { parts, score } of ranked) {
      for (const part of Object.values(parts)) expect(part).toBeGreaterThanOrEqual(0);
      expect(score).toBeGreaterThanOrEqual(0);
    }
    expect(ranked.map(({ score }) => score)).toEqual(ranked.map(({ score }) => score).sort((a, b) => b - a));
  });
});

describe("CAT-7: operations count", () => {
  test.each([
    ["delete the order", "order.cancel"],
    ["don't cancel my order, just change its address", "order.address"],
    ["不要取消订单，只是改一下地址", "order.address"],
  ])("%s", (text, name) => {
    expect(first(learnt(), text)).toBe(name);
  });

  test("to delete never lands on to list, whatever else is there", () => {
    const only = learnt(cards.filter(({ name }) => name !== "order.cancel" && name !== "order.address"));
    const { verdict, ranked } = only.ask("delete the order", 3);
    expect(verdict === "match" && ranked[0]!.name === "order.list").toBe(false);
  });
});

describe("CAT-8: the catalog may say no", () => {
  test.each(["translate this contract into French", "给我讲个笑话", "what is the square root of 81", "🙂", ""])(
    "%j is served by nobody",
    (text) => {
      expect(learnt().ask(text, 3).verdict).toBe("no_match");
    },
  );

  test("nothing is found in an empty catalog", () => {
    expect(learnt([]).ask("cancel my order", 3)).toMatchObject({ verdict: "no_match", ranked: [], confidence: 0 });
  });

  test("two that say the same cannot be told apart", () => {
    const twin = { ...cards[5]!, name: "forecast" };
    expect(learnt([...cards, twin]).ask("will it snow tomorrow", 3).verdict).toBe("ambiguous");
  });

  test("thresholds that were set go before those that were learnt", () => {
    expect(learnt(cards, { acceptAt: 1 }).ask("cancel my order now", 3).verdict).toBe("no_match");
    expect(learnt(cards, { acceptAt: 0 }).ask("tell me about orders", 3).verdict).not.toBe("no_match");
    expect(learnt(cards, { tellApartAt: 1 }).ask("cancel my order now", 3).verdict).toBe("ambiguous");
  });

  test("only the named are asked where some are named", () => {
    const among = new Set(["weather", "refund.status"]);
    expect(
      learnt()
        .ask("cancel my order", 6, { among })
        .ranked.map(({ name }) => name)
        .sort(),
    ).toEqual([...among].sort());
  });
});

describe("cards that come, change and go", () => {
  test("are found at once, found anew and forgotten", () => {
    const meaning = learnt();
    meaning.put({ name: "invoice.print", description: "Print an invoice" });
    expect(first(meaning, "print the invoice")).toBe("invoice.print");
    meaning.put({ name: "invoice.print", description: "Paint a portrait" });
    expect(first(meaning, "paint a portrait of me")).toBe("invoice.print");
    meaning.remove("invoice.print");
    expect(meaning.rank("paint a portrait of me", 10).map(({ name }) => name)).not.toContain("invoice.print");
    expect(meaning.size).toBe(cards.length);
    expect(meaning.forgotten).toBe(2);
  });

  test("may come while it settles", () => {
    const meaning = learnt();
    let n = 0;
    for (const _ of meaning.settle()) if (n++ < 10) meaning.put({ name: `late-${n}`, description: `number ${n}` });
    expect(meaning.size).toBe(cards.length + 10);
    expect(first(meaning, "cancel my order")).toBe("order.cancel");
  });

  test("count their operations less where their own examples contradict these", () => {
    const things = ["invoice", "parcel", "contract", "ticket", "photo", "song", "recipe", "meeting"];
    const contrary = things.map((thing) => ({
      name: thing,
      description: `All about a ${thing}`,
      operation: "delete",
      examples: [`show me the ${thing}`, `list every ${thing}`, `where is my ${thing}`, `find the ${thing} of May`],
    }));
    const looking = things.map((thing) => ({
      ...contrary[0]!,
      name: `${thing}.seen`,
      operation: "list",
      examples: [],
    }));
    const meaning = new Meaning(concepts, embedder);
    for (const card of [...contrary, ...looking]) meaning.put(card);
    const factor = () =>
      meaning.rank("show me the invoice", 16).find(({ name }) => name === "invoice")!.parts.operation;
    const before = factor();
    for (const _ of meaning.settle());
    expect(before).toBeLessThan(0.8);
    expect(factor()).toBeGreaterThan(before);
    expect(factor()).toBeLessThan(1);
  });

  test("without an embedder letters, words and concepts find what they can", () => {
    const meaning = new Meaning(concepts, undefined);
    for (const card of cards) meaning.put(card);
    for (const _ of meaning.settle());
    expect(first(meaning, "cancel my order please")).toBe("order.cancel");
    expect(first(meaning, "取消订单")).toBe("order.cancel");
    expect(meaning.ask("paint a portrait", 3).verdict).toBe("no_match");
  });
});
