import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { ReachError } from "@agent-reach/protocol";
import { type WebSocket, WebSocketServer } from "ws";
import { checkHost, checkOrigin } from "../access/access.js";
import type { GatewaySettings } from "./rooms.js";
import type { Sessions } from "./sessions.js";
import { Flusher, Socket } from "./socket.js";

const PATH = "/registry";

/** The door for sockets: decides who may come in, does the handshake, and tells the sessions what the network says. */
export class Upgrades {
  private readonly server: WebSocketServer;
  private readonly flusher = new Flusher();

  constructor(
    private readonly settings: GatewaySettings,
    private readonly sessions: Sessions,
  ) {
    // Over twice the limit the connection ends with 1009; up to there the message is read, so that it can be answered.
    this.server = new WebSocketServer({
      noServer: true,
      maxPayload: settings.messageBytes * 2,
      perMessageDeflate: false,
      clientTracking: false,
    });
  }

  upgrade(request: IncomingMessage, stream: Duplex, head: Buffer): void {
    const { settings } = this;
    stream.on("error", () => stream.destroy());
    const path = (request.url ?? "").split("?")[0];
    const refusal =
      path !== PATH && path !== `${PATH}/`
        ? { status: "404 Not Found", why: `there is no socket at ${path}; connect to ${PATH}.` }
        : undefined;
    const badOrigin =
      checkOrigin(request.headers.origin, settings.allowedOrigins) ??
      checkHost(request.headers.host, settings.host, settings.allowedHosts);
    const refused = refusal ?? (badOrigin === undefined ? undefined : { status: "403 Forbidden", why: badOrigin });
    if (refused !== undefined) {
      const body = JSON.stringify(
        new ReachError(refusal === undefined ? "FORBIDDEN" : "NOT_FOUND", refused.why).toBody(),
      );
      stream.end(
        `HTTP/1.1 ${refused.status}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
      );
      return;
    }
    this.server.handleUpgrade(request, stream, head, (ws) => this.accept(ws, stream));
  }

  private accept(ws: WebSocket, stream: Duplex): void {
    const connection = this.sessions.accept(new Socket(ws, stream, this.flusher));
    const { session } = connection;
    ws.on("message", (data: Buffer, isBinary: boolean) => {
      if (isBinary) return session.close(1003, "binary frames are not taken");
      connection.receive(data);
    });
    stream.on("drain", () => connection.drained());
    ws.on("pong", () => connection.ponged());
    // Broken frames and resets end in `close` too; this keeps them from ending the process.
    ws.on("error", (error) => this.sessions.brokenBy(error));
    ws.on("close", (code: number) => connection.closed(code));
  }
}
