import { createHmac } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { cardOf } from "./agents.js";
import { Mailbox } from "./mailbox.js";
import type { ReachNode } from "./node.js";
import type { Json } from "./wire.js";
import { patienceMs } from "./within.js";

export interface Posted {
  path: string;
  headers: Record<string, string | string[] | undefined>;
  text: string;
  body: Json;
}

export interface HookAnswer {
  status: number;
  headers?: Record<string, string>;
  body?: Json;
}

export type Hook = (posted: Posted) => HookAnswer | Promise<HookAnswer>;

/** An agent behind an HTTP endpoint of its own: a small server which the node posts to. */
export class WebhookAgent {
  readonly posts = new Mailbox<Posted>();
  /** Paths which were asked for by GET or HEAD: the node's probe. */
  readonly probes = new Mailbox<string>();
  /** What the probe finds; 500 is a sick agent. */
  pingStatus = 200;
  card: Json;
  registered: Json;
  readonly #server: Server;
  #hook: Hook;

  private constructor(hook: Hook, card: Json) {
    this.#hook = hook;
    this.card = card;
    this.#server = createServer((incoming, answer) => {
      const chunks: Buffer[] = [];
      incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
      incoming.on("end", async () => {
        const path = incoming.url ?? "";
        if (incoming.method !== "POST") {
          this.probes.put(path);
          answer.writeHead(this.pingStatus).end();
          return;
        }
        const text = Buffer.concat(chunks).toString("utf8");
        const posted = { path, headers: incoming.headers, text, body: JSON.parse(text) };
        this.posts.put(posted);
        const { status, headers, body } = await this.#hook(posted);
        answer.writeHead(status, { "content-type": "application/json", ...headers });
        answer.end(body === undefined ? undefined : JSON.stringify(body));
      });
    });
  }

  static async join(node: ReachNode, hook: Hook, card: Json = cardOf()): Promise<WebhookAgent> {
    const agent = await WebhookAgent.listen(hook, card);
    await agent.register(node);
    return agent;
  }

  /** One that gives every message the same answer. */
  static answering(node: ReachNode, answer: Json, card: Json = cardOf()): Promise<WebhookAgent> {
    return WebhookAgent.join(node, () => ({ status: 200, body: answer }), card);
  }

  static async listen(hook: Hook, card: Json = cardOf()): Promise<WebhookAgent> {
    const agent = new WebhookAgent(hook, card);
    await new Promise<void>((resolve) => agent.#server.listen(0, "127.0.0.1", resolve));
    return agent;
  }

  async register(node: ReachNode): Promise<void> {
    this.card = { ...this.card, transport: { type: "http", endpoint: this.endpoint } };
    const answer = await node.http.post("/v1/agents", { card: this.card });
    if (answer.status >= 300) throw new Error(`not registered: ${answer.status} ${answer.text}`);
    this.registered = answer.body;
  }

  get endpoint(): string {
    const { port } = this.#server.address() as AddressInfo;
    return `http://127.0.0.1:${port}/hook`;
  }

  get capability(): string {
    return this.card.capabilities[0].name;
  }

  answerWith(hook: Hook): void {
    this.#hook = hook;
  }

  next(ms: number = patienceMs): Promise<Posted> {
    return this.posts.next(`a post to ${this.card.agentId}`, () => true, ms);
  }

  /** Whether the signature of the post is ours: HMAC-SHA256 of `t.body` with the instanceKey. */
  signed(posted: Posted, key: string = this.registered.instanceKey): boolean {
    const match = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(posted.headers["agent-reach-signature"]));
    if (match === null) return false;
    const [, time, given] = match;
    return createHmac("sha256", key).update(`${time}.${posted.text}`).digest("hex") === given;
  }

  cut(): void {
    void this.close();
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
