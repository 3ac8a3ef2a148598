import type { Scene } from "../scene.js";

/** What the node says no to, and how. */
export async function showRefusals({ teller, tally }: Scene): Promise<void> {
  teller.step(
    "An unknown capability",
    "Nobody here books flights. The error says so, what was understood, and whether trying again helps.",
  );
  const unknown = await tally.refusal("NO_ROUTE", { capability: "book_flight", input: { to: "Lisbon" } });
  teller.tell(unknown.errorMessage ?? "it was answered");
  teller.check(
    unknown.errorCode === "NO_ROUTE" && !unknown.retryable && unknown.outcome === "not_executed",
    `${unknown.errorCode}, ${unknown.retryable ? "may be tried again" : "trying again does not help"}, ${unknown.outcome}`,
  );

  teller.step(
    "An invalid input",
    "Somebody sends the order's number as a number, and the card says text. The node checks the input, so no agent has to.",
  );
  const invalid = await tally.refusal("INVALID_INPUT", { capability: "query_order", input: { order_id: 20250100017 } });
  teller.tell(invalid.errorMessage ?? "it was answered");
  teller.check(
    invalid.errorCode === "INVALID_INPUT" && invalid.outcome === "not_executed",
    `${invalid.errorCode} at ${invalid.path}; the agent was not asked`,
  );
}
