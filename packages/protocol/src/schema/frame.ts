/** JSON-RPC 2.0 as this protocol uses it: one message a frame, parameters always by name, no batches. */
import { Type } from "typebox";
import { ErrorBody } from "./messages.js";
import { anyObject, anything, optional } from "./parts.js";

const id = Type.Unsafe<string | number>({ type: ["string", "number"] });
const version = Type.Unsafe<"2.0">({ type: "string", enum: ["2.0"] });

/** Without `id` it is a notification, and nothing answers it. */
export const RpcRequest = Type.Object({
  jsonrpc: version,
  id: optional(id),
  method: Type.String({ minLength: 1 }),
  params: optional(anyObject),
});

export const RpcResult = Type.Object({ jsonrpc: version, id, result: anything });

const { message: _, ...data } = ErrorBody.properties;

/** `id` is null where the frame was too broken to tell. */
export const RpcError = Type.Object({
  jsonrpc: version,
  id: Type.Unsafe<string | number | null>({ type: ["string", "number", "null"] }),
  error: Type.Object({ code: Type.Integer(), message: Type.String(), data: optional(Type.Object(data)) }),
});
