import type { Config } from "../../packages/server/src/config.js";
import type { Connection } from "../../packages/server/src/gateway/sessions.js";
import type { Wire } from "../../packages/server/src/gateway/wire.js";
import { House } from "../../packages/server/src/house.js";
import type { Listener } from "./network.js";
import type { Process } from "./process.js";
import type { Universe } from "./universe.js";

/** The host of the node: one process after another builds the house on the same disk. */
export class NodeHost {
  process: Process | undefined;
  house: House | undefined;
  /** Which run of the node this is, from 1. */
  run = 0;

  constructor(
    private readonly universe: Universe,
    private readonly config: Config,
  ) {}

  get up(): boolean {
    return this.process?.alive === true;
  }

  /** Listens when everything is loaded, and not before. */
  async boot(): Promise<void> {
    const { universe } = this;
    const { ledger, network, disk } = universe;
    this.run++;
    const process = universe.newProcess("node");
    this.process = process;
    ledger.tell("node", `starts, run ${this.run}`);
    const onError = (error: unknown) => {
      const { code, stack } = error as { code?: string; stack?: string };
      // A store that cannot write says so, and that is expected of it.
      if (process.alive && code !== "NOT_READY")
        ledger.wrong("nothing unexpected happens", `the node says: ${stack ?? error}`);
    };
    const house = new House(this.config, process, disk.open(process), onError);
    this.house = house;
    house.registry.onChange(({ instance }) => {
      if (instance?.record.state !== "suspect" || instance.record.reason !== "missed its heartbeats") return;
      ledger.expiries.push({
        at: ledger.now,
        host: universe.hostOf(instance.record.instanceId) ?? "?",
        node: this.run,
      });
    });
    house.router.breakers.onChange(({ record: { instanceId } }, { state, trigger, capability, failures }) => {
      if (state !== "open") return;
      ledger.tell("node", `opens the breaker of ${universe.hostOf(instanceId)} for ${capability}: ${trigger}`);
      // A probe is one message.
      const count = trigger === "failures" ? failures : 1;
      ledger.openings.push({ at: ledger.now, instanceId, capability, failures: count, node: this.run });
    });
    const { run } = this;
    house.journal.listen(({ messageId, type, ["code"]: code }) => {
      if (messageId !== undefined && process.alive) ledger.noted(run, messageId, type, code);
    });
    universe.plant?.house?.(house, process);
    try {
      await house.start();
    } catch (error) {
      // A full disk keeps a node from starting; whoever looks after it tries again.
      if ((error as { code?: string }).code !== "NOT_READY") throw error;
      ledger.tell("node", "cannot start: the disk is full");
      this.crash(false);
      universe.world.in(1_000, () => void this.boot());
      return;
    }
    if (!process.alive) return;
    ledger.tell("node", "is ready");
    const listener: Listener = { process, accept: (wire: Wire): Connection => house.sessions.accept(wire) };
    network.listener = listener;
  }

  crash(silently: boolean): void {
    const { process, universe } = this;
    if (process === undefined || !process.alive) return;
    process.kill();
    universe.network.listener = undefined;
    universe.network.ended(process, silently);
    universe.ledger.nodeEnds.set(this.run, universe.world.now);
  }

  /** SIGTERM: drains, says goodbye, and has nothing more to do. */
  async stop(): Promise<void> {
    const { process, house, universe } = this;
    if (process === undefined || house === undefined || !process.alive) return;
    await house.drain(500);
    house.leave();
    universe.network.listener = undefined;
    await new Promise<void>((done) => process.after(500, done));
    house.sessions.terminate();
    await house.stop();
  }
}
