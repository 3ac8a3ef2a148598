// Capabilities of a large company, as many as wanted: what is done, to what, where, and by means of which system. Half of the
// cards are in English and half in Chinese. Each can be asked for in a sentence that its card does not have. The same numbers
// give the same texts.

/** What is done: name | how cards say it, in English and in Chinese. */
const deeds = `
  approve|approve, sign off|审批, 批准
  cancel|cancel, withdraw|取消, 撤回
  archive|archive, file away|归档, 存档
  print|print, put on paper|打印, 印出
  translate|translate, put into other languages|翻译, 译成外文
  summarise|summarise, condense|总结, 汇总
  compare|compare, set side by side|对比, 比较
  forecast|forecast, project|预测, 推算
  remind|send reminders about, chase up|催办, 提醒
  reconcile|reconcile, balance|对账, 核对
  export|export, extract|导出, 提取
  import|import, load in|导入, 录入
  search|search, look up|搜索, 检索
  create|create, open|新建, 创建
  delete|delete, remove|删除, 移除
  assign|assign, hand over|分配, 指派
  schedule|schedule, plan|排期, 安排时间
  publish|publish, release|发布, 公布
  audit|audit, examine|审计, 检查
  repair|repair, mend|修复, 维修
  measure|measure, gauge|测量, 计量
  price|price, put a value on|定价, 估价
  subscribe|subscribe to, follow|订阅, 关注
  explain|explain, describe|解释, 说明
`;

/** To what: English | Chinese. */
const things = `
  invoice|发票;contract|合同;parcel|包裹;timesheet|工时表;payslip|工资单;budget|预算;visa|签证;passport|护照;warranty|保修单;tender|标书
  recipe|菜谱;menu|菜单;timetable|时刻表;ticket|车票;hotel room|酒店房间;flight|航班;pallet|托盘;container|集装箱;forklift|叉车;truck|卡车
  customer complaint|客户投诉;survey|问卷;newsletter|简报;press release|新闻稿;logo|标志;photograph|照片;video|视频;podcast|播客;poster|海报;banner|横幅
  server|服务器;database|数据库;firewall|防火墙;password|密码;certificate|证书;backup|备份;log file|日志;release note|版本说明;unit test|单元测试;printer|打印机
  laptop|笔记本电脑;desk|办公桌;parking space|停车位;key card|门禁卡;lift|电梯;boiler|锅炉;roof|屋顶;water meter|水表;lease|租约;mortgage|按揭
  vaccine|疫苗;prescription|处方;blood sample|血样;x-ray|透视片;hospital bed|病床;ambulance|救护车;lesson|课程;exam|考试;scholarship|奖学金;library book|图书
`;

/** Where: English | Chinese. */
const places = `
  Lyon|里昂;Osaka|大阪;Harbin|哈尔滨;Chengdu|成都;Porto|波尔图;Krakow|克拉科夫;Dublin|都柏林;Nairobi|内罗毕;Lima|利马;Quito|基多
  Suzhou|苏州;Xiamen|厦门;Kunming|昆明;Dalian|大连;Wuhan|武汉;Hangzhou|杭州;Nanjing|南京;Qingdao|青岛;Xi'an|西安;Changsha|长沙
  Berlin|柏林;Vienna|维也纳;Prague|布拉格;Madrid|马德里;Rome|罗马;Athens|雅典;Cairo|开罗;Ankara|安卡拉;Oslo|奥斯陆;Helsinki|赫尔辛基
  Boston|波士顿;Chicago|芝加哥;Denver|丹佛;Houston|休斯敦;Seattle|西雅图;Toronto|多伦多;Montreal|蒙特利尔;Havana|哈瓦那;Bogota|波哥大;Santiago|圣地亚哥
  Sydney|悉尼;Perth|珀斯;Auckland|奥克兰;Manila|马尼拉;Hanoi|河内;Bangkok|曼谷;Jakarta|雅加达;Mumbai|孟买;Delhi|德里;Karachi|卡拉奇
  Geneva|日内瓦;Munich|慕尼黑;Hamburg|汉堡;Naples|那不勒斯;Seville|塞维利亚;Glasgow|格拉斯哥;Leeds|利兹;Bergen|卑尔根;Riga|里加;Vilnius|维尔纽斯
  Guangzhou|广州;Shenzhen|深圳;Tianjin|天津;Chongqing|重庆;Lanzhou|兰州;Guiyang|贵阳;Nanning|南宁;Haikou|海口;Lhasa|拉萨;Taiyuan|太原
  Kyoto|京都;Nagoya|名古屋;Busan|釜山;Incheon|仁川;Tunis|突尼斯;Dakar|达喀尔;Accra|阿克拉;Lagos|拉各斯;Tbilisi|第比利斯;Yerevan|埃里温
`;

const rows = (text, separator) =>
  text
    .trim()
    .split(separator)
    .map((row) => row.trim().split("|"));
const split = (words) => words.split(",").map((word) => word.trim());
const allDeeds = rows(deeds, "\n").map(([name, en, zh]) => ({ name, en: split(en), zh: split(zh) }));
const listed = (text) => rows(text, /[;\n]/).map(([en, zh]) => ({ en, zh }));
const [allThings, allPlaces] = [listed(things), listed(places)];

/** How many there are. */
export const tradesMax = allDeeds.length * allThings.length * allPlaces.length;
/** Has no factor in common with tradesMax, so that each number has a trade of its own, and neighbours have little in common. */
const stride = 48_271;

/** Random numbers from a seed (Marsaglia's xorshift, 2003), so that every run has the same. */
function numbers(seed) {
  let state = Math.imul(seed + 1, 0x9e3779b1) | 1;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}

const syllables = "ba co du fe gi ka lo mu ne pi ra so tu ve wi xa yo zu tri plan dor mel qui sten".split(" ");
/** The made-up name of a system, as every company has some. */
function systemName(random) {
  const name = Array.from({ length: 3 }, () => syllables[random(syllables.length)]).join("");
  return name[0].toUpperCase() + name.slice(1);
}

const templates = {
  en: {
    descriptions: [
      (deed, thing, place, system) => `Can ${deed} the ${thing} of the ${place} office in ${system}`,
      (deed, thing, place, system) => `${system} ${place}: ${deed} ${thing}`,
      (deed, thing, place) => `For colleagues from ${place} who have to ${deed} one ${thing} or several`,
      (deed, thing, place, system) => `Uses ${system} to ${deed} any ${thing} that belongs to ${place}`,
    ],
    examples: [
      (deed, thing, place) => `please ${deed} the ${thing} for our people in ${place}`,
      (deed, thing, place) => `${place} needs somebody to ${deed} the ${thing} today`,
      (deed, thing, place, system) => `${deed} the ${thing}, ${place}, with ${system}`,
      (deed, thing, place) => `my boss in ${place} says I must ${deed} this ${thing} before lunch`,
      (deed, thing, place) => `how do I ${deed} a ${thing} at ${place}?`,
      (deed, thing, place) => `${thing} ${place} ${deed} asap`,
    ],
    requests: [
      (deed, thing, place) => `would you ${deed} that ${thing} over in ${place}`,
      (deed, thing, place) => `we are from ${place} and our ${thing} is one to ${deed}`,
    ],
  },
  zh: {
    descriptions: [
      (deed, thing, place, system) => `在${system}中${deed}${place}办事处的${thing}`,
      (deed, thing, place, system) => `${system} ${place}：${thing}${deed}`,
      (deed, thing, place) => `供${place}员工${deed}一份或多份${thing}`,
      (deed, thing, place, system) => `通过${system}对属于${place}的${thing}进行${deed}`,
    ],
    examples: [
      (deed, thing, place) => `请帮${place}的同事${deed}${thing}`,
      (deed, thing, place) => `${place}今天需要${deed}${thing}`,
      (deed, thing, place, system) => `用${system}${deed}${place}的${thing}`,
      (deed, thing, place) => `${place}的领导让我中午前${deed}这个${thing}`,
      (deed, thing, place) => `在${place}怎么${deed}${thing}？`,
      (deed, thing, place) => `${thing} ${place} ${deed} 尽快`,
    ],
    requests: [
      (deed, thing, place) => `${place}那边的${thing}，麻烦${deed}`,
      (deed, thing, place) => `我们是${place}的，有个${thing}想${deed}`,
    ],
  },
};

function partsOf(number) {
  const at = (number * stride) % tradesMax;
  const deed = allDeeds[at % allDeeds.length];
  const thing = allThings[Math.floor(at / allDeeds.length) % allThings.length];
  const place = allPlaces[Math.floor(at / allDeeds.length / allThings.length)];
  return { deed, thing, place, language: number % 2 === 0 ? "en" : "zh" };
}

/** The capability of a number below `tradesMax`. */
export function capabilityOf(number) {
  const { deed, thing, place, language } = partsOf(number);
  const random = numbers(number);
  const system = systemName(random);
  const { descriptions, examples } = templates[language];
  const say = (template) => template(deed[language][random(2)], thing[language], place[language], system);
  const first = random(examples.length);
  return {
    name: nameOf(number),
    description: say(descriptions[random(descriptions.length)]),
    // One card in two names its operation.
    ...(random(2) === 0 ? { operation: deed.name } : {}),
    examples: [0, 1, 2].map((i) => say(examples[(first + i) % examples.length])),
    idempotent: true,
  };
}

/** Unique: what it does, to what and where. */
export function nameOf(number) {
  const { deed, thing, place } = partsOf(number);
  return `${deed.name}_${thing.en}_${place.en}`.toLowerCase().replace(/[^a-z_]/g, "_");
}

/** A request for it, in the language of its card. */
export function requestOf(number) {
  const { deed, thing, place, language } = partsOf(number);
  const random = numbers(number + tradesMax);
  const { requests } = templates[language];
  return requests[random(requests.length)](deed[language][random(2)], thing[language], place[language]);
}
