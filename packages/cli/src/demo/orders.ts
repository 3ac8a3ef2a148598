import { type Connection, loadDriver } from "@agent-reach/server/sqlite";

/** How many orders the demo has, all made up and the same on every machine. */
export const orderCount = 3000;

const places = ["Beijing", "Shanghai", "Shenzhen", "Chengdu", "Hangzhou"];
const goods: readonly (readonly [item: string, cents: number])[] = [
  ["espresso machine", 189_00],
  ["desk lamp", 34_50],
  ["running shoes", 79_90],
  ["rain jacket", 119_00],
  ["cast iron pan", 45_00],
  ["field notebook", 8_90],
];
const statuses = ["packed", "on its way", "delivered", "delivered", "delivered"];

/**
 * Two of these tables are the point of the demo: `effects` and `returns` hold the idempotencyKey of the message that
 * changed something, and are written in the same transaction as the change. A message that comes twice is found there.
 */
const schema = `
  CREATE TABLE orders (
    order_id TEXT PRIMARY KEY, customer TEXT NOT NULL, city TEXT NOT NULL, item TEXT NOT NULL,
    cents INTEGER NOT NULL, status TEXT NOT NULL, placed_at TEXT NOT NULL, points INTEGER NOT NULL DEFAULT 0
  );
  CREATE TABLE effects (
    idempotency_key TEXT PRIMARY KEY, order_id TEXT NOT NULL, result TEXT NOT NULL, repeats INTEGER NOT NULL DEFAULT 0
  );
  CREATE TABLE returns (idempotency_key TEXT PRIMARY KEY, order_id TEXT NOT NULL, reason TEXT NOT NULL);`;

/** The id of the nth order, from 1. */
export const orderIdOf = (n: number): string => `202501${String(n).padStart(5, "0")}`;

/** Opens the file which all agents share; each of them writes in its own process, so writers wait for each other. */
export async function openOrders(file: string): Promise<Connection> {
  const connect = await loadDriver();
  const db = connect(file);
  db.exec("PRAGMA busy_timeout = 5000; PRAGMA journal_mode = WAL;");
  return db;
}

/** Makes the tables and fills them. */
export function fillOrders(db: Connection): void {
  db.exec(schema);
  const insert = db.prepare(
    "INSERT INTO orders (order_id, customer, city, item, cents, status, placed_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
  );
  const random = sequence(2025);
  const pick = <T>(list: readonly T[]): T => list[random() % list.length] as T;
  db.exec("BEGIN");
  for (let n = 1; n <= orderCount; n++) {
    const [item, cents] = pick(goods);
    const day = new Date(Date.UTC(2025, 0, 1 + (random() % 90))).toISOString().slice(0, 10);
    insert.run(orderIdOf(n), `customer-${1 + (random() % 400)}`, pick(places), item, cents, pick(statuses), day);
  }
  db.exec("COMMIT");
}

/** What the database says about `add_points`, whatever anybody believes to have done. */
export interface Audit {
  /** Orders that got their points. */
  applied: number;
  /** Orders that got more than they should. */
  twice: number;
  /** Messages that came again after their effect, and were answered from the record. */
  repeats: number;
}

/** Every order was to get `points` at most once. The balance is counted, not the record of keys: that one cannot lie twice. */
export function auditPoints(db: Connection, points: number): Audit {
  const { applied, twice } = db
    .prepare("SELECT count(*) AS applied, coalesce(sum(points > ?), 0) AS twice FROM orders WHERE points > 0")
    .get(points) as { applied: number; twice: number };
  const { repeats } = db.prepare("SELECT coalesce(sum(repeats), 0) AS repeats FROM effects").get() as {
    repeats: number;
  };
  return { applied, twice, repeats };
}

/** Whole numbers that look random and are the same each time (a linear congruential generator). */
function sequence(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state >>> 8;
  };
}
