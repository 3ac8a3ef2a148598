import { failure, toError } from "./failure.js";

/** The WebSocket address of a node, from any of the forms in which people write it. */
export function normalizeUrl(given: string): string {
  const text = given.trim();
  const withScheme = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `ws://${text}`;
  let url: URL;
  try {
    url = new URL(withScheme);
  } catch {
    throw wrong(given);
  }
  if (url.protocol === "http:") url.protocol = "ws:";
  if (url.protocol === "https:") url.protocol = "wss:";
  if ((url.protocol !== "ws:" && url.protocol !== "wss:") || url.hostname === "") throw wrong(given);
  if (url.pathname === "" || url.pathname === "/") url.pathname = "/registry";
  url.hash = "";
  return url.href;
}

function wrong(given: string): Error {
  const text = `registryUrl ${JSON.stringify(given)} is no address; write ws://127.0.0.1:8800/registry, http://… or host:port`;
  return toError(failure("INVALID_REQUEST", text, { path: "registryUrl" }));
}
