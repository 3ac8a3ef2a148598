import type { Dial, Transport } from "./transport.js";

/** The browser's own WebSocket. It writes frames of one turn together by itself. */
export const browserDial: Dial = (url, events) => {
  let over = false;
  const closed = (code: number, reason: string) => {
    if (over) return;
    over = true;
    events.closed(code, reason);
  };
  let socket: WebSocket;
  try {
    socket = new WebSocket(url);
  } catch (error) {
    queueMicrotask(() => closed(1006, String(error)));
    return { bufferedBytes: 0, send: () => {}, close: () => {} };
  }
  socket.onopen = () => events.opened();
  socket.onmessage = ({ data }) => {
    if (typeof data === "string") events.received(data);
  };
  socket.onclose = ({ code, reason }) => closed(code, reason);
  const transport: Transport = {
    get bufferedBytes() {
      return socket.bufferedAmount;
    },
    send: (text) => {
      if (socket.readyState === WebSocket.OPEN) socket.send(text);
    },
    // Browsers allow only 1000 and 3000 to 4999.
    close: (code, reason) => socket.close(code, reason.slice(0, 40)),
  };
  return transport;
};
