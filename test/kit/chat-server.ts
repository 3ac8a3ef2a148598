import { type ApiRespond, ApiServer } from "./api-server.js";

export interface ChatBody {
  model: string;
  messages: { role: string; content: string }[];
  temperature: number;
  max_tokens: number;
  response_format?: { type: string; json_schema: { strict: boolean; schema: { properties: { choice: object } } } };
}

/** What a model is given to choose from, as it stands in the user's message. */
export interface ChatQuestion {
  request: string;
  choices: { id: string; name: string; description: string; examples: string[] }[];
}

export type ChatRespond = ApiRespond<ChatBody>;

/** A server that speaks `POST /v1/chat/completions`. Its model chooses what shares most words with the request. */
export class ChatServer extends ApiServer<ChatBody> {
  /** All questions that were ever sent here. */
  readonly questions: ChatQuestion[] = [];
  respond: ChatRespond = ({ body }) => this.saying(JSON.stringify({ choice: this.model(questionIn(body)) }));

  static listen(): Promise<ChatServer> {
    return new ChatServer().listening();
  }

  /** An answer as it should be, with this content. */
  saying(content: unknown, more: object = {}, finish_reason = "stop"): { body: object } {
    return {
      body: {
        id: "chatcmpl-1",
        object: "chat.completion",
        choices: [{ index: 0, message: { role: "assistant", content, ...more }, finish_reason }],
      },
    };
  }

  model({ request, choices }: ChatQuestion): string {
    const asked = new Set(wordsOf(request));
    const shared = choices.map(({ name, description, examples }) => {
      const words = new Set(wordsOf([name, description, ...examples].join(" ")));
      return [...words].filter((word) => asked.has(word)).length;
    });
    const most = Math.max(...shared);
    return most === 0 ? "none" : choices[shared.indexOf(most)]!.id;
  }

  protected heard(body: ChatBody): void {
    this.questions.push(questionIn(body));
  }
}

/** Throws unless there are an instruction and one message of one JSON object. */
export function questionIn({ messages }: ChatBody): ChatQuestion {
  const roles = messages.map(({ role }) => role).join();
  if (roles !== "system,user") throw new Error(`expected an instruction and a question, got ${roles}`);
  return JSON.parse(messages[1]!.content) as ChatQuestion;
}

const wordsOf = (text: string): string[] => text.toLowerCase().match(/\p{Script=Han}|[\p{L}\p{N}]+/gu) ?? [];
