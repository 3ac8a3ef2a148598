import type { LiveInstance } from "../registry/instance.js";
import { type CapabilityEntry, type View, withParents } from "../registry/view.js";
import { plainLevelsOf } from "./tags.js";
import { normalise } from "./text.js";

/**
 * Finds capabilities by the very words of their name or of an example, and tags by theirs. Filled when first asked, as most
 * nodes are asked by name only.
 */
export class Wordings {
  private readonly names = new Map<string, Set<string>>();
  private readonly examples = new Map<string, Set<string>>();
  /** A tag, or a parent of one, in normal form → as cards spell it. */
  private readonly tags = new Map<string, Set<string>>();
  private pending: Set<LiveInstance> | undefined;

  constructor(private readonly view: View) {}

  changed(instance: LiveInstance): void {
    this.pending?.add(instance);
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

  private entries(names: Set<string> | undefined): CapabilityEntry[] {
    return [...(names ?? [])].flatMap((name) => this.view.capabilities.get(name) ?? []);
  }

  private fill(): void {
    if (this.names.size > 2 * this.view.capabilities.size + 1000) this.reset();
    if (this.tags.size > 2 * this.view.tags.size + 1000) this.reset();
    const news = this.pending ?? this.view.instances.values();
    for (const instance of news) for (const offer of instance.offers) this.learn(offer.capability);
    this.pending = new Set();
  }

  /** Names of agents long gone pile up; starting over is simpler than counting who still uses which word. */
  private reset(): void {
    for (const index of [this.names, this.examples, this.tags]) index.clear();
    this.pending = undefined;
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
