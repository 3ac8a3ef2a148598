/** Words of a text, for telling what is near to what. Pure. */

const segmenter = new Intl.Segmenter("zh", { granularity: "word" });
const CJK = /[\u3400-\u9fff\uf900-\ufaff]/;

/** NFKC, lower case, single spaces: how two spellings of the same phrase become one. */
export function normalise(text: string): string {
  return text
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[\s_\-./]+/g, " ")
    .trim();
}

/** Words, and pairs of neighbouring Chinese characters, since Chinese words are often cut differently. */
export function tokens(text: string): Set<string> {
  const all = new Set<string>();
  const plain = normalise(text);
  for (const part of segmenter.segment(plain)) if (part.isWordLike) all.add(part.segment);
  for (let i = 0; i + 1 < plain.length; i++) {
    if (CJK.test(plain[i]!) && CJK.test(plain[i + 1]!)) all.add(plain.slice(i, i + 2));
  }
  return all;
}

/** Share of common members, 0..1 (Dice 1945): 2·|a ∩ b| / (|a| + |b|). */
export function dice(common: number, sizeA: number, sizeB: number): number {
  return sizeA + sizeB === 0 ? 0 : (2 * common) / (sizeA + sizeB);
}
