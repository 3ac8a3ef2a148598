import type { System } from "../ports/system.js";
import type { LiveInstance } from "../registry/instance.js";
import { type CapabilityEntry, type View, withParents } from "../registry/view.js";
import { plainLevelsOf } from "./tags.js";
import { normalise } from "./text.js";

/** So many capabilities are read at a stretch, which takes some milliseconds at most; then others have the event loop. */
const AT_ONCE_MAX = 500;
const PAUSE_MS = 1;

/**
 * Finds capabilities by the very words of their name or of an example, and tags by theirs. Filled when first asked, as most
 * nodes are asked by name only: of a few hundred capabilities at once, of more in a second or two, during which the others are
 * found by meaning alone.
 */
export class Wordings {
  private readonly names = new Map<string, Set<string>>();
  private readonly examples = new Map<string, Set<string>>();
  /** A tag, or a parent of one, in normal form → as cards spell it. */
  private readonly tags = new Map<string, Set<string>>();
  /** Whoever came or changed and was not read yet, and the rest of those who were there before; undefined: nobody asked yet. */
  private pending: { news: Set<LiveInstance>; rest: Iterator<LiveInstance> } | undefined;
  private disarm: (() => void) | undefined;

  constructor(
    private readonly view: View,
    private readonly system: System,
  ) {}

  changed(instance: LiveInstance): void {
    this.pending?.news.add(instance);
  }

  /** Capabilities whose name has these words, in normal form. */
  named(plain: string): CapabilityEntry[] {
    this.fill();
    return this.entries(this.names.get(plain));
  }

  /** Capabilities that give exactly this phrase as an example. */
  exemplified(plain: string): CapabilityEntry[] {
    this.fill();
    return this.entries(this.examples.get(plain));
  }

  /** The tags of the view that have these words, in normal form. */
  tagged(plain: string): string[] {
    this.fill();
    return [...(this.tags.get(plain) ?? [])].filter((tag) => this.view.tags.has(tag));
  }

  stop(): void {
    this.disarm?.();
    this.disarm = undefined;
  }

  private entries(names: Set<string> | undefined): CapabilityEntry[] {
    return [...(names ?? [])].flatMap((name) => this.view.capabilities.get(name) ?? []);
  }

  private fill(): void {
    if (this.isStuffed(this.names, this.view.capabilities) || this.isStuffed(this.tags, this.view.tags)) {
      for (const index of [this.names, this.examples, this.tags]) index.clear();
      this.pending = undefined;
    }
    this.pending ??= { news: new Set(), rest: this.view.instances.values() };
    for (let read = 0; read < AT_ONCE_MAX; ) {
      const instance = this.next(this.pending);
      if (instance === undefined) return;
      for (const offer of instance.offers) this.learn(offer.capability);
      // One without capabilities is looked at as well.
      read += Math.max(1, instance.offers.length);
    }
    this.disarm ??= this.system.after(PAUSE_MS, () => {
      this.disarm = undefined;
      this.fill();
    });
  }

  /** Names of agents long gone pile up; starting over is simpler than counting who still uses which word. */
  private isStuffed(index: ReadonlyMap<string, unknown>, used: ReadonlyMap<string, unknown>): boolean {
    return index.size > 2 * used.size + 1000;
  }

  private next({ news, rest }: NonNullable<typeof this.pending>): LiveInstance | undefined {
    for (const instance of news) {
      news.delete(instance);
      return instance;
    }
    const { done, value } = rest.next();
    return done === true ? undefined : value;
  }

  private learn({ name, examples, tags }: LiveInstance["offers"][number]["capability"]): void {
    add(this.names, normalise(name), name);
    for (const tag of withParents(tags)) add(this.tags, plainLevelsOf(tag).join("/"), tag);
    for (const example of examples ?? []) if (typeof example === "string") add(this.examples, normalise(example), name);
  }
}

function add(index: Map<string, Set<string>>, key: string, name: string): void {
  const names = index.get(key);
  if (names === undefined) index.set(key, new Set([name]));
  else names.add(name);
}
