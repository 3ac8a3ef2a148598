import { describe, expect, it } from "vitest";
import { kinship } from "./operation-kinship.js";
import { agreement, OPERATIONS, type Operation, operationOf, operationsIn, operationsOf } from "./operations.js";

/** What a text asks for first; undefined if nothing. */
function first(text: string): Operation | undefined {
  let best: [Operation | undefined, number] = [undefined, 0];
  for (const [operation, weight] of operationsIn(text).wanted) if (weight > best[1]) best = [operation, weight];
  return best[0];
}

function weight(text: string, operation: Operation): number {
  return operationsIn(text).wanted.get(operation) ?? 0;
}

/** Both sides of a contrast: what is wanted most, and what is ruled out. */
function contrast(text: string): { wanted: Operation | undefined; refused: Operation[] } {
  return { wanted: first(text), refused: [...operationsIn(text).refused].sort() };
}

describe("what a text asks for", () => {
  it.each<[string, Operation]>([
    ["帮我查一下订单", "query"],
    ["怎么还没发货", "status"],
    ["我的快递到哪了", "status"],
    ["订单我不要了", "cancel"],
    ["这单算了不要了", "cancel"],
    ["把会议改到周五", "reschedule"],
    ["周三的会推迟到下周", "reschedule"],
    ["地址写错了，换成公司的", "update"],
    ["给张三开个账号", "create"],
    ["加一条客户记录", "create"],
    ["下周三下午给我占个会议室", "book"],
    ["拉一份考勤", "export"],
    ["这个申请批了吧", "approve"],
    ["打回去让他重写", "reject"],
    ["把被删掉的文件找回来", "restore"],
    ["撤销删除", "restore"],
    ["停掉定时任务", "stop"],
    ["报销", "submit"],
    ["催一下财务", "remind"],
    ["信用卡挂失", "lock"],
    ["被冻结的账户怎么解冻", "unlock"],
    ["100美元换算成人民币", "convert"],
  ])("reads colloquial Chinese: %s", (text, operation) => {
    expect(weight(text, operation)).toBe(Math.max(...operationsIn(text).wanted.values()));
    expect(weight(text, operation)).toBeGreaterThanOrEqual(0.6);
  });

  it.each<[string, Operation]>([
    ["get rid of this draft", "delete"],
    ["call the whole meeting off", "cancel"],
    ["move the demo to Friday", "reschedule"],
    ["push the review back a week", "reschedule"],
    ["where is my parcel", "status"],
    ["how's the migration going", "status"],
    ["can you sign off on the budget", "approve"],
    ["turn the request down", "reject"],
    ["bring back the deleted file", "restore"],
    ["pull a report of sales", "export"],
    ["put in a request for a laptop", "submit"],
    ["I no longer want the membership", "cancel"],
    ["I don't need the room anymore", "cancel"],
    ["stop sending me newsletters", "unsubscribe"],
    ["turn the ac off", "disable"],
    ["I'd like my leave approved", "approve"],
  ])("reads colloquial English: %s", (text, operation) => {
    expect(first(text) === operation || weight(text, operation) === 1).toBe(true);
  });

  it.each<[string, Operation]>([
    ["把订单取消", "cancel"],
    ["请假申请取消掉", "cancel"],
    ["那个报销驳回吧", "reject"],
    ["采购申请帮我提交一下", "submit"],
    ["把驳回的申请重新提交", "submit"],
    ["delete the archived reports", "delete"],
    ["list rejected requests", "list"],
    ["cancel the payment", "cancel"],
    ["restore the deleted records", "restore"],
  ])("tells the operation from its object: %s", (text, operation) => {
    expect(first(text)).toBe(operation);
    for (const [other, weight] of operationsIn(text).wanted)
      if (other !== operation) expect(weight, other).toBeLessThan(0.6);
  });

  it("reads texts that mix Chinese and English", () => {
    expect(first("帮我cancel一下这个booking")).toBe("cancel");
    expect(first("这个PR可以approve了吧")).toBe("approve");
  });

  it("reads mistyped English verbs, and leaves words that are words alone", () => {
    expect(first("pls reshedule my appointmnt")).toBe("reschedule");
    expect(first("delte this file")).toBe("delete");
    expect(first("an expert at the summit with a remote chance")).toBeUndefined();
  });

  it.each(["play some music", "讲个笑话", "特别好的一天", "订单", "打印机", ""])("asks for nothing: %s", (text) => {
    expect(operationsIn(text)).toEqual({ wanted: new Map(), refused: new Set() });
  });

  it("takes a noun for the wish when there is nothing else", () => {
    expect(weight("I want a refund", "refund")).toBeGreaterThan(0.8);
    expect(weight("退款 3345", "refund")).toBeGreaterThan(0.6);
    expect(weight("查询退款进度", "refund")).toBeLessThan(0.5);
  });

  it("wants what comes first more than what comes then", () => {
    for (const text of ["先导出再删除", "first export the data and then delete it"]) {
      expect(first(text)).toBe("export");
      expect(weight(text, "delete")).toBeGreaterThan(0.6);
    }
    expect(first("before deleting, export the data")).toBe("export");
  });
});

describe("what is told beside a wish", () => {
  it("counts less than what is asked for in so many words", () => {
    for (const text of ["医生说要复查，帮我约一个", "the doctor approved it, so please book a room"]) {
      expect(first(text), text).toBe("book");
      expect(operationsIn(text).wanted.size, text).toBeGreaterThan(1);
    }
    expect(weight("they charge me every month", "pay")).toBeLessThan(0.6);
  });

  it("is no wish when it is a property, a state or a person", () => {
    expect(weight("取消昨天新建的任务", "create")).toBeLessThan(0.3);
    expect(weight("my payment was declined", "reject")).toBeLessThan(0.6);
    expect(weight("who approved the budget", "approve")).toBeLessThan(0.3);
  });
});

describe("what a text rules out", () => {
  it.each<[string, Operation, Operation[]]>([
    ["不要取消，只是改地址", "update", ["cancel"]],
    ["不要取消只是改地址", "update", ["cancel"]],
    ["不是要退款，是想换货", "exchange", ["refund"]],
    ["别删，先停用", "disable", ["delete"]],
    ["我没说要退，我想问到哪了", "status", ["refund"]],
    ["不是让你删除，是归档", "archive", ["delete"]],
    ["与其取消不如改期", "reschedule", ["cancel"]],
    ["审批先不要通过，打回去补材料", "reject", ["approve"]],
    ["取消订单而不是退款", "cancel", ["refund"]],
    ["能不能不取消，改期行吗", "reschedule", ["cancel"]],
    ["don't cancel it, just change the address", "update", ["cancel"]],
    ["instead of deleting, archive it", "archive", ["delete"]],
    ["not a refund but an exchange", "exchange", ["refund"]],
    ["rather than cancel the booking, move it to Monday", "reschedule", ["cancel"]],
    ["I'd rather reschedule than cancel", "reschedule", ["cancel"]],
    ["please don't just delete it, archive it", "archive", ["delete"]],
    ["without cancelling the order, can you update the quantity", "update", ["cancel"]],
    ["don't approve it yet, send it back for more details", "reject", ["approve"]],
  ])("CAT-7: a contrast has two sides: %s", (text, wanted, refused) => {
    expect(contrast(text)).toEqual({ wanted, refused });
  });

  it.each<[string, Operation[]]>([
    ["没有取消", ["cancel"]],
    ["先别取消", ["cancel"]],
    ["别取消了", ["cancel"]],
    ["I didn't cancel it", ["cancel"]],
    ["don't cancel or change it", ["cancel", "update"]],
  ])("rules out without asking for something else: %s", (text, refused) => {
    expect([...operationsIn(text).refused].sort()).toEqual(refused);
    expect(operationsIn(text).wanted.get("cancel")).toBeUndefined();
  });

  it.each([
    "怎么还没发货",
    "为什么不能登录",
    "can't log in",
    "do not forget to cancel",
    "别忘了取消",
    "不是已经取消了吗",
    "订单取消不了",
    "没付款的订单列出来",
    "why don't you cancel it",
    "my refund hasn't arrived",
    "不知道怎么删除",
    "要不要取消",
  ])("does not take this for a refusal: %s", (text) => {
    expect(operationsIn(text).refused).toEqual(new Set());
  });

  it("asks to do what is not to be forgotten", () => {
    expect(first("do not forget to cancel the booking")).toBe("cancel");
    expect(first("别忘了取消会议")).toBe("cancel");
  });

  it("keeps what is asked for in one place though it is ruled out in another", () => {
    const { wanted, refused } = operationsIn("cancel the dinner but don't cancel the hotel");
    expect(wanted.get("cancel")).toBe(1);
    expect(refused.size).toBe(0);
  });

  it("calls off what is not to be any more, whatever it is", () => {
    for (const text of ["不想要这个了", "那次不请了", "I don't want the parking spot any more"]) {
      expect(first(text), text).toBe("cancel");
    }
  });

  it("rules out what stands before its negation", () => {
    expect(contrast("回滚别做了，直接发新版本")).toEqual({ wanted: "send", refused: ["restore"] });
  });

  it("does not reach the second of two verbs", () => {
    expect(contrast("skip the email and just print it")).toEqual({ wanted: "print", refused: ["send"] });
  });

  it("ends what is not to be continued", () => {
    const { wanted, refused } = operationsIn("别续费了");
    expect(refused).toEqual(new Set(["renew"]));
    expect(wanted.get("cancel")).toBeGreaterThan(0.5);
  });
});

describe("questions", () => {
  it.each<[string, Operation]>([
    ["取消了吗", "cancel"],
    ["批了没", "approve"],
    ["我的请假单领导批没批", "approve"],
    ["不是已经取消了吗", "cancel"],
    ["合同签了吗", "sign"],
    ["has it been approved?", "approve"],
    ["did they approve my leave", "approve"],
    ["could you tell me whether my claim was rejected", "reject"],
    ["why was my order cancelled", "cancel"],
    ["为什么我的申请被驳回了", "reject"],
  ])("about what was done ask how it stands, and do not ask to do it: %s", (text, operation) => {
    expect(weight(text, "status")).toBeGreaterThan(0.6);
    expect(weight(text, operation)).toBeLessThan(0.5);
  });

  it("that are polite ask to do it", () => {
    for (const text of ["能取消吗", "可以帮我取消吗", "can you cancel it?", "is it possible to cancel"]) {
      expect(first(text), text).toBe("cancel");
    }
  });

  it("about how to do it may want either the doing or an explanation", () => {
    for (const text of ["怎么取消订单", "how do I cancel my order"]) {
      expect(first(text), text).toBe("cancel");
      expect(weight(text, "explain"), text).toBeGreaterThan(0.6);
    }
  });

  it("do not take a condition for a wish", () => {
    expect(first("如果还没发货就取消")).toBe("cancel");
    expect(first("if you can't reschedule, cancel it")).toBe("cancel");
    expect(weight("if you can't reschedule, cancel it", "reschedule")).toBeLessThan(0.5);
  });
});

describe("what a card does", () => {
  it.each<[string, Operation]>([
    ["get", "query"],
    ["查询", "query"],
    ["summarize", "summarise"],
    ["作废", "cancel"],
    ["cancellation", "cancel"],
    ["DELETE", "delete"],
    ["新增", "create"],
    ["put", "update"],
    ["return", "query"],
    ["batch_delete", "delete"],
  ])("is read from its operation in any spelling: %s", (operation, expected) => {
    expect(operationOf({ operation, name: "translate" })).toBe(expected);
  });

  it.each<[string, Operation]>([
    ["order.cancel", "cancel"],
    ["cancelOrder", "cancel"],
    ["list_orders", "list"],
    ["order.list", "list"],
    ["order_export", "export"],
    ["getOrderStatus", "status"],
    ["getUser", "query"],
    ["setPassword", "update"],
    ["HTTPGet", "query"],
    ["shipment.tracking", "status"],
    ["订单取消", "cancel"],
    ["请假审批", "approve"],
    ["查询退款", "query"],
  ])("is read from its name: %s", (name, expected) => {
    expect(operationOf({ name, description: "Translates text." })).toBe(expected);
  });

  it.each<[string, Operation]>([
    ["Returns the list of orders of a customer.", "list"],
    ["This tool cancels an order that has not shipped yet.", "cancel"],
    ["Look up the status of a delivery", "status"],
    ["修改订单的收货地址，不能取消订单", "update"],
    ["用于取消尚未发货的订单", "cancel"],
    ["审批人对报销单进行审批", "approve"],
  ])("is read from its description when its name does not tell: %s", (description, expected) => {
    expect(operationOf({ name: "x1", description })).toBe(expected);
  });

  it("is unknown when nothing tells", () => {
    expect(operationOf({ name: "weather", description: "Tomorrow in Oslo." })).toBeUndefined();
    expect(operationOf({})).toBeUndefined();
  });

  it.each(["", " ", "--", "🦊"])("is not told by %j, which has no word", (text) => {
    expect(operationsOf({ operation: text, name: text, description: text })).toEqual([]);
  });
});

describe("all that a card does", () => {
  it("is told by its name where its operation is general", () => {
    expect(operationsOf({ operation: "create", name: "apply_exchange", description: "申请换货" })).toContain(
      "exchange",
    );
    expect(operationsOf({ operation: "update", name: "meeting.reschedule" })).toEqual(["update", "reschedule"]);
    expect(operationsOf({ operation: "create", name: "register_complaint" })).toContain("complain");
    expect(operationsOf({ name: "order.cancel", description: "Cancel an order" })).toEqual(["cancel"]);
  });

  it("CAT-7: the best of them counts, unless one is ruled out", () => {
    const card: Operation[] = ["create", "exchange"];
    expect(agreement(operationsIn("帮我换货"), card)).toBe(1.25);
    expect(agreement(operationsIn("不要换货，退款"), card)).toBe(0.3);
    expect(agreement(operationsIn("帮我换货"), [])).toBe(1);
  });
});

describe("agreement", () => {
  it("CAT-7: deleting does not go to listing, nor to an opposite", () => {
    const reading = operationsIn("delete the order");
    expect(agreement(reading, "delete")).toBe(1.25);
    expect(agreement(reading, "cancel")).toBeGreaterThan(1);
    expect(agreement(reading, "list")).toBeLessThan(0.5);
    expect(agreement(reading, "restore")).toBeLessThan(agreement(reading, "list"));
  });

  it("CAT-7: what is ruled out is far behind, and what is near it behind", () => {
    const reading = operationsIn("不要取消，只是改地址");
    expect(agreement(reading, "update")).toBe(1.25);
    expect(agreement(reading, "cancel")).toBe(0.3);
    expect(agreement(operationsIn("先别取消"), "delete")).toBeLessThan(1);
    expect(agreement(operationsIn("先别取消"), "book")).toBe(1);
  });

  it("says nothing where an operation is unknown", () => {
    expect(agreement(operationsIn("讲个笑话"), "cancel")).toBe(1);
    expect(agreement(operationsIn("取消订单"), undefined)).toBe(1);
  });

  it("leaves a card for either of two wishes above one for neither", () => {
    const reading = operationsIn("先导出再删除");
    expect(agreement(reading, "export")).toBeGreaterThan(agreement(reading, "delete"));
    expect(agreement(reading, "delete")).toBeGreaterThan(1);
    expect(agreement(reading, "approve")).toBeLessThan(0.8);
  });

  it("moves a score less when a text says it less plainly", () => {
    expect(agreement(operationsIn("取消的那个订单"), "book")).toBeGreaterThan(
      agreement(operationsIn("取消那个订单"), "book"),
    );
  });
});

describe("kinship", () => {
  it("is symmetric, 1 only for the same, within −1 and 1", () => {
    for (const one of OPERATIONS) {
      for (const other of OPERATIONS) {
        expect(kinship(one, other)).toBe(kinship(other, one));
        expect(kinship(one, other) === 1, `${one} ${other}`).toBe(one === other);
        expect(Math.abs(kinship(one, other))).toBeLessThanOrEqual(1);
      }
    }
  });
});
