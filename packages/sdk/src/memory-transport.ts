import type { Dial, Transport, TransportEvents } from "./transport.js";

/** The far end of a socket in memory. */
export interface MemoryPeer {
  readonly url: string;
  onText: (text: string) => void;
  onClose: (code: number, reason: string) => void;
  send(text: string): void;
  close(code: number, reason: string): void;
}

/**
 * A dial that reaches `accept` without a socket: client and node in one process, frames as text.
 * Every step is a microtask of its own, so nobody is called back inside his own call. `accept` returns false to refuse.
 */
export function memoryDial(accept: (peer: MemoryPeer) => boolean | undefined): Dial {
  return (url: string, events: TransportEvents): Transport => {
    let open = true;
    const end = (code: number, reason: string, tell: (code: number, reason: string) => void) => {
      if (!open) return;
      open = false;
      queueMicrotask(() => tell(code, reason));
    };
    const gone = (code: number, reason: string) => events.closed(code, reason);
    const peer: MemoryPeer = {
      url,
      onText: () => {},
      onClose: () => {},
      send: (text) => queueMicrotask(() => open && events.received(text)),
      close: (code, reason) => end(code, reason, gone),
    };
    queueMicrotask(() => {
      if (!open) return;
      if (accept(peer) === false) end(1006, "refused", gone);
      else events.opened();
    });
    return {
      bufferedBytes: 0,
      send: (text) => queueMicrotask(() => open && peer.onText(text)),
      close: (code, reason) => end(code, reason, (...why) => peer.onClose(...why)),
    };
  };
}
