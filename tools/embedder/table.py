"""The table's file, version 1, all numbers little-endian:

    0   8 bytes  `REACHEMB`
    8   u32      version, 1
    12  u32      bytes of the header that follows
    16  header   JSON: {id, words, dims, languages, scales, rows, text, bytes}, padded with blanks
    …   scales   float32 × words: a row's numbers are its bytes times this, with the word's weight within it
    …   rows     int8 × words × dims
    …   text     the words in UTF-8, sorted by their bytes, with a line feed between them

`scales`, `rows` and `text` in the header are byte positions from the file's beginning, multiples of 4; `bytes` is where the
text, and the file, ends.
A text's vector is the sum of its words' rows, scaled to length one; all zero when it has none.
"""

import json
import struct
from pathlib import Path

import numpy as np

from tokens import cut

MAGIC = b"REACHEMB"


class Table:
    def __init__(self, words, rows, scales, header):
        self.words, self.rows, self.scales, self.header = words, rows, scales, header
        self.index = {w: i for i, w in enumerate(words)}
        self.real = rows.astype(np.float32) * scales[:, None]

    @staticmethod
    def of(words, vectors, header):
        order = sorted(range(len(words)), key=lambda i: words[i].encode())
        vectors = np.asarray(vectors, dtype=np.float32)[order]
        scales = (np.abs(vectors).max(1) / 127).astype(np.float32)
        rows = np.rint(vectors / np.maximum(scales, 1e-12)[:, None]).astype(np.int8)
        return Table([words[i] for i in order], rows, scales, header)

    def embed(self, texts):
        out = np.zeros((len(texts), self.rows.shape[1]), dtype=np.float32)
        for i, text in enumerate(texts):
            known = [self.index[w] for w in cut(text, self.index)]
            if known:
                out[i] = self.real[known].sum(0)
        return out / np.maximum(np.linalg.norm(out, axis=1, keepdims=True), 1e-12)

    def write(self, path: Path):
        text = "\n".join(self.words).encode()
        blocks = [("scales", self.scales.astype("<f4").tobytes()), ("rows", self.rows.tobytes()), ("text", text)]
        header = {**self.header, "words": len(self.words), "dims": self.rows.shape[1]}
        room = 1024  # the header is padded with blanks to this size, so that its positions do not depend on its length
        at = 16 + room
        for name, block in blocks:
            header[name] = at
            header["bytes"] = at + len(block)
            at += -(-len(block) // 4) * 4
        head = json.dumps(header, ensure_ascii=False).encode()
        assert len(head) <= room
        with open(path, "wb") as file:
            file.write(MAGIC + struct.pack("<II", 1, room) + head.ljust(room))
            for name, block in blocks:
                file.write(block if name == "text" else block.ljust(-(-len(block) // 4) * 4, b"\0"))

    @staticmethod
    def read(path: Path):
        data = path.read_bytes()
        assert data[:8] == MAGIC, "not a table"
        version, room = struct.unpack_from("<II", data, 8)
        assert version == 1, "a table of a later version"
        header = json.loads(data[16 : 16 + room])
        count, dims = header["words"], header["dims"]
        scales = np.frombuffer(data, "<f4", count, header["scales"])
        rows = np.frombuffer(data, np.int8, count * dims, header["rows"]).reshape(count, dims)
        words = data[header["text"] : header["bytes"]].decode().split("\n")
        return Table(words, rows, scales, header)
