import { describe, expect, test } from "vitest";
import { ExampleIndex } from "./example-index.js";

describe("examples", () => {
  const index = new ExampleIndex();
  index.put("cancel_order", ["Please cancel my order 20250101001!", "取消订单 FH2208"]);
  index.put("pay", ["请"]);

  test.each([
    "Cancel order 7",
    "cancel my order",
    "can you cancel the order, 20250101001",
    "ORDER 1: cancel",
    "请帮我取消一下订单 FH9",
    "取消訂單 FH2208",
  ])("%s is as good as equal to one of them", (text) => {
    expect(index.givenBy(text)).toEqual(["cancel_order"]);
  });

  test.each(["do not cancel order 7", "cancel order 7 by post", "不要取消订单", "track my order", ""])(
    "%j is not",
    (text) => {
      expect(index.givenBy(text)).toEqual([]);
    },
  );

  test("of courtesies alone are compared as they stand", () => {
    expect(index.givenBy("请")).toEqual(["pay"]);
    expect(index.givenBy("please")).toEqual([]);
  });

  test("are forgotten with their capability, and replaced by newer ones", () => {
    const own = new ExampleIndex();
    own.put("a", ["first", "shared"]);
    own.put("b", ["shared", "shared"]);
    own.put("a", ["second"]);
    expect(["first", "second", "shared"].map((text) => own.givenBy(text))).toEqual([[], ["a"], ["b"]]);
    own.remove("b");
    own.remove("nobody");
    expect(own.givenBy("shared")).toEqual([]);
  });
});
