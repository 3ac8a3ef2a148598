import { SharedChannels } from "../../packages/sdk/src/channel.js";
import { Client } from "../../packages/sdk/src/client.js";
import type { Logger } from "../../packages/sdk/src/logger.js";
import type { Context, IdentityStore, Platform, SavedIdentity } from "../../packages/sdk/src/platform.js";
import type { CardInput } from "../../packages/sdk/src/registration.js";
import { ofTopic } from "./audiences.js";
import type { Handlers } from "./handlers.js";
import type { Ledger } from "./ledger.js";
import type { Process } from "./process.js";
import type { Universe } from "./universe.js";

/** How a host with a client on it is set up. */
export interface HostSettings {
  readonly host: string;
  /** Undefined: it calls, and has no name. */
  readonly card: CardInput | undefined;
  /** Whether its instance comes back as the same after a restart. */
  readonly keepsIdentity: boolean;
}

/** A host on which one process after another runs the SDK: an agent, a caller, or both. */
export class ClientHost {
  process: Process | undefined;
  client: Client | undefined;
  /** It was told to leave, and stays away. */
  retired = false;
  /** Called when a process has started again after one that ended. */
  onRestart: () => void = () => {};
  readonly #identity: IdentityStore;
  #runs = 0;

  constructor(
    private readonly universe: Universe,
    readonly settings: HostSettings,
    private readonly handlers: Handlers,
  ) {
    let saved: SavedIdentity | undefined;
    this.#identity = {
      load: () => (settings.keepsIdentity ? saved : undefined),
      save: (identity) => {
        saved = identity;
      },
    };
  }

  get host(): string {
    return this.settings.host;
  }

  get up(): boolean {
    return this.process?.alive === true;
  }

  boot(): void {
    const { universe, settings } = this;
    const again = this.#runs++ > 0;
    const process = universe.newProcess(this.host, again ? `${this.host}.${this.#runs}` : this.host);
    this.process = process;
    universe.ledger.tell(process.name, "starts");
    const platform: Platform = {
      language: "typescript/simulation",
      system: process,
      dial: universe.network.dialFrom(process, this.host),
      context: { run: (_: Context, work, ...args) => work(...args), get: () => undefined },
      byteLength: (text) => Buffer.byteLength(text),
    };
    const client = new Client(
      {
        registryUrl: "node:8800",
        name: this.host,
        logger: loggerOf(process, universe.ledger),
        reconnect: { minMs: 50, maxMs: 2_000 },
        connectTimeoutMs: 3_000,
      },
      { platform, shared: new SharedChannels() },
      this.#identity,
    );
    this.client = client;
    if (settings.card !== undefined) {
      void client.register(settings.card);
      for (const capability of settings.card.capabilities ?? []) {
        const name = typeof capability === "string" ? capability : capability.name;
        client.onCapability(name, (input, context) => this.handlers.handle(process, input, context));
      }
      for (const topic of universe.topicsOf(settings.card.agentId)) void this.subscribe(topic);
      const topics = [...universe.topicsOf(settings.card.agentId)];
      const { now } = universe.ledger;
      client.start().then(
        () => {
          for (const topic of topics) this.#confirmed(topic, now);
        },
        (error: Error) => {
          if (process.alive && !this.retired)
            universe.ledger.wrong("nothing unexpected happens", `${process.name} could not start: ${error.message}`);
        },
      );
    }
    // Also a caller who asks for nothing any more is there to hear what became of what he asked for.
    else client.connect().catch(() => {});
    if (again) this.onRestart();
  }

  /** Resolves when the node has said so, or has refused. */
  async subscribe(topic: string): Promise<void> {
    const { process, client, handlers, universe } = this;
    const { ledger } = universe;
    const isRegistered = client!.registered !== undefined;
    const { now } = ledger;
    const said = client!.subscribe(topic, (input, context) => handlers.handle(process!, input, context));
    await said.then(
      () => isRegistered && this.#confirmed(topic, now),
      (error: Error) => ledger.tell(process!.name, `could not subscribe: ${error.message}`),
    );
  }

  /** What the node has confirmed is on disk, and stays there when the node dies. */
  #confirmed(topic: string, since: number): void {
    const { universe, settings, process } = this;
    const { audiences, now } = universe.ledger;
    const { agentId } = settings.card!;
    if (audiences.askedToLeave(agentId, topic) || audiences.between(ofTopic(topic), since, now).ever.has(agentId))
      return;
    universe.ledger.wrong("a subscription is stored when it is confirmed", `${process!.name} for ${topic}`);
  }

  async unsubscribe(topic: string): Promise<void> {
    const { process, client, universe, settings } = this;
    universe.ledger.audiences.asksToLeave(settings.card!.agentId, topic);
    const said = client!.unsubscribe(topic);
    await said.catch((error: Error) => universe.ledger.tell(process!.name, `could not unsubscribe: ${error.message}`));
  }

  /** SIGKILL, or the whole host with its power. */
  crash(silently: boolean): void {
    const { process } = this;
    if (process === undefined || !process.alive) return;
    process.kill();
    this.universe.network.ended(process, silently);
  }

  /** Leaves in order, and its process ends. */
  async leave(timeoutMs: number): Promise<void> {
    const { process, client } = this;
    if (process === undefined || !process.alive || client === undefined) return;
    this.retired = true;
    await client.drain({ timeoutMs });
    if (process.alive) this.crash(false);
    this.universe.ledger.tell(process.name, "has left");
  }
}

/** Words of the SDK are part of the timeline; an error among them is what no caller is told. */
function loggerOf(process: Process, ledger: Ledger): Logger {
  const say = (level: string) => (message: string, fields?: object) => {
    if (ledger.recording)
      ledger.tell(process.name, `${level}: ${message} ${fields === undefined ? "" : JSON.stringify(fields)}`);
  };
  return {
    debug: say("debug"),
    info: say("info"),
    warn: say("warn"),
    error: (message, fields) => {
      if (process.alive)
        ledger.wrong("nothing unexpected happens", `${process.name} logged: ${message} ${JSON.stringify(fields)}`);
    },
  };
}
