// Writes once per turn of the event loop however many messages wait, and early after 16 of them, so that the
// other side starts working while we still fill the next write instead of both sides taking turns.
const flushAfter = 16;

/** Returns `send(data)` for an open WebSocket whose TCP socket is `socket`. */
export function corkedSender(ws, socket) {
  let waiting = 0;
  const flush = () => {
    if (waiting === 0) return;
    waiting = 0;
    socket.uncork();
  };
  const text = { binary: false };
  return (data) => {
    if (waiting === 0) {
      socket.cork();
      process.nextTick(flush);
    }
    ws.send(data, text);
    if (++waiting === flushAfter) flush();
  };
}

/** Waits until a client's WebSocket is open and returns its TCP socket. */
export function opened(ws) {
  return new Promise((resolve, reject) => {
    let socket;
    ws.once("upgrade", (response) => {
      socket = response.socket;
    });
    ws.once("open", () => resolve(socket));
    ws.once("error", reject);
  });
}
