"""From the teacher's vectors to the table's rows.

1. Means: the teacher's vectors of one language (and of words, and of sentences) share a large common part which says nothing;
   it is removed, per language and kind.
2. One space: Chinese vectors are mapped onto English ones by ridge regression on sentences that exist in both languages, and
   the two sides of such a pair get one and the same target, the mean of both.
3. PCA to `dims`, each direction scaled by its variance to the power −whiten/2, so that few large directions do not rule.
4. Start: a word's row is its own target times a / (a + p), p its frequency (smooth inverse frequency).
5. Lesson: rows are moved so that the sum of a sentence's rows points where the sentence's target does, and nearer to its
   translation than to the other translations of its batch; a pull towards the start keeps rare words where they were.
"""

import dataclasses
import time

import numpy as np
import scipy.sparse as sp

from tokens import cut


@dataclasses.dataclass
class Plan:
    dims: int = 128
    sif: float = 1e-3
    whiten: float = 0.5
    epochs: int = 8
    batch: int = 1024
    rate: float = 0.02
    pull: float = 0.02
    contrast: float = 1.0
    heat: float = 0.1
    drop: float = 0.1
    seed: int = 1
    word_lesson: float = 0.3


def unit(x):
    return x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-9)


def ridge(a, b, strength):
    """The map M with a·M ≈ b, drawn towards the identity."""
    n = a.shape[1]
    return np.linalg.solve(a.T @ a + strength * np.eye(n), a.T @ b + strength * np.eye(n))


class Space:
    """The teacher's vectors, without means, languages laid on one another, projected."""

    def __init__(self, english, chinese, both_english, both_chinese, plan):
        self.means = {"en": english.mean(0), "zh": chinese.mean(0)}
        e, z = unit(both_english - self.means["en"]), unit(both_chinese - self.means["zh"])
        self.map = ridge(z, e, 0.05 * len(z) / 384)
        sample = np.vstack([unit(english - self.means["en"]), unit(unit(chinese - self.means["zh"]) @ self.map)])
        values, directions = np.linalg.eigh(sample.T @ sample / len(sample))
        values, directions = values[::-1][: plan.dims], directions[:, ::-1][:, : plan.dims]
        self.projection = directions * (values ** (-plan.whiten / 2))[None, :]

    def full(self, vectors, language, mean=None):
        x = unit(vectors - (self.means[language] if mean is None else mean))
        return unit(x @ self.map) if language == "zh" else x

    def project(self, x):
        return unit(x @ self.projection)


def matrix(texts, index):
    rows, cols = [], []
    for i, text in enumerate(texts):
        for word in cut(text, index):
            rows.append(i)
            cols.append(index[word])
    return sp.csr_matrix((np.ones(len(rows), np.float32), (rows, cols)), shape=(len(texts), len(index)))


class Lesson:
    """Rows under Adam. `single` are (X, targets) of texts; of `doubles` each is (X of one side, X of the
    other, targets or zeros) of texts that mean the same: translations, paraphrases, words and their definitions."""

    def __init__(self, start, plan):
        self.rows = start.copy()
        self.start = start
        self.plan = plan
        self.first = np.zeros_like(start)
        self.second = np.zeros_like(start)
        self.steps = np.zeros(len(start), np.float32)
        self.place = np.zeros(len(start), np.int32)
        self.chance = np.random.default_rng(plan.seed)

    def forward(self, x):
        if self.plan.drop:
            x = x.copy()
            x.data = x.data * (self.chance.random(len(x.data)) > self.plan.drop)
        used = np.unique(x.indices)
        self.place[used] = np.arange(len(used))
        part = sp.csr_matrix((x.data, self.place[x.indices], x.indptr), shape=(x.shape[0], len(used)))
        total = part @ self.rows[used]
        norm = np.maximum(np.linalg.norm(total, axis=1, keepdims=True), 1e-6)
        return part, used, total / norm, norm

    def backward(self, state, gradient, rate):
        part, used, s, norm = state
        flat = (gradient - s * (gradient * s).sum(1, keepdims=True)) / norm
        g = part.T @ flat + self.plan.pull / len(s) * (self.rows[used] - self.start[used]) * np.asarray(part.sum(0)).T
        self.steps[used] += 1
        m = self.first[used] = 0.9 * self.first[used] + 0.1 * g
        v = self.second[used] = 0.99 * self.second[used] + 0.01 * (g * g).mean(1, keepdims=True)
        k = self.steps[used][:, None]
        self.rows[used] -= rate * (m / (1 - 0.9**k)) / (np.sqrt(v / (1 - 0.99**k)) + 1e-8)

    def epoch(self, single, doubles, rate):
        plan, b = self.plan, self.plan.batch
        x, y = single
        parts = lambda n: np.array_split(self.chance.permutation(n), max(1, n // b))
        turns = [(None, p) for p in parts(x.shape[0])] + [(d, p) for d in doubles for p in parts(d[0].shape[0])]
        turns = [turns[i] for i in self.chance.permutation(len(turns))]
        lost = []
        for double, picked in turns:
            if double is None:
                state = self.forward(x[picked])
                lost.append(1 - (state[2] * y[picked]).sum(1).mean())
                self.backward(state, -y[picked] / len(picked), rate)
                continue
            xe, xz, yd = double
            e, z, target = self.forward(xe[picked]), self.forward(xz[picked]), yd[picked]
            ge, gz = -target / len(picked), -target / len(picked)
            logits = e[2] @ z[2].T / plan.heat
            for axis in (0, 1):
                p = np.exp(logits - logits.max(axis, keepdims=True))
                p /= p.sum(axis, keepdims=True)
                p[np.diag_indices(len(p))] -= 1
                scale = plan.contrast / plan.heat / 2 / len(picked)
                ge = ge + scale * p @ z[2]
                gz = gz + scale * p.T @ e[2]
            self.backward(e, ge, rate)
            self.backward(z, gz, rate)
        return float(np.mean(lost)) if lost else 0.0


def train(start, single, doubles, plan, say=print, watch=None):
    lesson = Lesson(start.astype(np.float32), plan)
    for epoch in range(plan.epochs):
        began = time.time()
        rate = plan.rate * (1 - epoch / plan.epochs) * float(np.abs(start).mean() * 2)
        lost = lesson.epoch(single, doubles, rate)
        say(f"epoch {epoch + 1}: {lost:.4f}, {time.time() - began:.1f} s" + (f"  {watch(lesson.rows)}" if watch and epoch % 4 == 3 else ""))
    return lesson.rows
