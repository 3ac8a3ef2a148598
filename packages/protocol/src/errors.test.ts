import { describe, expect, test } from "vitest";
import { vectors } from "../../../test/kit/vectors.js";
import {
  defaultOutcome,
  type ErrorBody,
  type ErrorCode,
  errorCodes,
  errorTable,
  isRetryable,
  type Outcome,
  ReachError,
} from "./errors.js";

interface Case {
  code: ErrorCode;
  rpc: number;
  http: number;
  outcome: Outcome;
  idempotent: boolean;
  retryable: boolean;
  byDefault: boolean;
}
const { cases } = vectors<{ cases: Case[] }>("errors");

describe("DLV-6: every error says whether it may be retried and what was executed", () => {
  test("the contract's list and the table have the same codes", () => {
    expect(new Set(cases.map(({ code }) => code))).toEqual(new Set(errorCodes));
  });

  test.each(cases)("$code, $outcome, idempotent $idempotent → retryable $retryable", (row) => {
    expect(errorTable[row.code]).toMatchObject({ rpc: row.rpc, http: row.http });
    expect(isRetryable(row.code, row.outcome, row.idempotent)).toBe(row.retryable);
    if (!row.byDefault) return;
    expect(defaultOutcome(row.code)).toBe(row.outcome);
    expect(new ReachError(row.code, "x")).toMatchObject({
      outcome: row.outcome,
      retryable: row.retryable,
      rpc: row.rpc,
    });
  });

  test("every row says in words what it means", () => {
    for (const code of errorCodes) expect(errorTable[code].meaning, code).toMatch(/^[A-Z].*\.$/);
  });

  test("JSON-RPC codes stay apart, save those which the contract shares", () => {
    const shared = new Set(["INVALID_CARD", "INVALID_INPUT", "INVALID_OUTPUT"]);
    const codes = errorCodes.filter((code) => !shared.has(code)).map((code) => errorTable[code].rpc);
    expect(new Set(codes).size).toBe(codes.length);
  });
});

describe("ReachError", () => {
  const full: ErrorBody = {
    code: "BUSY",
    message: "[BUSY] order-agent-01 is full",
    retryable: true,
    retryAfterMs: 250,
    outcome: "not_executed",
    path: "target.agentId",
    details: { queued: 3 },
  };

  test("survives the way through a body", () => {
    expect(ReachError.fromBody(full).toBody()).toEqual(full);
    for (const code of errorCodes) {
      const body = new ReachError(code, "x").toBody();
      expect(ReachError.fromBody(JSON.parse(JSON.stringify(body))).toBody()).toEqual(body);
    }
  });

  test("a body's own word on outcome and retryable counts before the table's", () => {
    const body: ErrorBody = { ...full, code: "AGENT_ERROR", retryable: true, outcome: "unknown" };
    expect(ReachError.fromBody(body)).toMatchObject({ retryable: true, outcome: "unknown" });
  });

  test("the message begins with the code, once", () => {
    const error = new ReachError("NOT_FOUND", "no such task");
    expect(error.message).toBe("[NOT_FOUND] no such task");
    expect(new ReachError("NOT_FOUND", error.message).message).toBe(error.message);
  });

  test("as JSON-RPC it carries the body under data, without the message", () => {
    const { message, ...data } = full;
    expect(ReachError.fromBody(full).toRpc()).toEqual({ code: -32012, message, data });
    expect(new ReachError("INVALID_REQUEST", "x", { rpc: -32601 }).toRpc().code).toBe(-32601);
  });

  test("keeps its cause", () => {
    const cause = new Error("disk full");
    expect(new ReachError("NOT_READY", "x", { cause }).cause).toBe(cause);
  });
});
