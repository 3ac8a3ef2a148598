import { Calls } from "./calls.js";
import { Connection, type ConnectionOptions } from "./connection.js";
import { Directory } from "./directory.js";
import { Groups } from "./groups.js";
import { Tasks } from "./tasks.js";
import { Watches } from "./watch.js";

/** A connection and what is done over it. */
export interface Channel {
  readonly connection: Connection;
  readonly calls: Calls;
  readonly tasks: Tasks;
  readonly groups: Groups;
  readonly directory: Directory;
  readonly watches: Watches;
}

export function makeChannel(options: ConnectionOptions): Channel {
  const connection = new Connection(options);
  const calls = new Calls(connection);
  return {
    connection,
    calls,
    tasks: new Tasks(connection, calls),
    groups: new Groups(connection),
    directory: new Directory(connection),
    watches: new Watches(connection),
  };
}

/**
 * Channels that clients share: one per way of dialling, address and identity, so that a client made per call opens no
 * socket per call (SDK-8). The entries of the packages hold the one instance of a process.
 */
export class SharedChannels {
  readonly #byDial = new WeakMap<object, Map<string, { channel: Channel; users: number }>>();

  /** Options other than address, token and name are those of the first client. */
  acquire(options: ConnectionOptions): { channel: Channel; release: () => void } {
    let byKey = this.#byDial.get(options.dial);
    if (!byKey) {
      byKey = new Map();
      this.#byDial.set(options.dial, byKey);
    }
    const key = JSON.stringify([options.urls, options.token ?? null, options.client.name]);
    let shared = byKey.get(key);
    if (!shared || shared.channel.connection.ended) {
      shared = { channel: makeChannel(options), users: 0 };
      byKey.set(key, shared);
    }
    const mine = shared;
    const others = byKey;
    mine.users++;
    let held = true;
    const release = () => {
      if (!held) return;
      held = false;
      if (--mine.users > 0) return;
      if (others.get(key) === mine) others.delete(key);
      mine.channel.connection.close();
    };
    return { channel: mine.channel, release };
  }
}
