import { describe, expect, test } from "vitest";
import { chatUrl, checkOpenAiChatSettings, type OpenAiChatSettings } from "./openai-chat-settings.js";

const settings: OpenAiChatSettings = { baseUrl: "http://127.0.0.1:8000", model: "m", timeoutMs: 2_000, cacheMax: 10 };

describe("CAT-5: settings of a language model", () => {
  test.each([
    ["https://api.openai.com", "https://api.openai.com/v1/chat/completions"],
    ["https://api.openai.com/v1/", "https://api.openai.com/v1/chat/completions"],
    ["https://example.com/api/paas/v4/", "https://example.com/api/paas/v4/chat/completions"],
    ["https://example.com/v1beta/openai/chat/completions", "https://example.com/v1beta/openai/chat/completions"],
  ])("%s leads to %s", (baseUrl, url) => {
    expect(chatUrl(baseUrl)).toBe(url);
  });

  test.each<[string, Partial<OpenAiChatSettings>, RegExp]>([
    ["baseUrl", { baseUrl: "not a URL" }, /the language model's baseUrl is not a URL/],
    ["baseUrl", { baseUrl: "http://me:hidden@host" }, /put the key into `key`/],
    ["model", { model: " " }, /is empty/],
    ["key", { key: "hidden\n" }, /no header may hold/],
    ["timeoutMs", { timeoutMs: 0 }, /whole number from 1/],
    ["cacheMax", { cacheMax: -1 }, /whole number from 0/],
  ])("%s is refused by name where it cannot be used, and shows no secret: %j", (path, change, message) => {
    let error: unknown;
    try {
      checkOpenAiChatSettings({ ...settings, ...change });
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toMatchObject({ code: "INVALID_REQUEST", path, message: expect.stringMatching(message) });
    expect((error as Error).message).not.toContain("hidden");
  });
});
