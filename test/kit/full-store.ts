import { ReachError } from "@agent-reach/protocol";

/** A store whose writes are refused for as long as its switch says so, as by a full disk. */
export function switchable<T extends object>(
  store: T,
  writes: readonly string[],
): { store: T; disk: { full: boolean } } {
  const disk = { full: false };
  const proxy = new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== "function") return member;
      return (...args: unknown[]) => {
        if (disk.full && writes.includes(String(name))) {
          return Promise.reject(new ReachError("NOT_READY", "the disk is full; free some space."));
        }
        return member.apply(target, args);
      };
    },
  });
  return { store: proxy, disk };
}
