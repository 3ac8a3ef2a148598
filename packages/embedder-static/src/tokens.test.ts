import { expect, test } from "vitest";
import { cut } from "./tokens.js";

const words = [
  "order",
  "orders",
  "get",
  "status",
  "un",
  "pay",
  "#able",
  "#ing",
  "订单",
  "订",
  "单",
  "状态",
  "0",
  "don't",
];
const numbers = new Map(words.map((word, i) => [word, i]));
const cutWords = (text: string) => cut(text, numbers).map((number) => words[number]);

test("cuts English at what is no letter, and names in camel case at their capitals", () => {
  expect(cutWords("getOrderStatus")).toEqual(["get", "order", "status"]);
  expect(cutWords("get_order-status/orders.")).toEqual(["get", "order", "status", "orders"]);
});

test("looks a contraction up whole, then without its end", () => {
  expect(cutWords("DON’T get the order's status")).toEqual(["don't", "get", "order", "status"]);
});

test("spells a word it does not know with the longest words and ends there are, and skips what fits nowhere", () => {
  expect(cutWords("statusorder")).toEqual(["status", "order"]);
  expect(cutWords("payable")).toEqual(["pay", "#able"]);
  expect(cutWords("payxableing")).toEqual(["pay", "#able", "#ing"]);
  expect(cutWords("unx zz")).toEqual([]);
});

test("cuts Chinese into the longest words from the left, and into characters where there is no word", () => {
  expect(cutWords("查订单状态订")).toEqual(["订单", "状态", "订"]);
});

test("takes wide letters and digits for what they are, and a number of any size for one word", () => {
  expect(cutWords("ｏｒｄｅｒ １２３ 45.6")).toEqual(["order", "0", "0", "0"]);
});

test("a text without letters has no words", () => {
  expect(cutWords(" 🙂，。'’ \n")).toEqual([]);
});
