import { type Config, defaultConfig } from "../../packages/server/src/config.js";
import type { Chance } from "./chance.js";
import { ClientHost, type HostSettings } from "./clients.js";
import { Disk } from "./disk.js";
import { Handlers } from "./handlers.js";
import { Ledger } from "./ledger.js";
import { Network } from "./network.js";
import { NodeHost } from "./node.js";
import type { Plant } from "./plants.js";
import { Process, type WallClock } from "./process.js";
import { Taps } from "./taps.js";
import { World } from "./world.js";

/** Everything that there is in one run. */
export class Universe {
  readonly world = new World();
  readonly ledger: Ledger;
  readonly network: Network;
  readonly disk: Disk;
  readonly node: NodeHost;
  readonly clients: ClientHost[] = [];
  /** What each agent subscribes to, whichever of its instances runs. */
  readonly #topics = new Map<string, Set<string>>();
  readonly #walls = new Map<string, WallClock>();
  readonly #handlers: Handlers;
  readonly #taps: Taps;

  constructor(
    readonly chance: Chance,
    readonly config: Config,
    recording: boolean,
    /** A bug that was put in on purpose. */
    readonly plant: Plant | undefined,
  ) {
    this.ledger = new Ledger(this.world, recording);
    this.#taps = new Taps(this, chance.fork());
    this.network = new Network(this.world, chance.fork(), this.#taps);
    this.disk = new Disk(
      this.world,
      chance.fork(),
      (task) => this.ledger.stored(task),
      ({ state, messageId }) => {
        if (state === "completed") this.ledger.confirmed(messageId);
      },
      (change) => this.ledger.audiences.heard(change, this.world.now),
    );
    this.node = new NodeHost(this, config);
    this.#handlers = new Handlers(this.ledger);
  }

  newProcess(host: string, name = host): Process {
    let wall = this.#walls.get(host);
    if (wall === undefined) {
      // Clocks of hosts differ by up to two seconds, as they do.
      wall = { offsetMs: this.chance.between(-1_000, 1_000) };
      this.#walls.set(host, wall);
    }
    return new Process(this.world, name, this.chance.fork(), wall);
  }

  /** The host on which an instance registered last. */
  hostOf(instanceId: string): string | undefined {
    return this.#taps.hostOf(instanceId);
  }

  topicsOf(agentId: string): Set<string> {
    let topics = this.#topics.get(agentId);
    if (topics === undefined) {
      topics = new Set();
      this.#topics.set(agentId, topics);
    }
    return topics;
  }

  addClient(settings: HostSettings): ClientHost {
    const host = new ClientHost(this, settings, this.#handlers);
    this.clients.push(host);
    return host;
  }
}

/** Terms short enough that much happens in little time; some differ from seed to seed. */
export function configFor(chance: Chance): Config {
  const config = defaultConfig();
  return {
    ...config,
    lease: { ...config.lease, heartbeatIntervalSec: 2, purgeAfterSec: chance.pick([20, 86_400]) },
    session: {
      ...config.session,
      resumeSec: chance.pick([2, 20]),
      pingIntervalMs: 3_000,
      missedPongsMax: 2,
      helloTimeoutMs: 5_000,
      slowReaderBytes: 65_536,
    },
    limits: { ...config.limits, queuedCallsMax: chance.pick([2, 1_000]) },
    call: { ...config.call, timeoutMs: 6_000, rememberMs: 60_000 },
    delivery: {
      ...config.delivery,
      ackTimeoutMs: chance.pick([600, 1_500]),
      backoffMs: [300, 900, 2_700],
      lossesMax: chance.pick([2, 5]),
      lostGraceMs: chance.pick([300, 2_000]),
    },
    task: { ...config.task, completionTimeoutMs: 4_000, deadlineMs: 40_000 },
    journal: { ...config.journal, messagesMax: 500 },
  };
}
