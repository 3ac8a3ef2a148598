import type { Group, Published, SubmittedMany } from "@agent-reach/protocol";
import { limits } from "@agent-reach/protocol";
import type { Caller } from "../../packages/server/src/access/access.js";
import { readMany } from "../../packages/server/src/gateway/many.js";
import { type Origin, type RawParams, readPublish } from "../../packages/server/src/gateway/messages.js";
import { rawAt } from "../../packages/server/src/json/raw.js";
import { Batches, errorOfItem } from "../../packages/server/src/tasks/batches.js";
import { Groups } from "../../packages/server/src/tasks/groups.js";
import { Publisher } from "../../packages/server/src/tasks/publisher.js";
import { anyone, type FakeRooms } from "./fake-rooms.js";
import { settle } from "./fake-system.js";

/** Many tasks at once over the rooms of a test: what the door reads is what the node reads. */
export class FanOut {
  readonly batches: Batches;
  readonly groups: Groups;
  /** Groups that have settled, as their submitters are told. */
  readonly settled: { principal: string; sessionId: string; group: Group }[] = [];
  private readonly publisher: Publisher;

  constructor(
    private readonly rooms: FakeRooms,
    tasksPerRequestMax = 100,
  ) {
    const { engine, tasks, dispatcher, admission, catalog, system } = rooms;
    this.batches = new Batches(engine.tasks, tasks, dispatcher, admission, { tasksPerRequestMax });
    this.groups = new Groups(engine.tasks, tasks, dispatcher.commits.groups, (error) => rooms.trouble.push(error));
    this.publisher = new Publisher(engine.tasks, catalog, this.batches, system);
    this.groups.onSettled((principal, sessionId, group) => this.settled.push({ principal, sessionId, group }));
  }

  /** `params` as text, where it matters how something was written. */
  async many(params: object | string, caller: Caller = anyone): Promise<SubmittedMany> {
    const { value, raw } = read(params);
    const many = readMany(value, raw, this.originOf(caller));
    const tasks = await this.batches.submit(caller, many.requests, errorOfItem);
    await settle();
    return { groupId: many.groupId, tasks };
  }

  async publish(params: object | string, caller: Caller = anyone): Promise<Published> {
    const { value, raw } = read(params);
    const request = readPublish(value, raw, this.originOf(caller));
    const published = await this.publisher.publish(request);
    await settle();
    return published;
  }

  private originOf(caller: Caller): Origin {
    const { system } = this.rooms;
    return { caller, system, inputBytesMax: limits.inputBytesMax, inheritedTrace: () => undefined };
  }
}

function read(params: object | string): { value: unknown; raw: RawParams } {
  const text = typeof params === "string" ? params : JSON.stringify(params);
  return { value: JSON.parse(text), raw: { raw: (key) => rawAt(text, [key]), text: () => text } };
}
