import { ReachError } from "@agent-reach/protocol";
import { describe, expect, it } from "vitest";
import { FakePeer, gate } from "../../../test/kit/fake-peer.js";
import { AgentError, Overloaded } from "./agent-error.js";

describe("inbox", () => {
  it("acknowledges a slow handler first and completes later, until the node answers (DLV-3)", async () => {
    const peer = new FakePeer();
    const work = gate();
    const { session, registered } = await peer.agent({ query_order: () => work.opened });
    const envelope = peer.envelope();
    const answer = session.request("deliver", { envelope, attempt: 2 });
    await peer.advance(100);
    expect((await answer)["result"]).toEqual({ status: "accepted" });
    let refusals = 2;
    peer.answers["complete"] = () => {
      if (refusals-- > 0) throw new ReachError("NOT_READY", "disk");
      return { recorded: true };
    };
    work.open("done");
    await peer.advance(5_000);
    const completes = session.of("complete");
    expect(completes).toHaveLength(3);
    expect(completes[2]!["params"]).toMatchObject({
      messageId: envelope["messageId"],
      instanceId: registered.instanceId,
      epoch: 1,
      attempt: 2,
      status: "completed",
      data: "done",
    });
  });

  it("answers business errors, other errors and refusals each in its way", async () => {
    const peer = new FakePeer();
    const { session } = await peer.agent({
      business: () => {
        throw new AgentError("ORDER_NOT_FOUND", "no such order", { data: { id: 1 }, retryable: false });
      },
      broken: async () => {
        throw new TypeError("x is not a function");
      },
      odd: () => Promise.reject("just text"),
      full: () => {
        throw new Overloaded({ retryAfterMs: 70 });
      },
    });
    const ask = async (capability: string) =>
      session.request("deliver", { envelope: peer.envelope({ capability }), attempt: 1 });
    expect((await ask("business"))["result"]).toMatchObject({
      status: "failed",
      error: { code: "ORDER_NOT_FOUND", message: "no such order", data: { id: 1 }, retryable: false },
    });
    const broken = (await ask("broken"))["result"];
    expect(broken).toMatchObject({
      status: "failed",
      error: { code: "INTERNAL_ERROR", message: "x is not a function" },
    });
    expect(JSON.stringify(broken)).not.toContain("agent.test");
    expect((await ask("odd"))["result"].error.message).toBe("just text");
    expect((await ask("full"))["error"]).toMatchObject({
      code: -32013,
      data: { code: "OVERLOADED", retryAfterMs: 70, outcome: "not_executed" },
    });
    expect((await ask("unheard_of"))["error"].data).toMatchObject({ code: "NO_ROUTE", outcome: "not_executed" });
  });

  it("D22, P06: turns a result that JSON cannot carry into a failure that names the path, and stays up", async () => {
    const peer = new FakePeer();
    const results: unknown[] = [{ rows: [{ n: 1n }] }, new Map(), { f: () => 1 }, undefined, { at: new Date(0) }];
    const cyclic: unknown[] = [];
    cyclic.push(cyclic);
    results.push(cyclic, { score: Number.NaN }, [Number.POSITIVE_INFINITY]);
    const { session } = await peer.agent({ query_order: (input: number) => results[input] });
    const answers = [];
    for (let input = 0; input < results.length; input++) {
      answers.push((await session.request("deliver", { envelope: peer.envelope({ input }), attempt: 1 }))["result"]);
    }
    expect(answers[0]).toMatchObject({
      status: "failed",
      error: { code: "RESULT_NOT_SERIALIZABLE", data: { path: "rows[0].n" } },
    });
    expect(answers[1].error.data.path).toBe("$");
    expect(answers[2].error.data.path).toBe("f");
    expect(answers[3]).toMatchObject({ status: "completed", data: null });
    expect(answers[4]).toMatchObject({ status: "completed", data: { at: "1970-01-01T00:00:00.000Z" } });
    expect(answers[5]).toMatchObject({ status: "failed", error: { code: "RESULT_NOT_SERIALIZABLE" } });
    expect(answers.slice(6).map(({ status, error }) => [status, error.data.path])).toEqual([
      ["failed", "score"],
      ["failed", "[0]"],
    ]);
  });

  it("P10: shortens a long message of an error between two characters, not within one", async () => {
    const peer = new FakePeer();
    const fail = (lead: string) => () => {
      throw new Error(lead + "😀".repeat(10_000));
    };
    const { session } = await peer.agent({ even: fail(""), odd: fail("x") });
    for (const capability of ["even", "odd"]) {
      const { result } = await session.request("deliver", { envelope: peer.envelope({ capability }), attempt: 1 });
      expect(result.error.message).toMatch(/^x?(😀)+$/u);
      expect(result.error.message.length).toBeLessThanOrEqual(8_192);
    }
  });

  it("turns a result over the limit into a failure with advice (DLV-12)", async () => {
    const peer = new FakePeer();
    peer.limits = { ...peer.limits, maxInputBytes: 1_000 };
    const { session } = await peer.agent({ query_order: () => "x".repeat(2_000) });
    const { result } = await session.request("deliver", { envelope: peer.envelope(), attempt: 1 });
    expect(result).toMatchObject({ status: "failed", error: { code: "PAYLOAD_TOO_LARGE" } });
  });

  it("runs no more than maxConcurrentTasks, keeps a few waiting, and refuses beyond", async () => {
    const peer = new FakePeer();
    const works: { open: (value: unknown) => void }[] = [];
    const handler = () => {
      const work = gate();
      works.push(work);
      return work.opened;
    };
    const { session } = await peer.agent({ query_order: handler }, { maxConcurrentTasks: 2 });
    const answers = Array.from({ length: 19 }, () =>
      session.request("deliver", { envelope: peer.envelope(), attempt: 1 }),
    );
    await peer.settle();
    expect(works).toHaveLength(2);
    expect((await answers[18]!)["error"].data).toMatchObject({ code: "OVERLOADED" });
    works[0]!.open(1);
    await peer.settle();
    expect(works).toHaveLength(3);
  });
});
