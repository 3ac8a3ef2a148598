import { randomBytes } from "node:crypto";

const tail = randomBytes(5).toString("hex");
let count = 0;

/** A UUID of version 7 as SDKs make them: ordered by time, so that an index over them grows at its end. */
export function newId() {
  const time = Date.now().toString(16).padStart(12, "0");
  count = (count + 1) % 0x1000000;
  const serial = count.toString(16).padStart(6, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}-7${serial.slice(0, 3)}-8${serial.slice(3)}-${tail}00`;
}
