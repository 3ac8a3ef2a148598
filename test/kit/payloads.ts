import type { Json } from "./wire.js";

export const MB = 1_048_576;

/** A text which as JSON has so many bytes. */
export const text = (bytes: number) => "x".repeat(bytes - 2);

export const call = (capability: string, input: Json = {}, timeoutMs = 5_000) => ({ capability, input, timeoutMs });
