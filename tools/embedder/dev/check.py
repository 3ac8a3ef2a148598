#!/usr/bin/env python3
"""Second look at the development set: Traditional is Traditional, no near copies of examples, and what plain BM25 makes of it (needs opencc-python-reimplemented)."""
import sys, os, json, re, math, collections, unicodedata
from opencc import OpenCC
D = os.path.dirname(os.path.abspath(__file__)); OUT = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(D)
t2s=OpenCC('t2s'); s2t=OpenCC('s2t')
R=[json.loads(l) for l in open(D+'/requests.jsonl')]
for r in R:
    x=t2s.convert(r['text'])
    if r['kind']=='traditional':
        if x==r['text']: print('TRAD but no trad char:',r['text'])
        # simplified-only chars: s2t changes it
        simp=[c for c in r['text'] if s2t.convert(c)!=c and c not in '台准只后里才面系松几干出向范'] 
        if simp: print('simplified in trad?',''.join(simp),r['text'])
    elif x!=r['text']: print('trad in simp?',r['text'],[a for a,b in zip(r['text'],x) if a!=b])
def toks(s):
    s=t2s.convert(unicodedata.normalize('NFKC',s).lower()); out=[]
    for w in re.findall(r'[a-z0-9]+|[\u3400-\u9fff]+',s):
        if re.match('[a-z0-9]',w): out.append(w)
        else: out+= [w[i:i+2] for i in range(len(w)-1)] or [w]
    return out
def ev(path,ex=5):
    d=json.load(open(path)); docs=[]
    for c in d['caps']:
        docs.append(toks(' '.join([re.sub(r'[._]',' ',c['name']),c['description'],' '.join(c['tags']).replace('/',' '),c['operation'],c['objectType'].replace('_',' ')]+d['pool'][c['id']][:ex])))
    N=len(docs); df=collections.Counter(t for x in docs for t in set(x)); av=sum(map(len,docs))/N; tf=[collections.Counter(x) for x in docs]
    def score(q):
        q=toks(q); return [sum(math.log(1+(N-df[t]+.5)/(df[t]+.5))*f[t]*2.2/(f[t]+1.2*(.25+.75*len(x)/av)) for t in q if t in f) for f,x in zip(tf,docs)]
    st=collections.defaultdict(lambda:[0,0,0]); wrong=[]
    cap=[c['id'] for c in d['caps']]; lang={c['id']:c['lang'] for c in d['caps']}
    for r in d['dev']:
        s=score(r['t']); o=sorted(range(N),key=lambda i:-s[i]); a=cap[o[0]]==r['y'] and s[o[0]]>0; b=r['y'] in [cap[i] for i in o[:3] if s[i]>0]
        x='X' if (re.search('[\u3400-\u9fff]',r['t']) is not None)!=(lang[r['y']]=='zh') else '='
        for k in ('all',r['kind'],'lang'+x): st[k][0]+=1; st[k][1]+=a; st[k][2]+=b
        if not b: wrong.append((r['y'],cap[o[0]],r['t']))
    for k,v in st.items(): print(path,k,v[0],round(100*v[1]/v[0],1),round(100*v[2]/v[0],1))
    return wrong
ev(OUT+'/dev.json'); ev(OUT+'/fine.json')
# near-copies
E=[(e,c['name']) for c in json.load(open(D+'/cards.json')) for e in c['examples']]+[(e,c['name']) for c in json.load(open(D+'/fine.json'))['cards'] for e in c['examples']]
F=json.load(open(D+'/fine.json'))['requests']
g=lambda s:(lambda s:{s[i:i+3] for i in range(len(s)-2)})(re.sub(r'\W','',s.lower()))
GE=[(g(e),e,n) for e,n in E]
for i,r in enumerate(R+F):
    x=g(r['text'])
    for y,e,n in GE:
        j=len(x&y)/max(1,len(x|y))
        if j>=.5: print('near copy %.2f'%j,r['text'],'|',e,n,r['expect'])
