"""Requests in English and Chinese made of our own word lists: operations × objects × ways to ask.

They are the table's lesson in its own subject: that 报销单 is an expense report, that 撤销, 取消 and cancel are one thing, and
that it is another thing than 查询. Every list below was written for this purpose, none was taken from a test set.
"""

import random

# operation: English | Chinese. What is on one line is one operation.
OPERATIONS = """
create: create, add, make, set up, open a new, register, start a new | 创建, 新建, 新增, 添加, 建立, 开一个, 建一个, 录入
delete: delete, remove, erase, get rid of, drop, wipe, throw away | 删除, 删掉, 移除, 清除, 去掉, 抹掉, 删了
update: update, change, modify, edit, alter, revise, adjust, correct | 更新, 修改, 更改, 编辑, 改一下, 变更, 调整, 改掉
query: look up, get, find, check, show, see, view, retrieve, fetch | 查询, 查看, 查一下, 看看, 获取, 查找, 看一下, 查查
list: list, show all, enumerate, give me every, display all, list all of | 列出, 罗列, 列一下, 显示所有, 列出全部, 看看有哪些
status: check the status of, track, check the progress of, follow up on | 查询状态, 跟踪, 看进度, 查进度, 追踪
cancel: cancel, call off, abort, withdraw, revoke, undo | 取消, 撤销, 撤回, 作废, 不要了, 终止
approve: approve, sign off on, authorize, accept, give the go-ahead for | 批准, 审批, 通过, 同意, 核准, 审核通过
reject: reject, decline, deny, turn down, refuse | 拒绝, 驳回, 否决, 不批准, 退回
export: export, download, save a copy of, dump, save as a file | 导出, 下载, 另存, 存成文件, 导成表格
import: import, upload, load, bring in, ingest | 导入, 上传, 批量导入, 传上来, 载入
send: send, forward, deliver, mail, pass on | 发送, 发出, 转发, 寄出, 发给, 寄送
share: share, give access to, publish, make public | 分享, 共享, 公开, 发布, 开放
summarize: summarize, sum up, give an overview of, recap, condense | 总结, 汇总, 概括, 归纳, 做个摘要, 小结
analyze: analyze, examine, break down, evaluate, study | 分析, 剖析, 评估, 研究, 统计分析
compare: compare, contrast, show the difference between | 比较, 对比, 比一比, 看看差别
count: count, tell me the number of, how many are there of, total up | 统计数量, 数一数, 计数, 统计个数
calculate: calculate, compute, work out, figure out | 计算, 算一下, 核算, 算出
forecast: forecast, predict, project, estimate the future of | 预测, 预估, 预判, 推测
translate: translate, convert into another language, render in English | 翻译, 译成英文, 翻成中文, 译一下
schedule: schedule, plan, arrange, put on the calendar, set a time for | 安排, 排期, 预定时间, 排一下, 规划
book: book, reserve, make a reservation for | 预订, 预约, 订, 预定
pay: pay, settle, pay off, make a payment for | 支付, 付款, 缴纳, 结清, 付掉, 缴费
refund: refund, return the money for, reimburse, give back the money for | 退款, 退钱, 返还, 退还
buy: buy, purchase, order, get me | 购买, 买, 采购, 下单, 订购
sell: sell, put up for sale, get rid of at a price | 出售, 卖掉, 售卖, 转卖
assign: assign, allocate, hand over, delegate, reassign | 分配, 指派, 派给, 转交, 委派, 改派
notify: notify people about, alert the team to, remind me of, announce | 通知, 提醒, 告知, 告警, 知会
enable: enable, turn on, activate, switch on, start | 启用, 打开, 开启, 激活, 开通
disable: disable, turn off, deactivate, switch off, stop | 停用, 关闭, 禁用, 关掉, 停掉
lock: lock, freeze, block, suspend | 锁定, 冻结, 封禁, 暂停使用, 锁住
unlock: unlock, unfreeze, unblock, lift the suspension of | 解锁, 解冻, 解封, 恢复使用
restore: restore, recover, bring back, roll back | 恢复, 还原, 找回, 回滚, 复原
backup: back up, make a backup of, archive, keep a copy of | 备份, 归档, 存档, 留一份
merge: merge, combine, join, put together | 合并, 整合, 并到一起, 拼接
split: split, divide, separate, break up | 拆分, 分割, 拆开, 分开
copy: copy, duplicate, clone, replicate | 复制, 拷贝, 克隆, 再来一份
move: move, transfer, relocate, migrate | 移动, 转移, 迁移, 搬到, 挪到
print: print, print out, make a hard copy of | 打印, 打出来, 印一份
verify: verify, validate, confirm, double-check | 验证, 核实, 确认, 校验, 核对
search: search for, look for, hunt for, locate | 搜索, 寻找, 检索, 找找
recommend: recommend, suggest, advise me on | 推荐, 建议, 给点建议
explain: explain, describe, tell me about, what is | 解释, 说明, 讲讲, 介绍一下, 什么是
monitor: monitor, watch, keep an eye on, observe | 监控, 监测, 盯着, 关注
repair: fix, repair, troubleshoot, resolve problems with | 修复, 维修, 修理, 排查故障, 解决问题
play: play, put on, let me hear, start playing | 播放, 放一下, 放点, 来一首
pause: pause, put on hold, suspend for now | 暂停, 先停一下, 停一会儿
resume: resume, continue, carry on with | 继续, 恢复进行, 接着
rate: rate, review, give a score to, give stars to | 评分, 打分, 评价, 打星
subscribe: subscribe to, follow, sign up for | 订阅, 关注, 报名
unsubscribe: unsubscribe from, unfollow, opt out of | 退订, 取消关注, 取消订阅
renew: renew, extend, prolong | 续费, 延期, 续签, 延长, 续期
report: report, file a complaint about, raise an issue with | 举报, 投诉, 上报, 反馈问题
test: test, try out, run a test on | 测试, 试一下, 检测
deploy: deploy, release, roll out, launch | 部署, 上线, 发版, 推出
generate: generate, produce, draft, write | 生成, 起草, 制作, 写一份
"""

# object: English | Chinese, and after a second bar the topic, which picks what may qualify it.
OBJECTS = """
order: order, purchase order, sales order | 订单, 订货单, 采购单, 销售单
shipment: shipment, parcel, package, delivery | 快递, 包裹, 货物, 物流, 配送
invoice: invoice, bill, receipt | 发票, 账单, 收据, 小票
refund: refund, return, refund request | 退款, 退货, 退款申请
product: product, item, goods, merchandise | 商品, 产品, 货品
inventory: inventory, stock, stock level | 库存, 存货, 库存量
warehouse: warehouse, storehouse, depot | 仓库, 库房
supplier: supplier, vendor | 供应商, 供货商, 厂商
customer: customer, client, buyer | 客户, 顾客, 买家
lead: sales lead, prospect, opportunity | 销售线索, 商机, 潜在客户
contract: contract, agreement | 合同, 协议, 合约
quote: quotation, price quote, offer | 报价, 报价单
price: price, cost, fee | 价格, 费用, 价钱
coupon: coupon, voucher, discount, promo code | 优惠券, 代金券, 折扣, 促销码
cart: shopping cart, basket | 购物车, 购物篮
shopping list: shopping list, grocery list | 购物清单, 采购清单
payment: payment, transaction | 付款, 交易, 支付记录
account: account, user account | 账户, 账号, 用户账号
bank account: bank account, checking account, savings account | 银行账户, 活期账户, 储蓄账户
balance: balance, account balance, money in my account | 余额, 账户余额
card: credit card, bank card, debit card | 信用卡, 银行卡, 储蓄卡
credit: credit score, credit limit, credit rating | 信用评分, 信用额度, 信用等级
loan: loan, mortgage | 贷款, 房贷, 借款
interest: interest rate, interest | 利率, 利息
tax: tax, tax return, income tax | 税, 纳税申报, 所得税
insurance: insurance, insurance policy, insurance claim | 保险, 保单, 理赔
exchange: exchange rate, currency | 汇率, 外币, 货币
stock price: stock price, share price, shares | 股价, 股票行情, 股票
fund: fund, portfolio, investment | 基金, 投资组合, 投资
budget: budget, spending plan | 预算, 开支计划
expense: expense report, expense claim, reimbursement | 报销单, 报销, 费用报销
salary: salary, paycheck, payslip, wages | 工资, 薪水, 工资条, 薪资
leave: leave request, vacation, time off, days off | 请假, 休假, 假期, 年假
attendance: attendance record, check-in record, clock-in | 考勤, 打卡记录, 出勤
employee: employee, staff member, colleague | 员工, 职员, 同事
candidate: candidate, applicant, job application | 候选人, 应聘者, 求职申请
resume: resume, CV | 简历, 履历
interview: interview, job interview | 面试, 招聘面试
job: job opening, position, vacancy | 职位, 岗位, 招聘
training: training course, training session | 培训, 培训课程
performance: performance review, appraisal | 绩效考核, 绩效评估
department: department, team, organization | 部门, 团队, 组织
meeting: meeting, conference, call | 会议, 开会, 例会
meeting room: meeting room, conference room | 会议室
minutes: meeting minutes, meeting notes | 会议纪要, 会议记录
calendar: calendar, schedule, agenda | 日历, 日程, 议程
event: event, appointment, activity | 活动, 约会, 事件
task: task, to-do, assignment | 任务, 待办, 工作项
project: project, project plan | 项目, 项目计划
milestone: milestone, deadline | 里程碑, 截止日期
ticket: support ticket, issue, case | 工单, 问题单, 服务请求
bug: bug, defect, error | 缺陷, 错误, 漏洞
document: document, file, paper | 文档, 文件, 资料
folder: folder, directory | 文件夹, 目录
report: report, weekly report, monthly report | 报告, 周报, 月报, 报表
chart: chart, graph, dashboard | 图表, 看板, 仪表盘
spreadsheet: spreadsheet, table, worksheet | 表格, 电子表格, 工作表
presentation: presentation, slides, slide deck | 演示文稿, 幻灯片
image: image, picture, photo | 图片, 照片, 图像
video: video, clip, recording | 视频, 录像, 短片
email: email, mail, message in my inbox | 邮件, 电子邮件, 邮箱里的信
message: message, text, SMS | 消息, 短信, 信息
contact: contact, phone number, address book | 联系人, 电话号码, 通讯录
note: note, memo | 笔记, 备忘录, 便签
comment: comment, feedback, review | 评论, 反馈, 意见
survey: survey, questionnaire, poll | 问卷, 调查, 投票
form: form, application form | 表单, 申请表
approval: approval, approval request, approval flow | 审批, 审批单, 审批流程
seal: company seal, stamp | 公章, 印章
license: license, permit, certificate | 许可证, 证书, 执照
policy: policy, rule, regulation | 政策, 规则, 制度
permission: permission, access right, role | 权限, 访问权限, 角色
password: password, PIN, passcode | 密码, 口令, 验证码
user: user, member, subscriber | 用户, 会员, 订阅者
login: login, sign-in, session | 登录, 登陆, 会话
database: database, data table | 数据库, 数据表
record: record, entry, row | 记录, 条目, 数据行
backup: backup, snapshot | 备份, 快照
log: log, audit log, log file | 日志, 审计日志, 操作记录
server: server, host, virtual machine | 服务器, 主机, 虚拟机
container: container, cluster, pod | 容器, 集群
network: network, connection, wifi | 网络, 连接, 无线网
firewall: firewall, security group | 防火墙, 安全组
domain: domain, DNS record | 域名, 解析记录
service: service, system, application | 服务, 系统, 应用
api: API, interface, endpoint | 接口, 应用接口
alert: alert, alarm, warning | 告警, 警报, 预警
code: code, source code, program | 代码, 源代码, 程序
repository: repository, branch | 代码仓库, 分支
release: release, version, build | 版本, 发布版本, 构建
pipeline: pipeline, workflow, job run | 流水线, 工作流, 流程
test case: test case, unit test | 测试用例, 单元测试
printer: printer, scanner | 打印机, 扫描仪
computer: computer, laptop, device | 电脑, 笔记本, 设备
phone: phone, mobile, handset | 手机, 电话
software: software, app | 软件, 应用程序
asset: asset, equipment, office supplies | 资产, 设备, 办公用品
machine: machine, production line | 机器, 生产线, 机床
sensor: sensor, meter reading, temperature | 传感器, 读数, 温度
energy: electricity, power consumption, energy | 电量, 用电, 能耗
quality: quality inspection, quality check | 质检, 质量检查
maintenance: maintenance, inspection, service visit | 保养, 巡检, 维护
vehicle: car, vehicle, truck | 汽车, 车辆, 货车
tire: tires, tire pressure | 轮胎, 胎压
fuel: gas, fuel, gasoline | 汽油, 油量, 油费
parking: parking space, parking lot | 停车位, 停车场
route: route, directions, way | 路线, 路径, 怎么走
traffic: traffic, traffic jam, congestion | 路况, 堵车, 交通
taxi: taxi, cab, ride | 出租车, 打车, 网约车
bus: bus, subway, bus ticket | 公交, 地铁, 车票
train: train, train ticket, high-speed train | 火车, 火车票, 高铁票
flight: flight, plane ticket, airline ticket | 航班, 机票, 飞机票
luggage: luggage, baggage, suitcase | 行李, 行李箱
visa: visa, passport | 签证, 护照
hotel: hotel, hotel room, accommodation | 酒店, 宾馆, 客房, 住宿
trip: trip, travel plan, business trip, itinerary | 行程, 旅行, 出差, 旅游计划
attraction: attraction, sights, museum | 景点, 名胜, 博物馆
restaurant: restaurant, table at a restaurant, dinner reservation | 餐厅, 饭店, 餐桌, 餐馆座位
menu: menu, dish, meal | 菜单, 菜品, 饭菜
recipe: recipe, how to cook, ingredients | 食谱, 菜谱, 做法, 食材
nutrition: calories, nutrition, nutrition facts | 热量, 营养, 卡路里
doctor: doctor, doctor's appointment, physician | 医生, 挂号, 门诊
patient: patient, patient record, medical record | 病人, 病历, 患者
medicine: medicine, prescription, drug | 药, 处方, 药品
checkup: health check, lab test, test results | 体检, 化验, 检查结果
vaccine: vaccine, vaccination | 疫苗, 接种
hospital: hospital, ward, hospital bed | 医院, 病房, 床位
sport: workout, exercise, fitness plan | 锻炼, 运动, 健身计划
sleep: sleep, bedtime | 睡眠, 睡觉
student: student, pupil | 学生, 学员
class: class, lesson, course | 课程, 课, 课堂
homework: homework, assignment at school | 作业, 功课
exam: exam, quiz, grades | 考试, 测验, 成绩
teacher: teacher, professor | 老师, 教师
scholarship: scholarship, tuition | 奖学金, 学费
book: book, novel | 书, 小说, 图书
library: library, book loan | 图书馆, 借书
article: article, blog post, news story | 文章, 博客, 新闻稿
news: news, headlines | 新闻, 头条
word: word, definition, meaning of a word | 单词, 词义, 定义
language: language, translation, sentence | 语言, 译文, 句子
song: song, music, track | 歌曲, 音乐, 歌
playlist: playlist, album | 歌单, 播放列表, 专辑
movie: movie, film, showtimes | 电影, 影片, 放映时间
tv: TV show, series, episode | 电视节目, 电视剧, 剧集
game: game, video game | 游戏, 电子游戏
joke: joke, fun fact, riddle | 笑话, 趣闻, 谜语
podcast: podcast, radio station | 播客, 电台, 广播
concert: concert ticket, show ticket | 演唱会门票, 演出票
gift: gift, present | 礼物, 礼品
flower: flowers, bouquet | 鲜花, 花束
clothes: clothes, shoes, outfit | 衣服, 鞋子, 服装
pet: pet, dog, cat | 宠物, 狗, 猫
house: house, apartment, rental | 房子, 公寓, 租房
rent: rent, lease | 租金, 租约, 房租
utility: water bill, utility bill, property fee | 水费, 水电费, 物业费
furniture: furniture, home appliance | 家具, 家电
light: light, lamp | 灯, 灯光
curtain: curtain, blinds | 窗帘
air conditioner: air conditioner, thermostat, heating | 空调, 恒温器, 暖气
door: door, door lock, gate | 门, 门锁
camera: camera, surveillance | 摄像头, 监控
robot: robot, vacuum cleaner | 机器人, 扫地机
speaker: speaker, volume | 音箱, 音量
alarm: alarm clock, wake-up alarm | 闹钟, 闹铃
timer: timer, countdown | 计时器, 倒计时
reminder: reminder | 提醒, 提醒事项
weather: weather, weather forecast, rain | 天气, 天气预报, 下雨
air quality: air quality, pollution | 空气质量, 污染
time: time, time zone, date | 时间, 时区, 日期
holiday: holiday, public holiday | 节假日, 放假
map: map, location, address | 地图, 位置, 地址
store: store, shop, branch | 门店, 商店, 分店
advertisement: ad, campaign, advertisement | 广告, 推广, 营销活动
website: website, web page, landing page | 网站, 网页, 页面
search result: search results, keyword ranking | 搜索结果, 关键词排名
social post: social media post, tweet | 动态, 帖子, 微博
live stream: live stream, broadcast | 直播, 直播间
point: reward points, loyalty points, miles | 积分, 奖励积分, 里程
membership: membership, subscription plan | 会员资格, 套餐, 订阅
complaint: complaint, dispute | 投诉, 纠纷
lawsuit: lawsuit, legal case, litigation | 诉讼, 案件, 官司
patent: patent, trademark | 专利, 商标
risk: risk, fraud, suspicious transaction | 风险, 欺诈, 可疑交易
audit: audit, compliance check | 审计, 合规检查
crop: crop, field, irrigation | 庄稼, 农田, 灌溉
weather station: soil moisture, pesticide | 土壤湿度, 农药
animal: livestock, herd | 牲畜, 养殖
experiment: experiment, sample | 实验, 样本
model: model, training run, prediction | 模型, 训练任务, 预测结果
dataset: dataset, data, metrics | 数据集, 数据, 指标
trend: sales trend, growth, revenue | 销售趋势, 增长, 营收
profit: profit, sales figures, turnover | 利润, 销售额, 营业额
debt: overdue payment, accounts receivable | 欠款, 应收账款
voucher: accounting voucher, ledger | 凭证, 账本, 总账
visitor: visitor, guest pass | 访客, 来访登记
donation: donation, charity | 捐款, 慈善
election: vote, ballot | 选票, 表决
"""

ENGLISH_FRAMES = """{v} {o}
{v} the {o}
{v} my {o}
{v} this {o}
please {v} the {o}
can you {v} my {o}
could you {v} the {o} for me
i want to {v} my {o}
i need to {v} the {o}
i'd like to {v} a {o}
help me {v} the {o}
how do i {v} my {o}
{v} the {o} from {t}
{v} all {o} of {q}
is it possible to {v} the {o}
let me {v} the {o} {t}
we have to {v} {q}'s {o}
would you mind to {v} {o} {t}
{v} {o} by its number
the boss wants us to {v} the {o}
hey, {v} the {o} for {q}""".split("\n")

CHINESE_FRAMES = """{v}{o}
帮我{v}{o}
请{v}{o}
请帮忙{v}一下{o}
我想{v}{o}
我要{v}{o}
我需要{v}{o}
能不能{v}{o}
可以{v}我的{o}吗
怎么{v}{o}
麻烦{v}这个{o}
给我{v}{o}
把{o}{v}
{t}的{o}帮我{v}
{v}{t}的{o}
{v}{q}的{o}
我们得{v}{q}的{o}
老板让{v}{o}
{o}需要{v}
想把{o}{v}一下
按编号{v}{o}""".split("\n")

TIMES = """yesterday | 昨天
today | 今天
tomorrow | 明天
last week | 上周
this week | 本周
next week | 下周
last month | 上个月
this month | 这个月
next month | 下个月
this quarter | 本季度
last year | 去年
this year | 今年
this morning | 今天早上
tonight | 今晚
the weekend | 周末
monday | 周一
friday | 星期五""".split("\n")

WHOSE = """east china | 华东
the beijing office | 北京办公室
the shanghai branch | 上海分公司
the sales team | 销售团队
the finance department | 财务部
the new customer | 新客户
my manager | 我经理
the company | 公司
the store | 门店
the school | 学校
my family | 我家
our supplier | 供应商
number 1024 | 1024号""".split("\n")


def read(table: str):
    rows = {}
    for line in table.strip().splitlines():
        name, words = line.split(":", 1)
        english, chinese = words.split("|")
        rows[name] = ([w.strip() for w in english.split(",")], [w.strip() for w in chinese.split(",")])
    return rows


def requests(count: int, seed: int = 7):
    """`count` tuples (operation, object, English request, Chinese request); every pair of both sides means the same."""
    chance = random.Random(seed)
    operations, objects = read(OPERATIONS), read(OBJECTS)
    operation_names, object_names = list(operations), list(objects)
    found = []
    for i in range(count):
        operation = chance.choice(operation_names)
        thing = object_names[i % len(object_names)]
        time = chance.choice(TIMES).split(" | ")
        whose = chance.choice(WHOSE).split(" | ")
        (verbs_en, verbs_zh), (words_en, words_zh) = operations[operation], objects[thing]
        fill = lambda frame, verbs, words, language: frame.format(
            v=chance.choice(verbs), o=chance.choice(words), t=time[language], q=whose[language]
        )
        k = chance.random()
        # The frames which speak of a time or an owner come in pairs, so that both sides say the same.
        kind = "{t}" if k < 0.15 else "{q}" if k < 0.3 else None
        pick = lambda frames: chance.choice(
            [f for f in frames if (kind in f if kind else "{t}" not in f and "{q}" not in f)]
        )
        found.append((operation, thing, fill(pick(ENGLISH_FRAMES), verbs_en, words_en, 0), fill(pick(CHINESE_FRAMES), verbs_zh, words_zh, 1)))
    return found


def words():
    """Every word of the lists, English phrases whole: [(operation or object, english, chinese)], names prefixed op: or ob:."""
    found = []
    for prefix, table in [("op:", OPERATIONS), ("ob:", OBJECTS)]:
        for name, (english, chinese) in read(table).items():
            found.append((prefix + name, english, chinese))
    return found
