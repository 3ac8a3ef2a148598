import type { ReachError } from "@agent-reach/protocol";
import type { Reply } from "../../packages/server/src/router/message.js";

/** Where the answer of one request came. */
export class FakeReply implements Reply {
  readonly results: Record<string, unknown>[] = [];
  readonly errors: ReachError[] = [];
  readonly progresses: string[] = [];

  result(json: string): void {
    this.results.push(JSON.parse(json) as Record<string, unknown>);
  }
  error(error: Error): void {
    this.errors.push(error as ReachError);
  }
  progress(json: string): void {
    this.progresses.push(json);
  }

  get answers(): number {
    return this.results.length + this.errors.length;
  }
  get data(): unknown {
    if (this.results.length !== 1) throw new Error(`no result but ${this.errors[0]?.message ?? "nothing yet"}`);
    return this.results[0]!["data"];
  }
  get failure(): ReachError {
    if (this.errors.length !== 1) throw new Error(`no error but ${JSON.stringify(this.results)}`);
    return this.errors[0]!;
  }
}
