"""How a text is cut into the table's words. The same rules are in packages/embedder-static/src/tokens.ts, to the letter.

Text is NFKC-normalised, split where a small letter meets a capital, and lower-cased. A run of digits is the word `0`. A run of
Latin letters is looked up whole, then without a final 's; if it is unknown, it is cut greedily into the longest parts:
the first is a word of three letters or more, a later one a word of four letters or more or an end of words (written `#end`).
Letters that fit nowhere are passed over. Chinese is cut greedily into the longest words.
"""

import re
import unicodedata

LONGEST_HAN = 5
LONGEST_LATIN = 24
RUN = re.compile(r"[a-z\u00df-\u024f]+(?:'[a-z]+)?|[0-9]+|[\u3400-\u9fff]+")


def normalise(text: str) -> str:
    text = unicodedata.normalize("NFKC", text).replace("\u2019", "'")
    return re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", text).lower()


def cut_latin(word: str, has):
    if word in has:
        return [word]
    bare = word.split("'")[0]
    if bare in has:
        return [bare]
    found, at = [], 0
    while at < len(bare):
        size = min(LONGEST_LATIN, len(bare) - at)
        while size >= 2:
            part = bare[at : at + size]
            if size >= (4 if at else 3) and part in has:
                break
            if at and size <= 7 and "#" + part in has:
                part = "#" + part
                break
            size -= 1
        if size >= 2:
            found.append(part)
        at += size if size >= 2 else 1
    return found


def cut_han(run: str, has):
    found, at = [], 0
    while at < len(run):
        size = next((n for n in range(min(LONGEST_HAN, len(run) - at), 0, -1) if run[at : at + n] in has), 0)
        if size:
            found.append(run[at : at + size])
        at += size or 1
    return found


def cut(text: str, has):
    """The table's words in the text, in order, repeated ones repeated."""
    found = []
    for run in RUN.findall(normalise(text)):
        first = run[0]
        if first.isdigit():
            found.append("0")
        elif first >= "\u3400":
            found += cut_han(run, has)
        else:
            found += cut_latin(run, has)
    return found
