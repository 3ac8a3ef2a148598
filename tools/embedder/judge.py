"""Judges a table: how well cards are found by it alone, and within the score the catalog adds up.

    python judge.py TABLE SETS… [--split dev|q] [--examples 5]

A set is a JSON file {caps: [{id, name, description, …}], pool: {id: [examples]}, dev: [{t, y}], q: [{t, y}], …}. Work is judged on
`dev`; `q` is for the last report only. The score is 0.5 × prototypes of letter n-grams + 0.4 × centroid of the embeddings +
0.1 × BM25, as the catalog's; the catalog's own tokens differ in small ways, so its figures do too.
"""

import argparse
import json
import math
import re
from collections import Counter
from pathlib import Path

import numpy as np
import opencc
import scipy.sparse as sp

from tokens import RUN, normalise

FOLD = opencc.OpenCC("t2s")
CJK = re.compile(r"[\u3400-\u9fff]")
GUESS = 0.45


def lexical_terms(text):
    """(letter n-grams, words) of a text."""
    grams, words = [], []
    for run in RUN.findall(normalise(text)):
        if run[0] >= "\u3400":
            grams += [run[i : i + n] for n in (1, 2, 3) for i in range(len(run) - n + 1)]
            words += [run[i : i + 2] for i in range(len(run) - 1)] or [run]
        else:
            padded = f" {run} "
            grams += [padded[i : i + n] for n in (2, 3, 4, 5) for i in range(len(padded) - n + 1)]
            words.append(run)
    return grams, words


def unit_rows(matrix):
    lengths = np.sqrt(np.asarray(matrix.multiply(matrix).sum(1)).ravel())
    return sp.diags(1 / np.maximum(lengths, 1e-9)) @ matrix


def tf_idf(lists, index=None, idf=None):
    if index is None:
        index = {}
        for terms in lists:
            for term in terms:
                index.setdefault(term, len(index))
    rows, cols, values = [], [], []
    for i, terms in enumerate(lists):
        for term, count in Counter(terms).items():
            if term in index:
                rows.append(i)
                cols.append(index[term])
                values.append(1 + math.log(count))
    matrix = sp.csr_matrix((values, (rows, cols)), shape=(len(lists), len(index)), dtype=np.float32)
    if idf is None:
        seen = np.asarray((matrix > 0).sum(0)).ravel()
        idf = np.log((1 + len(lists)) / (1 + seen)) + 1
    matrix = matrix @ sp.diags(idf)
    return unit_rows(matrix), index, idf


def bm25(documents, queries, k1=1.2, b=0.75):
    index = {}
    for words in documents:
        for word in words:
            index.setdefault(word, len(index))
    counts = sp.lil_matrix((len(documents), len(index)), dtype=np.float32)
    for i, words in enumerate(documents):
        for word, count in Counter(words).items():
            counts[i, index[word]] = count
    counts = counts.tocoo()
    lengths = np.array([len(d) for d in documents], dtype=np.float32)
    seen = np.bincount(counts.col, minlength=len(index))
    idf = np.log(1 + (len(documents) - seen + 0.5) / (seen + 0.5))
    weight = counts.data * (k1 + 1) / (counts.data + k1 * (1 - b + b * lengths[counts.row] / lengths.mean()))
    matrix = sp.csr_matrix((weight * idf[counts.col], (counts.row, counts.col)), shape=counts.shape)
    rows, cols = [], []
    for i, words in enumerate(queries):
        for word in set(words):
            if word in index:
                rows.append(i)
                cols.append(index[word])
    asked = sp.csr_matrix((np.ones(len(rows), np.float32), (rows, cols)), shape=(len(queries), len(index)))
    scores = (asked @ matrix.T).toarray()
    return scores / np.maximum(scores.max(1, keepdims=True), 1e-9)


class Set:
    """A labelled set with its lexical scores, which do not depend on the table."""

    def __init__(self, data, split, examples):
        self.ids = [c["id"] for c in data["caps"]]
        self.texts, self.owner = [], []
        for i, cap in enumerate(data["caps"]):
            card = f"{cap['name']}. {cap.get('description', '')}"
            for text in [card, *data["pool"].get(cap["id"], [])[:examples]]:
                self.texts.append(FOLD.convert(text))
                self.owner.append(i)
        asked = [q for q in data[split] if q["y"] in set(self.ids)]
        self.queries = [FOLD.convert(q["t"]) for q in asked]
        self.gold = np.array([self.ids.index(q["y"]) for q in asked])
        foreign = np.array([bool(CJK.search(t)) for t in self.texts])
        card_foreign = np.array([foreign[np.array(self.owner) == i].any() for i in range(len(self.ids))])
        query_foreign = np.array([bool(CJK.search(t)) for t in self.queries])
        self.same_script = query_foreign[:, None] == card_foreign[None, :]
        owner = sp.csr_matrix((np.ones(len(self.owner)), (self.owner, range(len(self.owner)))), dtype=np.float32)
        self.owner_matrix = owner
        card_terms = [lexical_terms(t) for t in self.texts]
        query_terms = [lexical_terms(t) for t in self.queries]
        vectors, index, idf = tf_idf([g for g, _ in card_terms])
        asked_vectors, _, _ = tf_idf([g for g, _ in query_terms], index, idf)
        prototypes = unit_rows(owner @ vectors)
        self.lexical = np.asarray((asked_vectors @ prototypes.T).todense(), dtype=np.float32)
        documents = [[] for _ in self.ids]
        for i, (_, words) in zip(self.owner, card_terms):
            documents[i] += words
        self.keyword = bm25(documents, [w for _, w in query_terms])

    def meaning(self, embed):
        vectors = self.owner_matrix @ embed(self.texts)
        vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
        return embed(self.queries) @ vectors.T

    def judge(self, embed):
        """(embedding alone, sum, sum with guesses across scripts), each (top-1, top-3) in percent."""
        meaning = self.meaning(embed)
        lexical = 0.5 * self.lexical + 0.1 * self.keyword
        # Letters say nothing about a card in the other script; what they would have said is guessed from the meaning.
        guessed = np.where(self.same_script, lexical, GUESS * np.maximum(meaning, 0))
        return self.hits(meaning), self.hits(0.4 * meaning + lexical), self.hits(0.4 * meaning + guessed)

    def hits(self, scores):
        best = np.argsort(-scores, axis=1, kind="stable")[:, :3]
        right = best == self.gold[:, None]
        return 100 * right[:, 0].mean(), 100 * right.any(1).mean()


def main():
    parser = argparse.ArgumentParser(description="How well cards are found with a table.")
    parser.add_argument("table", type=Path)
    parser.add_argument("sets", nargs="+", type=Path)
    parser.add_argument("--split", default="dev")
    parser.add_argument("--examples", type=int, default=5)
    options = parser.parse_args()
    from table import Table

    table = Table.read(options.table)
    for path in options.sets:
        data = json.loads(path.read_text())
        if not data.get(options.split):
            continue
        figures = Set(data, options.split, options.examples).judge(table.embed)
        shown = zip(("alone", "sum", "sum across scripts"), figures)
        print(f"{path.stem:16} {options.split:4} " + "  ".join(f"{name} {one:.1f}/{three:.1f}" for name, (one, three) in shown))


if __name__ == "__main__":
    main()
