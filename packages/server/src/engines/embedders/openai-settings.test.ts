import { describe, expect, test } from "vitest";
import { checkOpenAiSettings, embeddingsUrl, type OpenAiSettings, openAiDefaults, spaceId } from "./openai-settings.js";

const settings: OpenAiSettings = { ...openAiDefaults, baseUrl: "http://127.0.0.1:8000", model: "m" };

describe("CAT-4: settings of an OpenAI-compatible embedder", () => {
  test.each([
    ["https://api.openai.com", "https://api.openai.com/v1/embeddings"],
    ["https://api.openai.com/", "https://api.openai.com/v1/embeddings"],
    ["https://api.openai.com/v1", "https://api.openai.com/v1/embeddings"],
    ["https://api.openai.com/v1//", "https://api.openai.com/v1/embeddings"],
    ["http://127.0.0.1:8080/proxy", "http://127.0.0.1:8080/proxy/v1/embeddings"],
    ["https://example.com/api/paas/v4/", "https://example.com/api/paas/v4/embeddings"],
    ["https://example.com/v1beta/openai/embeddings", "https://example.com/v1beta/openai/embeddings"],
  ])("%s leads to %s", (baseUrl, url) => {
    expect(embeddingsUrl(baseUrl)).toBe(url);
  });

  test.each<[string, Partial<OpenAiSettings>, RegExp]>([
    ["baseUrl", { baseUrl: "localhost:8000" }, /localhost: *;|begins with localhost:/],
    ["baseUrl", { baseUrl: "not a URL" }, /is not a URL/],
    ["baseUrl", { baseUrl: "http://me:hidden@host" }, /put the key into `key`/],
    ["baseUrl", { baseUrl: "http://host/?key=hidden" }, /query/],
    ["model", { model: " " }, /is empty/],
    ["key", { key: "hidden\n" }, /no header may hold/],
    ["dimensions", { dimensions: 0 }, /whole number from 1/],
    ["batchSize", { batchSize: 1.5 }, /whole number from 1/],
    ["timeoutMs", { timeoutMs: Number.NaN }, /whole number from 1/],
    ["requestsMax", { requestsMax: 0 }, /whole number from 1/],
  ])("%s is refused by name where it cannot be used, and shows no secret: %j", (path, change, message) => {
    let error: unknown;
    try {
      checkOpenAiSettings({ ...settings, ...change });
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toMatchObject({ code: "INVALID_REQUEST", path, message: expect.stringMatching(message) });
    expect((error as Error).message).not.toContain("hidden");
  });

  test("every setting that changes a vector changes the id, and no other does", () => {
    const id = spaceId(settings, 384);
    const others: Partial<OpenAiSettings>[] = [
      { model: "n" },
      { dimensions: 256 },
      { queryPrefix: "query: " },
      { passagePrefix: "query: " },
      { baseUrl: "http://127.0.0.1:8001" },
    ];
    const ids = others.map((change) => spaceId({ ...settings, ...change }, 384));
    expect(new Set([...ids, id, spaceId(settings, 256)]).size).toBe(others.length + 2);
    const same: Partial<OpenAiSettings>[] = [
      { key: "k" },
      { batchSize: 3 },
      { timeoutMs: 5 },
      { requestsMax: 9 },
      { baseUrl: `${settings.baseUrl}/v1/` },
    ];
    for (const change of same) expect(spaceId({ ...settings, ...change }, 384)).toBe(id);
    expect(id).toMatch(/^openai-m-384-/);
  });
});
