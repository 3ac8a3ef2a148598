import type { JournalEvent } from "@agent-reach/protocol";
import { ReachError } from "@agent-reach/protocol";
import type { FastifyInstance, FastifyReply } from "fastify";
import type { Rooms } from "./rooms.js";

/** Well under the time after which middleboxes cut idle connections. */
const COMMENT_EVERY_MS = 15_000;
const BACKLOG_MAX = 8 * 1024 * 1024;
const PAGE = 1000;

/** `GET /v1/events`: everything that happens, as server-sent events; or the registry's changes since a revision. */
export function streamRoutes(app: FastifyInstance, rooms: Rooms): void {
  app.get("/v1/events", async (request, reply) => {
    const query = request.query as { revision?: string };
    if (query.revision !== undefined) {
      const revision = Number(query.revision);
      if (!Number.isInteger(revision) || revision < 0)
        throw new ReachError("INVALID_REQUEST", '"revision" must be a whole number.', { path: "revision" });
      const stream = new EventStream(rooms, reply);
      const early: object[] = [];
      let begun = false;
      const stop = rooms.feed.watch(revision, {}, (event) => {
        if (begun) stream.send(event.revision, event.type, event);
        else early.push(event);
      });
      stream.begin(stop);
      begun = true;
      for (const event of early as { revision: number; type: string }[]) stream.send(event.revision, event.type, event);
      return reply;
    }
    const last = request.headers["last-event-id"];
    const stream = new EventStream(rooms, reply);
    const late: JournalEvent[] = [];
    let caughtUp = false;
    const stop = rooms.journal.listen((event) => {
      if (caughtUp) stream.send(event.id, event.type, event);
      else late.push(event);
    });
    stream.begin(stop);
    let seen = last === undefined ? 0 : Number(last);
    if (last !== undefined && Number.isFinite(seen)) {
      for (;;) {
        const { events, gap } = await rooms.journal.since(seen, PAGE);
        if (gap) stream.send(seen, "gap", { type: "gap", after: seen });
        for (const event of events) stream.send(event.id, event.type, event);
        if (events.length > 0) seen = events[events.length - 1]!.id;
        if (events.length < PAGE) break;
      }
    }
    for (const event of late) if (event.id > seen) stream.send(event.id, event.type, event);
    caughtUp = true;
    return reply;
  });
}

class EventStream {
  private stopComments: (() => void) | undefined;

  constructor(
    private readonly rooms: Rooms,
    private readonly reply: FastifyReply,
  ) {}

  begin(stop: () => void): void {
    const { raw } = this.reply;
    this.reply.hijack();
    raw.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store", "x-accel-buffering": "no" });
    raw.write(": hello\n\n");
    const comment = () => {
      this.stopComments = this.rooms.system.after(COMMENT_EVERY_MS, () => {
        raw.write(":\n\n");
        comment();
      });
    };
    comment();
    raw.on("close", () => {
      stop();
      this.stopComments?.();
    });
  }

  send(id: number, type: string, data: object): void {
    const { raw } = this.reply;
    if (raw.writableLength > BACKLOG_MAX) {
      raw.destroy();
      return;
    }
    raw.write(`id: ${id}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`);
  }
}
