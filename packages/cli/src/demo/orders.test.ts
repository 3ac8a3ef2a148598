import { describe, expect, it } from "vitest";
import { auditPoints, fillOrders, openOrders, orderCount, orderIdOf } from "./orders.js";

const opened = async () => {
  const db = await openOrders(":memory:");
  fillOrders(db);
  return db;
};

describe("the demo's orders", () => {
  it("are the same on every machine", async () => {
    const db = await opened();
    const row = db.prepare("SELECT * FROM orders WHERE order_id = ?").get(orderIdOf(17));
    expect(row).toMatchObject({ city: "Shanghai", item: "espresso machine", status: "delivered", points: 0 });
    expect(db.prepare("SELECT count(*) AS n FROM orders").get()).toMatchObject({ n: orderCount });
  });

  it("tell when points were credited twice, whatever the record of keys says", async () => {
    const db = await opened();
    const credit = db.prepare("UPDATE orders SET points = points + 10 WHERE order_id = ?");
    credit.run(orderIdOf(1));
    credit.run(orderIdOf(2));
    expect(auditPoints(db, 10)).toMatchObject({ applied: 2, twice: 0 });
    credit.run(orderIdOf(2));
    expect(auditPoints(db, 10)).toMatchObject({ applied: 2, twice: 1 });
  });

  it("count the messages that came again after their effect", async () => {
    const db = await opened();
    expect(auditPoints(db, 10)).toEqual({ applied: 0, twice: 0, repeats: 0 });
    db.prepare("INSERT INTO effects (idempotency_key, order_id, result, repeats) VALUES (?, ?, '{}', 2)").run("a", "b");
    expect(auditPoints(db, 10).repeats).toBe(2);
  });
});
