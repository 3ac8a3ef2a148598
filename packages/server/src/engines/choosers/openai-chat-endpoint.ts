import type { System } from "../../ports/system.js";
import { OpenAiClient } from "../openai/client.js";
import { type Asked, failureReason } from "../openai/failure.js";
import { type Reply, readReply } from "./openai-chat-answer.js";
import { chatBody } from "./openai-chat-prompt.js";
import { chatUrl, type OpenAiChatSettings } from "./openai-chat-settings.js";
import type { Question } from "./question.js";

/** A choice takes some hundred bytes; what servers tell of themselves around it takes more. */
const ANSWER_BYTES_MAX = 256 * 1024;

/**
 * Posts questions to an OpenAI-compatible server. It is asked for structured answers; a server that refuses these and takes the
 * same question without is asked without from then on.
 */
export class OpenAiChatEndpoint {
  readonly asked: Asked;
  private readonly client: OpenAiClient;
  private structured = true;

  constructor(
    private readonly settings: OpenAiChatSettings,
    private readonly system: System,
    /** Most questions at once. */
    requestsMax: number,
  ) {
    const { key, timeoutMs } = settings;
    const url = chatUrl(settings.baseUrl);
    this.asked = { kind: "chooser", name: `${settings.model} at ${url}` };
    const advice = {
      oversize: `more than ${ANSWER_BYTES_MAX} bytes, which no choice takes`,
      tooLarge: "choose a model that takes 8,000 tokens",
      refused: "check the model, and that it takes `temperature` and `max_tokens`",
    };
    this.client = new OpenAiClient(
      { url, key, timeoutMs, requestsMax, answerBytesMax: ANSWER_BYTES_MAX, advice },
      this.asked,
      system,
    );
  }

  /** Rejects with the signal's reason, or a ReachError with `details.reason`. */
  async reply(question: Question, signal: AbortSignal): Promise<Reply> {
    const { timeoutMs } = this.settings;
    const startedAt = this.system.monotonic();
    if (this.structured) {
      try {
        return await this.post(question, true, timeoutMs, signal);
      } catch (error) {
        if (failureReason(error) !== "refused") throw error;
      }
    }
    const restMs = timeoutMs - (this.system.monotonic() - startedAt);
    const reply = await this.post(question, false, restMs, signal);
    // Only now: it may have been the question that was refused, and not the form of the answer.
    this.structured = false;
    return reply;
  }

  close(): void {
    this.client.close();
  }

  private post(question: Question, structured: boolean, restMs: number, signal: AbortSignal): Promise<Reply> {
    const { model, timeoutMs } = this.settings;
    return this.client.ask(
      {
        body: chatBody(model, question, structured),
        timeoutMs: restMs,
        hurried: true,
        late: `within ${timeoutMs} ms; see to the server, choose a faster model, or allow more time`,
        secrets: [question.request, question.block],
        read: (text) => readReply(text, question.ids),
      },
      signal,
    );
  }
}
