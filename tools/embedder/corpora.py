"""Sentences to learn from, read out of packages whose licences allow it (README.md lists them). None is of any test set.

`pairs` are the same sentence in English and Chinese, from the user interfaces and interfaces' descriptions of open source
software; `english` are WordNet's definitions and example sentences, `dialogue` is small talk in both languages.
"""

import ast
import html
import json
import re
import zipfile
from pathlib import Path

CJK = re.compile(r"[\u3400-\u9fff]")
LATIN = re.compile(r"[A-Za-z]{2}")


def clean(text: str) -> str:
    """Text without markup, links, gaps like %s and {name}, and trailing punctuation."""
    text = html.unescape(text)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"https?://\S+", " ", text)
    text = re.sub(r"<[^>]*>|%\([a-zA-Z_]+\)[sd]|%[sd]|\{[^{}]*\}|[`*#_\\]|&[a-z]+;", " ", text)
    return re.sub(r"\s+", " ", text).strip(" .。:：!！…-")


def po_pairs(text: str):
    """(msgid, msgstr) of a gettext catalogue; plurals and fuzzy entries are left out."""
    for block in text.split("\n\n"):
        if "#, fuzzy" in block or "msgid_plural" in block:
            continue
        match = re.search(r'^msgid ((?:"(?:\\.|[^"\\])*"\s*)+)^msgstr ((?:"(?:\\.|[^"\\])*"\s*)+)', block, re.M)
        if match:
            yield tuple("".join(ast.literal_eval(s) for s in re.findall(r'"(?:\\.|[^"\\])*"', part)) for part in match.groups())


def json_pairs(english, chinese):
    if isinstance(english, dict) and isinstance(chinese, dict):
        for key, value in english.items():
            if key in chinese:
                yield from json_pairs(value, chinese[key])
    elif isinstance(english, str) and isinstance(chinese, str):
        yield english, chinese


def wheel(folder: Path, name: str) -> zipfile.ZipFile:
    return zipfile.ZipFile(sorted(folder.glob(name + "-*.whl"))[-1])


def catalogue_pairs(folder: Path):
    for name in ["apache_superset", "django", "django_oscar", "wagtail", "indico"]:
        package = wheel(folder, name)
        for file in package.namelist():
            if re.search(r"/(zh|zh_Hans|zh_Hans_CN)/LC_MESSAGES/[^/]*\.po$", file):
                yield from po_pairs(package.read(file).decode())
    package = wheel(folder, "jupyterlab_language_pack_zh_cn")
    for file in package.namelist():
        if file.endswith(".json") and "LC_MESSAGES" in file:
            for key, value in json.loads(package.read(file)).items():
                if key and isinstance(value, list) and isinstance(value[0], str):
                    yield key.split("\x04")[-1], value[0]
    package = wheel(folder, "home_assistant_frontend")
    files = {re.sub(r"-[0-9a-f]{32}", "", f): f for f in package.namelist() if re.search(r"translations/.*(en|zh-Hans)-[0-9a-f]{32}\.json$", f)}
    for plain, file in files.items():
        if plain.endswith("/en.json") and plain.replace("/en.json", "/zh-Hans.json") in files:
            other = files[plain.replace("/en.json", "/zh-Hans.json")]
            yield from json_pairs(json.loads(package.read(file)), json.loads(package.read(other)))


def interface_texts(package: zipfile.ZipFile):
    """Operation → first sentence, and class.field → first sentence, of a Tencent Cloud SDK."""
    texts = {}
    for file in package.namelist():
        if not file.startswith("tencentcloud/"):
            continue
        if file.endswith("_client.py"):
            for name, doc in re.findall(r'    def (\w+)\(self, request\):\s+r?"""(.*?)(?:\n\s*\n|:param)', package.read(file).decode(), re.S):
                texts[file + ":" + name] = doc
        elif file.endswith("/models.py"):
            for name, doc in re.findall(r'^class (\w+)\(AbstractModel\):\s+r?"""(.*?)\n\s*\n', package.read(file).decode(), re.S | re.M):
                texts[file + ":" + name] = doc
    return texts


def first_sentence(text: str) -> str:
    text = clean(text.strip().split("\n")[0])
    text = re.sub(r"^(This API|本接口|该接口|此接口|接口)\s*[（(][^）)]*[）)]", r"\1", text)
    text = re.sub(r"^(This API is used to|本接口用于|该接口用于|此接口用于|用于)\s*", "", text)
    return re.split(r"(?<=[a-z])\. |[。；]", text)[0].strip()


def interface_pairs(folder: Path):
    chinese = interface_texts(wheel(folder, "tencentcloud_sdk_python"))
    english = interface_texts(wheel(folder, "tencentcloud_sdk_python_intl_en"))
    for key, text in english.items():
        if key in chinese:
            yield first_sentence(text), first_sentence(chinese[key])
    for key, text in chinese.items():
        if key not in english and "_client.py" in key:
            yield "", first_sentence(text)


def read_pairs(folder: Path):
    """[(english, chinese)], each once, at most 200 letters; the English may be empty where there is no translation."""
    found = {}
    for english, chinese in [*catalogue_pairs(folder), *interface_pairs(folder)]:
        english, chinese = clean(english), clean(chinese)
        if not CJK.search(chinese) or len(chinese) > 80 or len(english) > 200:
            continue
        if english and not LATIN.search(english):
            continue
        if chinese.endswith(("结构体", "structure")):
            continue  # "DescribeImages request structure" says nothing
        found.setdefault((english.lower(), chinese), (english, chinese))
    return list(found.values())


def read_wordnet(folder: Path):
    """(definitions, examples) of WordNet 3.0."""
    definitions, examples = [], []
    for part in ["noun", "verb", "adj", "adv"]:
        for line in (folder / f"data.{part}").read_text(encoding="latin-1").splitlines():
            if line.startswith("  ") or "|" not in line:
                continue
            fields, gloss = line.split("|", 1)
            words = fields.split()
            lemma = words[4].replace("_", " ")
            examples += [clean(e) for e in re.findall(r'"([^"]+)"', gloss)]
            definition = clean(re.split(r'; "', gloss.strip())[0])
            definitions.append((lemma, re.sub(r"^\([^)]*\)\s*", "", definition)))
    return definitions, [e for e in examples if 8 < len(e) < 120]


def read_dialogue(folder: Path):
    """Lines of the chatterbot corpus, English and Chinese mixed."""
    package, lines = wheel(folder, "chatterbot_corpus"), set()
    for file in package.namelist():
        if re.search(r"data/(english|chinese)/.*\.yml$", file):
            for line in package.read(file).decode().splitlines():
                match = re.match(r"^\s*-\s+(?:-\s+)?(.{3,90})$", line)
                if match:
                    lines.add(clean(match.group(1).strip("'\"")))
    return sorted(lines)
