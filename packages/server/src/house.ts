import { limits } from "@agent-reach/protocol";
import { Catalog } from "./catalog/catalog.js";
import { Learner } from "./catalog/learner.js";
import type { Readers } from "./catalog/readers.js";
import { Synonyms } from "./catalog/synonyms.js";
import type { Config } from "./config.js";
import { connect } from "./connect.js";
import type { Engine } from "./engines/engine.js";
import { Feed } from "./gateway/feed.js";
import { Notices } from "./gateway/notices.js";
import type { Rooms } from "./gateway/rooms.js";
import { Sessions } from "./gateway/sessions.js";
import { Journal } from "./journal/journal.js";
import type { System } from "./ports/system.js";
import { Directory } from "./registry/directory.js";
import { Reaper } from "./registry/reaper.js";
import { Registry } from "./registry/registry.js";
import { Admission } from "./router/admission.js";
import { Calls } from "./router/calls.js";
import type { Parent } from "./router/chain.js";
import { Discoverer } from "./router/discovery.js";
import { Router } from "./router/router.js";
import { MessageShelf } from "./router/shelf.js";
import { Batches } from "./tasks/batches.js";
import { Dispatcher } from "./tasks/dispatcher.js";
import { Groups } from "./tasks/groups.js";
import { Publisher } from "./tasks/publisher.js";
import { Tasks } from "./tasks/tasks.js";
import { Wheel } from "./time/wheel.js";

const DRAIN_MS = 10_000;
const DRAIN_LOOK_MS = 20;

/**
 * The node without doors: every room, joined from the store up. `compose.ts` opens the doors; the simulation and the tests of
 * rooms build the same house on fake time, the former coming in by `sessions.accept` with connections of its own.
 */
export class House {
  readonly wheel: Wheel;
  readonly journal: Journal;
  readonly registry: Registry;
  readonly catalog: Catalog;
  readonly router: Router;
  readonly admission: Admission;
  readonly dispatcher: Dispatcher;
  readonly calls: Calls;
  readonly tasks: Tasks;
  readonly reaper: Reaper;
  readonly rooms: Rooms;
  readonly sessions: Sessions;
  private draining = false;

  constructor(
    config: Config,
    private readonly system: System,
    engine: Engine,
    onError: (error: unknown) => void,
    /** Hears of broken frames and resets, which are the other side's affair. */
    onBroken: (error: unknown) => void = () => {},
    /** Without it, texts are found by their very words only. */
    readers?: Readers,
  ) {
    const nodeId = config.node.id;
    const wheel = new Wheel(system);
    const shelf = new MessageShelf(config.journal.messagesMax);
    const journal = new Journal(engine.journal, system, nodeId, config.journal, onError, shelf);
    const registry = new Registry(engine.registry, system, {
      nodeId,
      cardBytes: config.limits.cardBytes,
      ...config.lease,
      ttlSec: config.lease.ttlSec,
      graceSec: config.lease.graceSec,
    });
    const learner = readers && new Learner(registry.view, readers.newMeaning, system, readers.fine);
    const catalog = new Catalog(registry.view, system, new Synonyms(), learner, readers?.chooser);
    const router = new Router(system, config.routing, config.breaker);
    const admission = new Admission(system, config.limits);
    const dispatcher = new Dispatcher(
      engine.tasks,
      catalog,
      router,
      admission,
      journal,
      wheel,
      system,
      config.delivery,
      (messageId): Parent | undefined => calls.open(messageId),
      onError,
    );
    const parentOf = (messageId: string): Parent | undefined => dispatcher.parentOf(messageId);
    const calls = new Calls(
      catalog,
      router,
      admission,
      journal,
      wheel,
      system,
      { ...config.call, ...config.delivery, ...config.limits, ...config.journal },
      parentOf,
    );
    const tasks = new Tasks(
      engine.tasks,
      catalog,
      router,
      journal,
      dispatcher,
      system,
      { ...config.task, ...config.limits },
      parentOf,
      onError,
      admission,
    );
    this.catalog = catalog;
    const batches = new Batches(engine.tasks, tasks, dispatcher, admission, config.limits);
    this.router = router;
    this.wheel = wheel;
    this.journal = journal;
    this.registry = registry;
    this.admission = admission;
    this.dispatcher = dispatcher;
    this.calls = calls;
    this.tasks = tasks;
    this.reaper = new Reaper(registry, system, wheel, onError);
    const feed = new Feed(registry, system);
    this.rooms = {
      system,
      settings: {
        nodeId,
        inputBytes: config.limits.inputBytes,
        pageMax: config.limits.pageMax,
        messageBytes: config.limits.inputBytes + limits.envelopeBytesMax,
        ...config.session,
        allowedOrigins: config.server.allowedOrigins,
        allowedHosts: config.server.allowedHosts,
        host: config.server.host,
        requestTimeoutMs: config.server.requestTimeoutMs,
      },
      registry,
      directory: new Directory(registry, system, config.limits.pageMax),
      feed,
      discoverer: new Discoverer(catalog, router, system),
      calls,
      tasks,
      batches,
      groups: new Groups(engine.tasks, tasks, dispatcher.commits.groups, onError),
      publisher: new Publisher(engine.tasks, catalog, batches, system),
      journal,
      notices: new Notices(engine.tasks, tasks, system, onError, (id) => this.sessions.mayResume(id)),
      waitingCalls: () => admission.lines(),
      onRoom: (instance) => admission.room(instance),
      parentOf,
      progress: (messageId, instanceId, json) => {
        const run = dispatcher.runOf(messageId);
        if (run === undefined || (instanceId !== undefined && run.record.instanceId !== instanceId)) return;
        journal.progress(run.log, run.offer?.instance, run.attempt, progressOf(json), json.length);
        this.rooms.notices.progress(run.record, json);
      },
      isDraining: () => this.draining,
      onError,
      onBroken,
    };
    this.sessions = new Sessions(this.rooms);
    connect({ registry, catalog, router, admission, calls, dispatcher, journal, onError });
    this.rooms.notices.listenTo(dispatcher, this.rooms.groups);
  }

  /** Loads what is stored, and goes on with it. `loaded` is called when it is known who was there. */
  async start(loaded: () => void = () => {}): Promise<void> {
    const { journal, registry, catalog, rooms, dispatcher, tasks, reaper } = this;
    await journal.start();
    await registry.start(() => rooms.feed.start());
    catalog.start();
    loaded();
    await rooms.notices.start();
    await dispatcher.start();
    tasks.start();
    reaper.start();
  }

  get isDraining(): boolean {
    return this.draining;
  }

  /** Takes no new work, and resolves when the calls in flight have ended, or after `timeoutMs`. */
  async drain(timeoutMs = DRAIN_MS): Promise<void> {
    const { system, calls } = this;
    this.draining = true;
    const until = system.monotonic() + timeoutMs;
    while (calls.counts.inFlight > 0 && system.monotonic() < until)
      await new Promise<void>((done) => system.after(DRAIN_LOOK_MS, done));
  }

  /** Begins no more work, and tells everybody to go elsewhere. */
  leave(): void {
    this.draining = true;
    this.calls.stop();
    this.dispatcher.stop();
    this.sessions.close();
  }

  /** Ends what runs by itself, once nobody is connected any more. The store is left to whoever opened it. */
  async stop(): Promise<void> {
    this.reaper.stop();
    this.tasks.stop();
    await this.journal.stop();
    this.catalog.stop();
    this.registry.stop();
    this.wheel.stop();
  }
}

/** What of a progress report is kept as an event. */
function progressOf(json: string): object {
  const { percent, message, data } = JSON.parse(json) as { percent?: number; message?: string; data?: unknown };
  return {
    ...(percent !== undefined && { percent }),
    ...(message !== undefined && { message }),
    ...(data !== undefined && { data }),
  };
}
