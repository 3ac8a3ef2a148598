import { describe, expect, test } from "vitest";
import { readLexicon } from "../engines/os/lexicon.js";
import { Concepts } from "./concepts.js";
import { normalise } from "./text.js";

const small = new Concepts({
  concepts: `
# remarks are passed over
order: order, sales order | 订单, 单子
purchase-order: purchase order, po | 采购单, 采购订单
leave: leave, time off | 请假, 休假
sick-leave: sick leave | 病假
`,
  broader: "leave: sick-leave\n",
});
const weights = (text: string): number[] => [...small.in(normalise(text)).values()].sort();

describe("concepts of a text", () => {
  test("are the same in both languages, in any regular form", () => {
    const order = small.in("order");
    expect(order.size).toBe(1);
    for (const text of ["two orders", "ordering", "我的订单", "這張訂單"])
      expect(small.in(normalise(text))).toEqual(order);
  });

  test("the longest phrase counts in full, what lies within it by half", () => {
    expect(weights("a purchase order")).toEqual([0.5, 1]);
    expect(weights("采购订单")).toEqual([0.5, 1]);
  });

  test("the broader concept comes with the narrower by half", () => {
    expect(weights("病假")).toEqual([0.5, 1]);
    expect(weights("sick leave")).toEqual([0.5, 1]);
  });

  test("of other words there are none", () => {
    expect(weights("the weather in 上海")).toEqual([]);
  });
});

test("the lexicon in the box carries office words from one language to the other", () => {
  const concepts = new Concepts(readLexicon());
  const pairs = [
    ["invoice", "发票"],
    ["refund", "退款"],
    ["meeting room", "会议室"],
    ["sick leave", "病假"],
    ["warehouse", "仓库"],
  ];
  for (const [english, chinese] of pairs) {
    const other = concepts.in(normalise(chinese!));
    expect(
      [...concepts.in(english!).keys()].filter((concept) => other.has(concept)),
      english,
    ).not.toEqual([]);
  }
});
