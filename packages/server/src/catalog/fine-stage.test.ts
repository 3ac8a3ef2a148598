import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { EmbeddingServer, type Respond } from "../../../../test/kit/embedding-server.js";
import { FakeSystem, settle } from "../../../../test/kit/fake-system.js";
import { answering } from "../../../../test/kit/openai-embedder.js";
import { within } from "../../../../test/kit/within.js";
import { openOpenAiEmbedder } from "../engines/embedders/openai.js";
import { openAiDefaults } from "../engines/embedders/openai-settings.js";
import { FineStage } from "./fine-stage.js";

const WAIT_MS = 1_000;
const cancel = { name: "order.cancel", description: "Cancels an order", examples: ["cancel my order please"] };
const weather = { name: "weather", description: "Tells the weather", examples: ["will it rain tomorrow"] };
const never: Respond = () => new Promise(() => {});

let system: FakeSystem;
let server: EmbeddingServer;
let stage: FineStage;
let said: string[];
beforeEach(async () => {
  system = new FakeSystem();
  server = await EmbeddingServer.listen();
  said = [];
});
afterEach(async () => {
  stage.stop();
  await server.close();
  await settle();
  expect(system.pending).toBe(0);
});

function begin({ languages = ["*"], waitMs = WAIT_MS }: { languages?: string[]; waitMs?: number } = {}): FineStage {
  const settings = { ...openAiDefaults, baseUrl: server.url, model: "letters", languages, requestsMax: 1 };
  const warn = (text: string) => void said.push(`warn ${text}`);
  const open = (signal: AbortSignal) => openOpenAiEmbedder(settings, { system, warn }, signal);
  stage = new FineStage({
    open,
    waitMs,
    system,
    say: { warn, info: (text) => void said.push(`info ${text}`) },
  });
  stage.start();
  return stage;
}

/** Lets time pass in small steps until it is so; what comes over the wire needs no time of this clock. */
const until = (what: string, isSo: () => boolean, stepMs = 100) =>
  within(
    (async () => {
      while (!isSo()) {
        system.advance(stepMs);
        await settle(1);
      }
    })(),
    what,
  );
const embedded = () => until("all cards to be embedded", () => stage.passages !== undefined && stage.behind === 0, 0);
const near = async (text: string) => (await stage.read(text)).near!;
const trouble = async (text = "cancel it") => (await stage.read(text)).trouble;
const warnings = () => said.filter((text) => text.startsWith("warn the fine stage"));

describe("CAT-4: a better embedder reads requests", () => {
  test("and finds the card that says the like nearer than another", async () => {
    begin();
    stage.put(cancel);
    stage.put(weather);
    await embedded();
    const { of } = await near("cancel the order");
    expect(of("order.cancel")).toBeGreaterThan(of("weather")! + 0.2);
    expect(of("nobody")).toBeUndefined();
    expect(said).toEqual([]);
  });

  test("cards that come are embedded beside, those that change anew, those that go are forgotten", async () => {
    begin();
    stage.put(cancel);
    await embedded();
    server.texts.length = 0;
    stage.put({ ...cancel, examples: ["stop the delivery"] });
    stage.put(weather);
    stage.remove("weather");
    await embedded();
    expect(server.texts).toContain("stop the delivery");
    expect(server.texts).not.toContain("will it rain tomorrow");
    expect(stage.passages!.size).toBe(1);
    server.texts.length = 0;
    stage.put({ ...cancel, examples: ["stop the delivery"] });
    await embedded();
    expect(server.texts).toEqual([]);
  });

  test("a language that it cannot read is left to the others", async () => {
    begin({ languages: ["en"] });
    stage.put(cancel);
    stage.put({ name: "天气", description: "查询天气", examples: ["明天会下雨吗"] });
    await embedded();
    expect(await trouble("取消我的订单")).toBe("it does not read zh");
    expect(server.texts).not.toContain("明天会下雨吗");
    expect((await near("cancel the order")).of("order.cancel")).toBeGreaterThan(0.3);
  });
});

describe("CAT-4: nobody waits for it in vain", () => {
  test("before it is open it says so at once", async () => {
    server.respond = never;
    begin();
    system.advance(0);
    expect(await trouble()).toBe("it is not open yet");
  });

  test("F1: a slow one is waited for as long as is set, then nobody waits for a while, and then it is tried again", async () => {
    begin();
    stage.put(cancel);
    await embedded();
    const well = server.respond;
    server.respond = never;
    const waiting = trouble("cancel it");
    await until("the request to be sent", () => server.texts.includes("cancel it"), 0);
    system.advance(WAIT_MS);
    expect(await waiting).toBe("no answer within 1000 ms");
    server.respond = well;
    server.texts.length = 0;
    expect(await trouble("cancel that")).toBe("no answer within 1000 ms");
    expect(server.texts).toEqual([]);
    system.advance(WAIT_MS);
    expect((await near("cancel the order")).of("order.cancel")).toBeGreaterThan(0.3);
    expect(warnings()).toHaveLength(1);
    expect(said.at(-1)).toBe("info the fine stage of finding by meaning works again");
  });

  const nan: Respond = () => ({ body: `{"data":[{"index":0,"embedding":[${Array(64).fill("NaN").join()}]}]}` });
  const nulls: Respond = () => ({ body: { data: [{ index: 0, embedding: Array(64).fill(null) }] } });
  test.each<[string, Respond, string]>([
    ["answers 429", answering(429), "rate_limited"],
    ["answers 500", answering(500), "server_error"],
    ["takes the key no more", answering(401), "unauthorized"],
    ["gives vectors of other dimensions", answering(200, { data: [{ index: 0, embedding: [1, 2] }] }), "bad_answer"],
    ["gives vectors that are not numbers", nan, "bad_answer"],
    ["gives vectors of nothing", nulls, "bad_answer"],
    [
      "breaks off",
      (_request, raw) => {
        raw.destroy();
        return undefined;
      },
      "unreachable",
    ],
  ])("one that %s is gone without, and the reason is told", async (_what, respond, reason) => {
    begin({ waitMs: 60_000 });
    stage.put(cancel);
    await embedded();
    const well = server.respond;
    server.respond = respond;
    const asked = stage.read("cancel it");
    let told: string | undefined;
    void asked.then(({ trouble }) => {
      told = trouble;
    });
    await until("the reason to be told", () => told !== undefined);
    expect(told).toBe(reason);
    expect(warnings()).toHaveLength(1);
    server.respond = well;
    system.advance(1_000);
    await embedded();
    expect((await near("cancel the order")).of("order.cancel")).toBeGreaterThan(0.3);
  });

  test("one that is down at the start is opened when it is up, and embeds what came meanwhile", async () => {
    const well = server.respond;
    server.respond = answering(503);
    begin();
    stage.put(cancel);
    await until("it to fail", () => warnings().length === 1);
    expect(await trouble()).toBe("server_error");
    server.respond = well;
    await until("it to be open", () => stage.behind === 0, 1_000);
    expect((await near("cancel the order")).of("order.cancel")).toBeGreaterThan(0.3);
    expect(warnings()).toHaveLength(1);
  });
});

test("F2: of another model under the same address nothing is mixed with the former's: all is embedded anew", async () => {
  begin();
  stage.put(cancel);
  await embedded();
  const other = await EmbeddingServer.listen(32);
  server.respond = other.respond;
  expect(await trouble("cancel it")).toBe("bad_answer");
  expect(stage.passages).toBeUndefined();
  server.texts.length = 0;
  await until("all to be embedded anew", () => stage.passages !== undefined && stage.behind === 0, 1_000);
  expect(server.texts).toContain("cancel my order please");
  expect((await near("cancel the order")).of("order.cancel")).toBeGreaterThan(0.3);
  await other.close();
});

test("a text that the server refuses holds up its own card alone", async () => {
  const well = server.respond;
  server.respond = (request, raw) =>
    request.body.input.includes("poison") ? { status: 400, body: {} } : well(request, raw);
  begin();
  stage.put({ name: "bad", examples: ["poison"] });
  for (let i = 0; i < 20; i++) stage.put({ ...cancel, name: `order.${i}` });
  await until("all others to be embedded", () => stage.passages?.size === 20, 1_000);
  expect(stage.behind).toBe(1);
  expect((await near("cancel the order")).of("order.7")).toBeDefined();
  // It is tried again and again, and who asks never waits for that or goes without.
  for (let i = 0; i < 5; i++) {
    server.texts.length = 0;
    await until("it to be tried again", () => server.texts.includes("poison"), 1_000);
    expect(await near(`cancel order ${i}`)).toBeDefined();
  }
  expect(said).toEqual([expect.stringMatching(/^warn a card is left out of the fine stage/)]);
});
