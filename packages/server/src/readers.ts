import { join } from "node:path";
import { FineStage } from "./catalog/fine-stage.js";
import type { Readers } from "./catalog/readers.js";
import { openMeaning } from "./catalog.js";
import type { Config } from "./config.js";
import { openOpenAiChatChooser } from "./engines/choosers/openai-chat.js";
import { openOpenAiEmbedder } from "./engines/embedders/openai.js";
import { VectorCache } from "./engines/embedders/vector-cache.js";
import type { System } from "./ports/system.js";

/** Hears, in a sentence, what an operator should know. */
export interface Say {
  warn(text: string): void;
  info(text: string): void;
}

/** Opens what reads requests in words: the index of what is in the box, and what the settings add to it. */
export async function openReaders(config: Config, system: System, say: Say): Promise<Readers & { close(): void }> {
  const { catalog } = config;
  const newMeaning = await openMeaning(catalog);
  const chooser = openOpenAiChatChooser(catalog.llm, { system, warn: say.warn });
  const cache = await openCache(config, system, say);
  return {
    newMeaning,
    fine: fineStageOf(config, system, say, cache),
    chooser,
    close: () => {
      chooser?.close();
      cache?.close();
    },
  };
}

function fineStageOf(
  { catalog }: Config,
  system: System,
  say: Say,
  cache: VectorCache | undefined,
): FineStage | undefined {
  const { baseUrl, model, waitMs, ...settings } = catalog.fine;
  if (baseUrl === undefined || model === undefined) return undefined;
  const open = (signal: AbortSignal) =>
    openOpenAiEmbedder({ ...settings, baseUrl, model }, { system, warn: say.warn, cache }, signal);
  return new FineStage({ open, waitMs, system, say });
}

/** Vectors outlive the node where its data does. */
async function openCache({ catalog, data }: Config, system: System, { warn }: Say): Promise<VectorCache | undefined> {
  const { baseUrl, cacheRowsMax: rowsMax } = catalog.fine;
  if (baseUrl === undefined || rowsMax === 0 || data.engine === "memory") return undefined;
  return VectorCache.open(join(data.dir, "embeddings.db"), { rowsMax, system, warn });
}
