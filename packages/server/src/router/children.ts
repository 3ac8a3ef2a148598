import { HashTable } from "../collections/hash-table.js";

/** A message in flight that may be part of others. */
export interface Child {
  /** The messages for whose sake it was sent and that are not over; undefined: it stands for itself. */
  parents: string[] | undefined;
}

/** Tasks that ended without an answer, of which this is remembered. */
const ENDED_MAX = 1000;
const NONE: readonly never[] = [];

/**
 * Which calls in flight are part of which messages, so that they end together (RES-3). Calls that have no parent cost nothing
 * here.
 *
 * N1  A parent is here while a child of it is in flight, and no longer: whoever ends, child or parent, is taken out. So any
 *     id may be named, also one that nobody knows.
 * N2  A child that several parents wait for, which sent it under one key, ends with the last of them.
 */
export class Children<C extends Child> {
  private readonly byParent = new HashTable<string, Set<C>>();
  /** By what they ended, oldest first. */
  private readonly ended = new Map<string, string>();

  /** Parents that have a child in flight. */
  get size(): number {
    return this.byParent.size;
  }

  add(parentId: string, child: C): void {
    child.parents ??= [];
    if (child.parents.includes(parentId)) return;
    child.parents.push(parentId);
    let children = this.byParent.get(parentId);
    if (children === undefined) {
      children = new Set();
      this.byParent.set(parentId, children);
    }
    children.add(child);
  }

  /** The child ended, or somebody waits for it who is no parent. */
  remove(child: C): void {
    const { parents } = child;
    if (parents === undefined) return;
    child.parents = undefined;
    for (const parentId of parents) {
      const children = this.byParent.get(parentId)!;
      children.delete(child);
      if (children.size === 0) this.byParent.delete(parentId);
    }
  }

  /** The parent ended. Answers those that nobody waits for any longer. */
  leave(parentId: string): readonly C[] {
    // While there are no nested calls, messages end without a look into the table.
    if (this.byParent.size === 0) return NONE;
    const children = this.byParent.delete(parentId);
    if (children === undefined) return NONE;
    const left: C[] = [];
    for (const child of children) {
      child.parents = child.parents!.filter((id) => id !== parentId);
      if (child.parents.length > 0) continue;
      child.parents = undefined;
      left.push(child);
    }
    return left;
  }

  /** A task ended; with `code`, without an answer: what its agent sends before it hears of that comes too late. */
  taskEnded(messageId: string, code: string | undefined): void {
    if (this.ended.size > 0) this.ended.delete(messageId);
    if (code === undefined) return;
    this.ended.set(messageId, code);
    if (this.ended.size > ENDED_MAX) this.ended.delete(this.ended.keys().next().value!);
  }

  /** By what a task ended that gave no answer, while that is remembered. */
  endOf(messageId: string): string | undefined {
    return this.ended.get(messageId);
  }
}
