/** The generated files of `spec/`: the contract without a language. Written by `npm run emit`, compared by a test. */
import { definitions } from "./definitions.js";
import { defaultOutcome, errorCodes, errorTable } from "./errors.js";
import { defaults, limits } from "./limits.js";
import { openapi } from "./openapi.js";

const generated = "Generated from packages/protocol by `npm run emit`; do not edit.";

/** Content by file name. */
export function specFiles(): Record<string, string> {
  return {
    "schema.json": print(schemaDocument()),
    "errors.json": print(errorDocument()),
    "openapi.json": print(openapi()),
  };
}

const print = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

function schemaDocument() {
  return {
    $comment: generated,
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "Agent-Reach protocol 1",
    description:
      "Every shape on the wire. `METHOD.params` and `METHOD.result` belong to requests of a client, `server.METHOD.…` to what the node sends. No object is closed: unknown fields are ignored and, in cards and inputs, kept.",
    $defs: definitions("#/$defs/").all,
    limits,
    defaults,
  };
}

function errorDocument() {
  const rows = errorCodes.map((code) => {
    const { rpc, http, retryable, meaning } = errorTable[code];
    return [code, { rpc, http, retryable, outcome: defaultOutcome(code), meaning }];
  });
  return {
    $comment: generated,
    rules: {
      retryable: {
        yes: "The same request may be sent again.",
        no: "Sending the same request again will not help.",
        agent: "As the agent's own error says; false if it says nothing.",
        idempotent: "True if and only if the outcome is not_executed, or the capability is idempotent.",
      },
      outcome:
        "What the caller may conclude about side effects. The one given here holds where the error does not say another.",
      rpc: "INVALID_REQUEST is -32601 for an unknown method, and -32700 for what is not JSON.",
      unknown:
        "A code that is not in the table is treated as its class: as `retryable` and `outcome` of the error say.",
    },
    errors: Object.fromEntries(rows),
  };
}
