/** What the server sends of its own accord. */
import { type TSchema, Type } from "typebox";
import { RegistryEvent } from "./agents.js";
import { DeliverAnswer, DeliveredEnvelope } from "./envelope.js";
import { Group, Task } from "./messages.js";
import { MessageId } from "./names.js";
import { params } from "./params.js";
import { whole } from "./parts.js";

export const Delivery = Type.Object({ envelope: DeliveredEnvelope, attempt: whole(1) });
export const Cancel = Type.Object({ messageId: MessageId, attempt: whole(1), reason: Type.String() });

/** Requests of the server, each with what the client answers. */
export const serverRequests = {
  deliver: { params: Delivery, result: DeliverAnswer },
  "task.update": { params: Task, result: Type.Object({}) },
  ping: { params: Type.Object({}), result: Type.Object({}) },
} as const satisfies Record<string, { params: TSchema; result: TSchema }>;

/** Notifications of the server. */
export const serverNotifications = {
  event: RegistryEvent,
  cancel: Cancel,
  progress: params.progress,
  "group.update": Group,
} as const satisfies Record<string, TSchema>;
