/** Who stands before whom (TS5): of the open tasks with one orderKey only the one inserted first may be handed out. */
export class TaskOrder {
  readonly #open = new Map<string, number[]>();

  /** Whether this task stands first. */
  isFirst(orderKey: string | undefined, seq: number): boolean {
    return orderKey === undefined || this.#open.get(orderKey)?.[0] === seq;
  }

  /** A task is open: new ones come last, one that an operator queued again takes its old place. */
  enter(orderKey: string, seq: number): void {
    const line = this.#open.get(orderKey);
    if (!line) return void this.#open.set(orderKey, [seq]);
    if (line[0] === seq) return;
    let at = line.length;
    while (at > 0 && line[at - 1]! > seq) at--;
    if (line[at - 1] !== seq) line.splice(at, 0, seq);
  }

  /** A task has ended. Answers who stands first now. */
  leave(orderKey: string, seq: number): number | undefined {
    const line = this.#open.get(orderKey);
    const at = line?.indexOf(seq) ?? -1;
    if (!line || at < 0) return line?.[0];
    if (at === 0) line.shift();
    else line.splice(at, 1);
    if (line.length === 0) this.#open.delete(orderKey);
    return line[0];
  }
}
