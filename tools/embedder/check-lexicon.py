#!/usr/bin/env python3
"""Checks concepts.txt: shape, unique ids, empty sides, duplicates, words under more than two concepts; prints counts.

Exit code 1 if anything has to be mended. `--stems` also lists words of different concepts that fall together when
regular endings are stripped (customer and customs), `--single` the Chinese words of one character, `--twice` the
words under exactly two concepts.
"""

import re
import sys
from collections import defaultdict
from pathlib import Path

CONCEPTS_MAX_PER_WORD = 2
EN_WORDS_MAX = 6  # whole questions to the assistant ("what can you do") are the longest
CJK = re.compile(r"[\u3400-\u9fff]")
VOWEL = re.compile(r"[aeiouy]")


def stem(word: str) -> str:
    """A plain suffix stripper (plural first, then one ending), only to show what may fall together; the catalog's own
    stemmer decides."""
    word = re.sub(r"'s$", "", word)
    for endings in ((("ies", "y"), ("sses", "ss"), ("ches", "ch"), ("shes", "sh"), ("xes", "x"), ("s", "")), (("ied", "y"), ("ed", ""), ("ing", ""), ("er", ""), ("ly", ""))):
        for end, new in endings:
            rest = word[: -len(end)] + new
            if word.endswith(end) and not word.endswith(("ss", "us", "is")) and len(rest) >= 3 and VOWEL.search(rest):
                word = rest
                break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeiouls":
        word = word[:-1]
    return word[:-1] if len(word) > 3 and word.endswith("e") else word


def parse(path: Path):
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        head, _, rest = line.partition(": ")
        sides = rest.split(" | ")
        yield number, head, [[w.strip() for w in side.split(",")] for side in sides], line


def main() -> int:
    path = Path(__file__).with_name("concepts.txt")
    bad: list[str] = []
    ids: dict[str, int] = {}
    of_word: dict[tuple[str, str], list[str]] = defaultdict(list)
    of_stem: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    en_count = zh_count = 0
    sizes: list[int] = []
    single: list[str] = []
    for number, concept, sides, line in parse(path):
        where = f"{number} {concept}"
        if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", concept):
            bad.append(f"{where}: id is not kebab-case")
        if concept in ids:
            bad.append(f"{where}: id also on line {ids[concept]}")
        ids[concept] = number
        if len(sides) != 2 or not all(all(side) for side in sides):
            bad.append(f"{where}: needs two sides without empty words: {line}")
            continue
        en, zh = sides
        for word in {w for w in en + zh if (en + zh).count(w) > 1}:
            bad.append(f"{where}: '{word}' twice in the line")
        for word in en:
            if CJK.search(word) or word != word.lower() or len(word.split()) > EN_WORDS_MAX:
                bad.append(f"{where}: English word '{word}'")
            of_stem[" ".join(stem(w) for w in word.split())][concept].add(word)
        for word in zh:
            if not CJK.search(word) or " " in word or word != word.lower():
                bad.append(f"{where}: Chinese word '{word}'")
            if len(word) == 1:
                single.append(f"{word} ({concept})")
        for language, words in (("en", en), ("zh", zh)):
            for word in set(words):
                of_word[language, word].append(concept)
        en_count += len(en)
        zh_count += len(zh)
        sizes.append(len(en) + len(zh))
    for (language, word), concepts in sorted(of_word.items()):
        if len(concepts) > CONCEPTS_MAX_PER_WORD:
            bad.append(f"{language} '{word}' under {len(concepts)}: {', '.join(concepts)}")
    twice = [f"{word}: {', '.join(c)}" for (_, word), c in sorted(of_word.items()) if len(c) == 2]
    if "--stems" in sys.argv:
        for key, concepts in sorted(of_stem.items()):
            if len({tuple(sorted(v)) for v in concepts.values()}) > 1:
                print(f"stem {key}: " + "; ".join(f"{c} ({', '.join(sorted(w))})" for c, w in concepts.items()))
    if "--single" in sys.argv:
        print("single characters:", ", ".join(single))
    if "--twice" in sys.argv:
        print("\n".join(twice))
    print("\n".join(bad))
    print(
        f"{len(ids)} concepts, {en_count} English words ({sum(1 for k in of_word if k[0] == 'en')} distinct), "
        f"{zh_count} Chinese words ({sum(1 for k in of_word if k[0] == 'zh')} distinct), "
        f"{sum(sizes) / max(1, len(sizes)):.1f} words a concept ({min(sizes)}-{max(sizes)}), "
        f"{len(twice)} words under two concepts, {len(single)} single characters, {len(bad)} to mend"
    )
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
