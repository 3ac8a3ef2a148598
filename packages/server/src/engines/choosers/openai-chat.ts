import { createHash } from "node:crypto";
import type { ReachError } from "@agent-reach/protocol";
import { RecentlyUsed } from "../../collections/recently-used.js";
import type { Choice, Chooser, Choosing } from "../../ports/chooser.js";
import type { System } from "../../ports/system.js";
import { type FailureReason, failureOf } from "../openai/failure.js";
import { Flight, type Flights, unlessAborted } from "../openai/flight.js";
import type { Reply } from "./openai-chat-answer.js";
import { OpenAiChatEndpoint } from "./openai-chat-endpoint.js";
import { checkOpenAiChatSettings, type OpenAiChatSettings } from "./openai-chat-settings.js";
import { type Question, questionOf } from "./question.js";
import { Rest } from "./rest.js";

export interface OpenAiChatParts {
  system: System;
  /** Hears what an operator should know, in a sentence. */
  warn(text: string): void;
}

/** Questions under way at once; a caller whose question would be one more goes on without an answer. */
const QUESTIONS_MAX = 16;
const NOTHING_ASKED: Choosing = { chosen: null, reason: "none", cached: false, tookMs: 0 };

/**
 * Has a language model choose, behind any server that speaks OpenAI's `POST /v1/chat/completions`. Equal questions are sent once,
 * however many ask them at the same moment, and not at all while the answer is remembered. A server that keeps failing is left
 * alone for a while, so that the callers do not wait for it.
 */
export class OpenAiChatChooser implements Chooser {
  readonly id: string;
  private readonly endpoint: OpenAiChatEndpoint;
  private readonly replies: RecentlyUsed<Reply>;
  private readonly flights: Flights<Reply> = new Map();
  private readonly rest: Rest;
  private readonly system: System;
  private closed = false;

  /** Throws INVALID_REQUEST which names the setting that cannot be used. Nothing is sent before the first question. */
  constructor(
    settings: OpenAiChatSettings,
    private readonly parts: OpenAiChatParts,
  ) {
    checkOpenAiChatSettings(settings);
    this.system = parts.system;
    this.id = `openai-chat-${settings.model}`;
    this.endpoint = new OpenAiChatEndpoint(settings, this.system, QUESTIONS_MAX);
    this.replies = new RecentlyUsed(settings.cacheMax);
    this.rest = new Rest(this.system);
  }

  async choose(request: string, choices: readonly Choice[], signal: AbortSignal): Promise<Choosing> {
    signal.throwIfAborted();
    if (this.closed) throw this.closedFailure();
    const question = questionOf(request, choices);
    if (question === undefined) return NOTHING_ASKED;
    const startedAt = this.system.monotonic();
    const choosing = ({ place, reason }: Reply, cached: boolean): Choosing => {
      const chosen = place === null ? null : choices[place]!.name;
      return { chosen, reason, cached, tookMs: this.system.monotonic() - startedAt };
    };
    const key = keyOf(question);
    const known = this.replies.get(key);
    if (known !== undefined) return choosing(known, true);
    const flight = this.flights.get(key) ?? this.send(key, question);
    flight.join();
    try {
      const replies = await unlessAborted(flight.answers, signal);
      return choosing(replies.get(key)!, false);
    } finally {
      flight.leave();
    }
  }

  close(): void {
    this.closed = true;
    for (const flight of [...this.flights.values()]) flight.callOff(this.closedFailure());
    this.endpoint.close();
  }

  private send(key: string, question: Question): Flight<Reply> {
    const { leftMs } = this.rest;
    if (leftMs > 0) throw this.failure("resting", "failed just now, and is left alone for a while", Math.ceil(leftMs));
    if (this.flights.size >= QUESTIONS_MAX)
      throw this.failure("busy", `has ${QUESTIONS_MAX} questions before it already; ask again when some are answered`);
    return new Flight(this.flights, [key], async (signal) => {
      try {
        const reply = await this.endpoint.reply(question, signal);
        this.rest.succeeded();
        this.replies.set(key, reply);
        return [reply];
      } catch (error) {
        // Who called it off is no failure of the server.
        if (!signal.aborted) this.failed(error as ReachError);
        throw error;
      }
    });
  }

  private failed(error: ReachError): void {
    const restMs = this.rest.failed(error.retryAfterMs);
    if (restMs === 0) return;
    const what = "a language model that fails is not asked for a while, and requests are answered without it";
    this.parts.warn(`${what} (${restMs} ms): ${error.message}`);
  }

  private closedFailure(): ReachError {
    return this.failure("closed", "was closed; ask again when the node has started");
  }

  private failure(reason: FailureReason, what: string, retryAfterMs?: number): ReachError {
    return failureOf(this.endpoint.asked, reason, what, { retryAfterMs });
  }
}

/** Names, texts and request are all in the block; the model is this chooser's only one. */
function keyOf({ block }: Question): string {
  return createHash("sha256").update(block).digest("base64url").slice(0, 22);
}

/** Undefined while it is off: no address, or no model. */
export function openOpenAiChatChooser(
  settings: Omit<OpenAiChatSettings, "baseUrl" | "model"> & { baseUrl?: string; model?: string },
  parts: OpenAiChatParts,
): OpenAiChatChooser | undefined {
  const { baseUrl, model } = settings;
  if (baseUrl === undefined || model === undefined) return undefined;
  return new OpenAiChatChooser({ ...settings, baseUrl, model }, parts);
}
