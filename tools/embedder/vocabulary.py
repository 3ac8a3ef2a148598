"""The table's words: English, Chinese, and the ends of words that English words which are not in it are made of.

Frequencies of English words are the unigram scores of the teacher's own SentencePiece model (MIT), so no frequency list of
another licence is needed; which letters are an English word is said by WordNet and SCOWL. Chinese words and their counts are
jieba's (MIT). Single Chinese characters are words too, so that any Chinese text has some.
"""

import math
import re
import struct
from pathlib import Path

# A word which the corpora use so often has a row whatever else says of it; the words of our own lists are counted so often.
ALWAYS_COUNT = 60
# Whose 's is a verb; of other words the table has no possessives.
CONTRACTED = set("it that what he she who where there here how when let".split())
CONTINUES = "#"  # first letter of a piece that is the end of a word


def read_pieces(model: Path):
    """{piece: log probability} of the teacher's tokeniser; a piece which begins a word starts with U+2581."""
    data = model.read_bytes()
    at = 8 + 9 * 4
    (count,) = struct.unpack_from("<i", data, at)
    at += 5 * 4
    (blob_bytes,) = struct.unpack_from("<Q", data, at)
    at += 8
    offsets = struct.unpack_from(f"<{count + 1}I", data, at)
    at += 4 * (count + 1)
    scores = struct.unpack_from(f"<{count}f", data, at)
    at += 4 * count
    blob = data[at : at + blob_bytes]
    return {blob[offsets[i] : offsets[i + 1]].decode("utf-8", "ignore"): scores[i] for i in range(count)}


def english_words(wordnet: Path, scowl: Path):
    words = set()
    for part in ["noun", "verb", "adj", "adv"]:
        for line in (wordnet / f"index.{part}").read_text(encoding="latin-1").splitlines():
            if not line.startswith(" "):
                words.add(line.split(" ", 1)[0])
        for line in (wordnet / f"{part}.exc").read_text(encoding="latin-1").splitlines():
            words.add(line.split(" ", 1)[0])
    words |= {w.strip().lower() for w in scowl.read_text().splitlines()}
    return {w for w in words if re.fullmatch(r"[a-z]{1,18}(?:'[a-z]{1,2})?", w)}


def pieces_share(word: str, pieces) -> float:
    """The word's own probability as a piece within a text; next to none if it is not one."""
    return math.exp(pieces[word]) if word in pieces else 1e-12


def log_probability(word: str, pieces) -> float:
    """The best split of the word into pieces, as the teacher's tokeniser scores it."""
    text = "\u2581" + word
    best = [0.0] + [-1e9] * len(text)
    for end in range(1, len(text) + 1):
        for start in range(max(0, end - 16), end):
            score = pieces.get(text[start:end])
            if score is not None and best[start] + score > best[end]:
                best[end] = best[start] + score
    return best[len(text)]


def build(wordnet: Path, scowl: Path, scowl_small: Path, jieba_dict: Path, model: Path, counts, fold, sizes):
    """[(word, p)] with p the word's probability within its language.

    `counts` are those of the words in the corpora (corpora.py), `sizes` is {en, zh, han, ends}. A word's rank is its score in
    the teacher's tokeniser, raised if the corpora use it and if it is in SCOWL's small list or jieba's count is high: each
    of these knows words which the others do not (闹钟 is rare in newspapers, reimbursement is many pieces).
    """
    pieces = read_pieces(model)
    common = {w.strip().lower() for w in scowl_small.read_text().splitlines()}
    scored = {w: log_probability(w, pieces) for w in english_words(wordnet, scowl)}
    for word, count in counts.items():
        if count >= 5 and word not in scored and re.fullmatch(r"[a-z]{2,18}", word):
            scored[word] = log_probability(word, pieces)
    always = {w for w, count in counts.items() if count >= ALWAYS_COUNT}
    rank = {
        w: max(s, -18) + 1.3 * math.log1p(counts.get(w, 0)) + 4 * (w in common) + 100 * (w in always)
        for w, s in scored.items()
        if not w.endswith("'s") or w[:-2] in CONTRACTED
    }
    english = sorted(rank, key=lambda w: -rank[w])[: sizes["en"]]

    chinese, han = {}, {}
    entries = [line.split(" ")[:2] for line in jieba_dict.read_text().splitlines()]
    total = sum(int(c) for _, c in entries)
    for word, count in entries:
        if re.fullmatch(r"[\u4e00-\u9fff]{1,5}", word) and fold(word) == word:
            web = max(log_probability(word, pieces), math.log(pieces_share(word, pieces)), -17)
            p = 0.5 * math.log(max(int(count), 1) / total) + 0.5 * web
            (han if len(word) == 1 else chinese)[word] = p
    for word, count in counts.items():
        # Words which the corpora use and jieba's dictionary does not have (扫地机).
        if count >= 10 and re.fullmatch(r"[\u4e00-\u9fff]{2,4}", word) and fold(word) == word and word not in chinese:
            chinese[word] = 0.5 * math.log(1 / total) + 0.5 * max(log_probability(word, pieces), -17)
    worth = {w: p + 0.7 * math.log1p(counts.get(w, 0)) + 100 * (w in always) for w, p in chinese.items()}
    rows = [(w, math.exp(chinese[w])) for w in sorted(worth, key=lambda w: -worth[w])[: sizes["zh"]]]
    rows += [(w, math.exp(han[w])) for w in sorted(han, key=lambda w: -han[w])[: sizes["han"]]]
    share = sum(p for _, p in rows)
    rows = [(w, p / share) for w, p in rows]

    mass = sum(math.exp(scored[w]) for w in english)
    rows += [(w, math.exp(scored[w]) / mass) for w in english]
    ends = [(p, s) for p, s in pieces.items() if re.fullmatch(r"[a-z]{2,7}", p)]
    ends.sort(key=lambda x: -x[1])
    rows += [(CONTINUES + p, math.exp(s) / mass) for p, s in ends[: sizes["ends"]]]
    rows += [(c, 1e-3) for c in "0"]
    return rows
