// The same SQLite as the node uses: the one inside Node where there is one, else the package with its API.
export async function openDatabase(path) {
  const { DatabaseSync } = await import("node:sqlite").catch(() => import("@photostructure/sqlite"));
  const db = new DatabaseSync(path);
  db.exec("PRAGMA journal_mode=WAL");
  db.exec("PRAGMA synchronous=FULL");
  return db;
}

/** Runs what was queued in one turn of the event loop as one transaction; `after` of each runs once it is on disk. */
export function grouped(db) {
  let group = [];
  const commit = () => {
    const current = group;
    group = [];
    db.exec("BEGIN IMMEDIATE");
    for (const operation of current) operation.run();
    db.exec("COMMIT");
    for (const operation of current) operation.after();
  };
  return (run, after) => {
    if (group.length === 0) setImmediate(commit);
    group.push({ run, after });
  };
}
