#!/usr/bin/env python3
"""Compile src/*.txt (hand-written) to cards.json, requests.jsonl, fine.json and the two routing-shaped files; then check them."""
import glob, json, os, re, sys, collections
D = os.path.dirname(os.path.abspath(__file__)); OUT = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(D)
K = dict(d='direct', i='indirect', r='rambling', t='typo', m='mixed', f='traditional', c='cross', p='pair')
cjk = lambda s: re.search(r'[\u3400-\u9fff]', s) is not None
bad = []
def parse(files, fine=False):
    cards, reqs, none, cur = [], [], [], None
    for f in files:
        for n, line in enumerate(open(f, encoding='utf8'), 1):
            line = line.rstrip('\n')
            if not line.strip(): continue
            tag, rest = line[0], line[2:].strip()
            where = f'{os.path.basename(f)}:{n}'
            if tag == '#':
                name, op, obj, tags, lang = rest.split('|')
                cur = dict(name=name, description='', operation=op, objectType=obj, tags=tags.split(','), examples=[], labels=dict(lang=lang))
                cards.append(cur)
            elif tag == '>': cur = next(c for c in cards if c['name'] == rest)
            elif tag == '=': cur['description'] = rest
            elif tag == '+': cur['examples'].append(rest)
            elif tag in '-~': k, t = rest.split(' ', 1); none.append(dict(text=t.strip(), expect=None, kind=K[k], distance='near' if tag == '-' else 'far'))
            elif tag in K and line[1] == ' ': reqs.append(dict(text=rest, expect=cur['name'], kind=K[tag]))
            else: bad.append(f'{where}: cannot read {line!r}')
    if not fine:
        for c in cards: # a terse card is terse in its tags too: the domain only
            if len(c['description']) < 12 or (c['labels']['lang'] == 'en' and len(c['description'].split()) < 7): c['tags'] = [c['tags'][0].split('/')[0]]
    return cards, reqs, none
def check(cards, reqs, none, label):
    names = [c['name'] for c in cards]; lang = {c['name']: c['labels']['lang'] for c in cards}
    if len(set(names)) != len(names): bad.append(f'{label}: duplicate capability')
    norm = lambda s: re.sub(r'[\W_]+', '', s.lower())
    seen = {}
    for c in cards:
        if not c['description']: bad.append(f"{c['name']}: no description")
        if not 3 <= len(c['examples']) <= 8: bad.append(f"{c['name']}: {len(c['examples'])} examples")
        for e in c['examples']:
            if norm(e) in seen: bad.append(f"{label}: example twice: {e} ({c['name']}, {seen[norm(e)]})")
            seen[norm(e)] = c['name']
    for r in reqs + none:
        if r['expect'] is not None and r['expect'] not in lang: bad.append(f"{label}: unknown {r['expect']}")
        if norm(r['text']) in seen: bad.append(f"{label}: text twice: {r['text']} ({r['expect']}, {seen[norm(r['text'])]})")
        seen[norm(r['text'])] = r['expect']
        if r['kind'] == 'cross' and r['expect'] and cjk(r['text']) == (lang[r['expect']] == 'zh'): bad.append(f"not cross: {r['text']}")
        if r['kind'] == 'mixed' and not (cjk(r['text']) and re.search('[A-Za-z]{2}', r['text'])): bad.append(f"not mixed: {r['text']}")
        if r['kind'] in ('direct', 'indirect', 'typo', 'rambling') and r['expect'] and cjk(r['text']) != (lang[r['expect']] == 'zh'): print('cross by language, kind', r['kind'], r['text'])
    per = collections.Counter(r['expect'] for r in reqs)
    print(label, len(cards), 'cards', dict(collections.Counter(lang.values())), sum(len(c['examples']) for c in cards), 'examples;', len(reqs), 'served,', len(none), 'unserved')
    print('  per card != usual:', {n: per[n] for n in names if per[n] != (7 if label == 'fine' else 8)})
    print('  kinds', dict(collections.Counter(r['kind'] for r in reqs)), '| unserved', dict(collections.Counter(r['kind'] for r in none)), {'zh': sum(cjk(r['text']) for r in none), 'near': sum(r.get('distance') == 'near' for r in none)})
    print('  text language', dict(collections.Counter(('zh' if cjk(r['text']) else 'en') + '->' + lang[r['expect']] for r in reqs)))
    print('  description length', {l: sorted(len(c['description']) if l == 'zh' else len(c['description'].split()) for c in cards if c['labels']['lang'] == l) for l in set(lang.values())})
def routing(name, cards, reqs, none):
    return dict(name=name, caps=[dict(id=c['name'], name=c['name'], operation=c['operation'], objectType=c['objectType'], tags=c['tags'], description=c['description'], lang=c['labels']['lang']) for c in cards],
        pool={c['name']: c['examples'] for c in cards}, q=[], dev=[dict(t=r['text'], y=r['expect'], kind=r['kind']) for r in reqs], oos=[], oosDev=[r['text'] for r in none])
def dump(x, p, indent=None):
    with open(p, 'w', encoding='utf8') as f: json.dump(x, f, ensure_ascii=False, indent=indent); f.write('\n')
src = sorted(glob.glob(D + '/src/*.txt')); fsrc = [f for f in src if 'fine' in f]; osrc = [f for f in src if 'fine' not in f]
c, r, n = parse(osrc); check(c, r, n, 'dev')
dump(c, D + '/cards.json', 1)
with open(D + '/requests.jsonl', 'w', encoding='utf8') as f:
    for x in r + n: f.write(json.dumps(x, ensure_ascii=False) + '\n')
dump(routing('dev office', c, r, n), OUT + '/dev.json')
if fsrc:
    c, r, n = parse(fsrc, True); check(c, r, n, 'fine')
    dump(dict(cards=c, requests=r + n), D + '/fine.json', 1); dump(routing('dev fine', c, r, n), OUT + '/fine.json')
for b in bad: print('BAD', b)
sys.exit(bool(bad))
