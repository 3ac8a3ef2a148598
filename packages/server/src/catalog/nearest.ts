import type { LiveInstance } from "../registry/instance.js";
import type { CapabilityEntry, View } from "../registry/view.js";
import { dice, normalise, tokens } from "./match.js";

/**
 * Finds capabilities by the exact words of their name or of an example, and the nearest by shared words when nothing
 * fits. An index of words over names, descriptions and tags; filled lazily, as most nodes are asked by name only.
 */
export class Nearest {
  private readonly words = new Map<string, Set<string>>();
  private readonly sizes = new Map<string, number>();
  private readonly names = new Map<string, Set<string>>();
  private readonly examples = new Map<string, Set<string>>();
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

  to(phrase: string, limit: number): { capability: string; agentId: string; match: number }[] {
    this.fill();
    const wanted = tokens(phrase);
    const common = new Map<string, number>();
    for (const word of wanted)
      for (const name of this.words.get(word) ?? []) common.set(name, (common.get(name) ?? 0) + 1);
    return [...common]
      .map(([name, n]) => ({ name, match: dice(n, wanted.size, this.sizes.get(name)!) }))
      .sort((a, b) => b.match - a.match)
      .flatMap(({ name, match }) => {
        const entry = this.view.capabilities.get(name);
        const offer = entry?.offers[0] ?? entry?.gone[0];
        return offer === undefined
          ? []
          : [{ capability: name, agentId: offer.instance.record.agentId, match: Math.round(match * 1000) / 1000 }];
      })
      .slice(0, limit);
  }

  private entries(names: Set<string> | undefined): CapabilityEntry[] {
    return [...(names ?? [])].flatMap((name) => this.view.capabilities.get(name) ?? []);
  }

  private fill(): void {
    if (this.sizes.size > 2 * this.view.capabilities.size + 1000) this.reset();
    const news = this.pending ?? this.view.instances.values();
    for (const instance of news) for (const offer of instance.offers) this.learn(offer.capability);
    this.pending = new Set();
  }

  /** Names of agents long gone pile up; starting over is simpler than counting who still uses which word. */
  private reset(): void {
    for (const index of [this.words, this.sizes, this.names, this.examples]) index.clear();
    this.pending = undefined;
  }

  private learn({ name, description, tags, examples }: LiveInstance["offers"][number]["capability"]): void {
    const texts = (examples ?? []).filter((e) => typeof e === "string");
    for (const text of texts) add(this.examples, normalise(text), name);
    add(this.names, normalise(name), name);
    // Several may describe one capability, each in words of its own: all of them count.
    let size = this.sizes.get(name) ?? 0;
    for (const word of tokens([name, description ?? "", ...(tags ?? [])].join(" ")))
      if (add(this.words, word, name)) size++;
    this.sizes.set(name, size);
  }
}

/** Answers whether it was new. */
function add(index: Map<string, Set<string>>, key: string, name: string): boolean {
  const names = index.get(key);
  if (names === undefined) index.set(key, new Set([name]));
  else if (names.has(name)) return false;
  else names.add(name);
  return true;
}
