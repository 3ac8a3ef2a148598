"""Ways in which people ask for one and the same thing, in English and Chinese; each line is one wish, all of it written for this.

They teach what templates cannot: 车还没发 is about a shipment, "my paycheck looks short" about a salary.
"""

import random

SAYINGS = """
where is my parcel ; has my package shipped yet ; when will the delivery arrive ; still waiting for the box i ordered | 快递到哪了 ; 我买的东西怎么还没到 ; 货发出去没有 ; 包裹什么时候能送到
i want my money back ; the thing i bought is broken, refund me ; return this and give me the cash back | 我要退货退款 ; 东西坏了给我退钱 ; 不想要了，把钱退给我
my order came with the wrong size ; swap this for a larger one ; exchange the item | 尺码不对给我换一件 ; 能换个大一号的吗 ; 想换货
how much do i owe ; what is the amount due this month ; when is my bill to be paid | 我这个月要交多少钱 ; 账单什么时候到期 ; 还欠多少没付
pay the electricity bill ; settle what i owe to the power company | 交一下电费 ; 把水电费付了 ; 帮我缴电费
how much money is left in my account ; what's my bank balance ; do i have enough to cover rent | 我卡里还剩多少钱 ; 账户余额是多少 ; 钱够不够交房租
send fifty dollars to my brother ; move money from savings to checking ; wire the amount to this account | 给我弟转五百块 ; 从储蓄账户转钱到活期 ; 把这笔款打到这个账号
someone used my card without asking ; there is a charge i never made ; i think my card was stolen | 我的卡被盗刷了 ; 有一笔消费不是我花的 ; 银行卡丢了怕被人用
freeze my card for now ; block the bank account right away | 先把卡冻结 ; 账户赶紧锁了 ; 挂失这张卡
my card was refused at the shop ; why was the payment declined | 刷卡被拒是怎么回事 ; 付款失败了 ; 为什么付不了钱
raise my credit limit ; can i get a higher limit on the card | 提高信用卡额度 ; 额度不够用，想提额
how is my credit ; tell me my credit rating ; is my credit score good | 我的信用分怎么样 ; 查一下征信 ; 信用等级是多少
i forgot my password ; can't log in ; reset my login ; the system keeps me out | 密码忘了 ; 登不进去 ; 帮我重置密码 ; 系统一直说密码错误
change the pin of my card ; i need a new pin | 改一下银行卡密码 ; 想换个取款密码
what is the exchange rate ; how many euros do i get for a hundred dollars ; convert pounds to yuan | 今天汇率多少 ; 一百美元能换多少人民币 ; 换算成欧元
how much tax do i have to pay ; help with my tax return | 我要交多少税 ; 报税怎么弄 ; 个税怎么算
did my salary come in ; my paycheck looks short ; when is payday | 工资发了没 ; 这个月工资好像少了 ; 哪天发薪
put money into my retirement plan ; how is my pension fund doing | 养老金存了多少 ; 企业年金怎么样了
how do i apply for a loan ; can i get a mortgage with my income | 想申请贷款 ; 我这收入能办房贷吗 ; 怎么借款
my car was hit, file an insurance claim ; what does my policy cover | 车被撞了要报保险 ; 保险都赔什么 ; 理赔怎么走
what's the weather like ; do i need an umbrella ; is it going to rain ; how cold is it outside | 今天天气怎么样 ; 要不要带伞 ; 明天会下雨吗 ; 外面冷不冷 ; 用穿外套吗
wake me at six ; set an alarm for tomorrow morning ; i have to get up early | 六点叫我起床 ; 明早定个闹钟 ; 早上早点叫醒我
turn off my alarm ; i don't need to be woken tomorrow ; delete the alarm | 明天不用叫我了 ; 把闹钟关掉 ; 取消早上的闹铃
let the alarm ring again in ten minutes ; let me sleep a bit more | 过十分钟再叫我 ; 再睡一会儿，闹钟晚点响 ; 闹钟推迟五分钟
which alarms are set ; what time will the alarm go off | 我都定了哪些闹钟 ; 闹钟几点响
remind me to call mom ; don't let me forget the medicine ; ping me about it at noon | 提醒我给妈妈打电话 ; 别忘了提醒我吃药 ; 到中午跟我说一声
what did i want to be reminded of ; show my reminders | 我有哪些提醒 ; 我让你提醒我什么来着
don't remind me of that any more ; drop the reminder | 这事不用再提醒了 ; 把那个提醒删了
set a timer for ten minutes ; count down from five minutes | 倒计时十分钟 ; 定个五分钟的计时
what time is it in london ; which time zone are they in | 伦敦现在几点 ; 那边跟我们差几个小时
what day is it today ; tell me the date | 今天几号 ; 今天星期几
what have i got today ; is my afternoon free ; what's on my calendar | 我今天都有什么安排 ; 下午有空吗 ; 日程上有什么
put lunch with anna on my calendar ; add the dentist for tuesday | 周二看牙记到日历上 ; 把跟客户吃饭加到日程里
when is my next appointment ; what time is the meeting tomorrow | 下一个会是几点 ; 明天的会什么时候开
get everyone together on friday ; set up a call with the client ; find a slot for the team | 约大家周五碰一下 ; 跟客户约个会 ; 找个大家都有空的时间
push the meeting back an hour ; can we move it to thursday ; let's meet later | 会议往后推一小时 ; 改到周四开行不行 ; 会议改期
we don't need that meeting any more ; scrap the call this afternoon | 那个会不开了 ; 下午的会取消吧
we need a room for eight people ; is there a free conference room | 要个能坐八个人的会议室 ; 有没有空的会议室 ; 订间会议室
what did we decide in the meeting ; write up the minutes ; what came out of the call | 会上定了什么 ; 整理一下会议纪要 ; 开会的结论是啥
i won't be in tomorrow, i feel sick ; i need a day off ; put in for vacation | 明天不舒服来不了 ; 想请一天假 ; 申请休年假
how many vacation days do i have left ; how much leave have i used | 年假还剩几天 ; 我休了多少假了
was my leave approved ; did my boss sign my time off | 请假批了没 ; 领导同意我休假了吗
i forgot to clock in ; my attendance is wrong | 早上忘打卡了 ; 考勤不对要补卡
get back what i spent on the trip ; hand in my taxi receipts ; file my travel expenses | 出差花的钱想报一下 ; 打车票怎么报 ; 提交报销
where is my reimbursement ; my expenses still haven't been paid out | 报销怎么还没到账 ; 报销走到哪一步了
who has to sign this ; it's been stuck with my manager for days ; push the approval | 这单卡在谁那儿 ; 领导一直没批，催一下 ; 审批到哪了
looks good to me, let it through ; i agree, sign it | 没问题，给过吧 ; 我同意，批了 ; 这个可以通过
no way, send it back ; i won't sign this, tell them to redo it | 不行，打回去重做 ; 这个不能批 ; 给他驳回
we hired someone, get her an account ; new colleague starts monday, prepare things | 来了新人给开个账号 ; 周一有新同事入职，准备一下
tom is leaving, take away his access ; he quit, close his accounts | 小王离职了，权限收一下 ; 人走了把账号停掉
who is in the marketing team ; what is her phone extension ; how can i reach him | 市场部都有谁 ; 他分机号多少 ; 怎么联系到他
we need two more engineers ; post the job ad ; we are short of people | 还缺两个开发 ; 把招聘挂出去 ; 人手不够要招人
which applicants look good ; pick out the best cvs | 简历里挑几个合适的 ; 哪些候选人不错
how did the candidate do ; write down the interview feedback | 面试得怎么样 ; 记一下面试评价
my computer won't start ; the screen is black ; my laptop is terribly slow | 电脑开不了机 ; 屏幕黑了 ; 电脑卡死了 ; 机器特别慢
the wifi is down ; i can't get online ; the internet is so slow | 网断了 ; 上不了网 ; 网速太慢了 ; 无线连不上
the printer is jammed ; it won't print | 打印机卡纸了 ; 打印不出来
i need access to the shared drive ; can i be given the admin role | 给我开一下共享盘的权限 ; 我要管理员权限
install this program for me ; i need a licence for the design tool | 帮我装个软件 ; 要一个设计软件的授权
the site is down ; users get error pages ; nothing responds in production | 网站挂了 ; 线上报错了 ; 页面打不开 ; 服务没反应了
what went wrong last night ; why did the job crash ; find the error in the logs | 昨晚怎么出的故障 ; 任务为什么挂了 ; 看看日志里报什么错
restart the machine ; bounce the service | 把机器重启一下 ; 重启服务
we are running out of disk ; give the server more memory ; add capacity | 磁盘快满了 ; 加点内存 ; 机器不够用，扩容
put the new version live ; ship it to production | 新版本上线 ; 把这版发出去
the new version is broken, go back to the old one | 新版有问题，退回上一版 ; 赶紧回滚
bring back the file i deleted ; i removed it by mistake ; get my data back | 文件误删了能找回来吗 ; 不小心删了，帮我恢复 ; 数据丢了
make a copy in case something breaks ; save everything somewhere safe | 先备个份以防万一 ; 存一份保险
pull the numbers into a spreadsheet ; i want it as excel ; give me the data as a file | 把数据导成表格 ; 给我一份excel ; 数据下载下来给我
here is a list of clients, put them all in ; load this file into the system | 这批客户名单录进系统 ; 把这个表导进去
how did we do last month ; are sales up or down ; how is business going | 上个月卖得怎么样 ; 生意是涨还是跌 ; 业绩如何 ; 最近走势怎么样
why did revenue fall ; what is behind the drop | 为什么收入掉了 ; 下滑的原因是什么
how much will we sell next quarter ; what should we expect for the coming months | 下季度大概能卖多少 ; 预计接下来几个月怎么样
draw this as a chart ; show it in a graph | 画成图看看 ; 用图表展示一下
who are our best customers ; which products sell best ; top ten by revenue | 哪些客户买得最多 ; 什么东西卖得最好 ; 销量前十
compare this year with last year ; which of the two is better | 跟去年比怎么样 ; 这两个哪个好
how many of them are there ; what's the total ; count them for me | 一共有多少 ; 总数是多少 ; 帮我数数
this is too long, give me the gist ; what does it say in short ; boil it down | 太长了给我说重点 ; 大概讲了什么 ; 帮我提炼一下
what does this word mean ; define it for me | 这个词啥意思 ; 解释一下这个词
say that in chinese ; how would a german put it ; put this into english | 这句话用英文怎么说 ; 翻成中文 ; 德语怎么讲
how do you spell it ; is this spelled right | 怎么拼 ; 这个拼写对吗
write a polite mail to the client ; answer this letter ; draft a reply | 给客户写封客气的邮件 ; 帮我回一下这封信 ; 拟个回复
fix my grammar ; make this sound better ; polish the text | 帮我改改语病 ; 润色一下这段 ; 写得通顺点
write a post about the new product ; we need a catchy slogan | 给新品写个文案 ; 想个广告语 ; 写篇推广文章
who has seen our ad ; did the campaign work ; how many people clicked | 广告效果如何 ; 活动带来多少人 ; 点击有多少
plan a sale for the holidays ; give members ten percent off | 节日搞个促销 ; 给会员打九折
did i get any mail ; read me my new messages | 有没有新邮件 ; 看看谁给我发消息了
text her that i am late ; tell him i'm on my way | 给她发个短信说我晚点到 ; 跟他说我在路上了
call my wife ; ring the office | 给我老婆打电话 ; 拨一下公司电话
share my location ; tell them where i am | 把我的位置发给他 ; 告诉他们我在哪
where did i leave my phone ; make my phone ring | 我手机放哪了 ; 让手机响一下
how do i get to the airport ; show me the way home ; fastest route to the office | 去机场怎么走 ; 导航回家 ; 去公司哪条路快
how long does it take to get there ; how far is it | 到那儿要多久 ; 离这儿多远
is there a traffic jam ; how are the roads this morning | 路上堵不堵 ; 早高峰路况怎么样
get me a cab ; i need a ride to the station | 叫辆车 ; 打个车去火车站
book me a flight to shanghai ; i have to fly on monday | 订张去上海的机票 ; 周一要飞北京
is my plane on time ; has the flight been delayed | 飞机晚点了吗 ; 航班正常吗
my bags did not arrive ; the airline lost my suitcase ; how much luggage may i take | 行李没到 ; 航空公司把箱子弄丢了 ; 能带多少行李
i need somewhere to stay in paris ; find me a room for two nights | 在杭州找个住的地方 ; 订两晚酒店
do i need a visa ; which shots do i need before travelling | 去那边要签证吗 ; 出国前打什么疫苗
is it safe to travel there ; anything i should know before i go | 那边安全吗 ; 去之前要注意什么
plan my trip ; what is there to see | 帮我安排行程 ; 有什么好玩的地方
get a table for four tonight ; reserve dinner for two | 今晚订个四人位 ; 帮我订晚饭的位子
is that place any good ; what do people say about the restaurant | 那家店好吃吗 ; 这餐馆评价怎么样
what can i cook with eggs ; how do i make noodles ; give me a recipe | 鸡蛋能做什么菜 ; 面条怎么做 ; 教我做道菜
how long can this stay in the fridge ; has it gone bad | 这个冰箱里能放多久 ; 是不是坏了
can i use butter instead of oil ; what replaces milk | 没有黄油用什么代替 ; 可以用别的替换吗
how many calories are in an apple ; is this good for me ; how much sugar does it have | 一个苹果多少热量 ; 这个健康吗 ; 含糖高不高
how long do i boil it ; at what heat do i bake it | 要煮多长时间 ; 烤箱多少度
order a pizza ; i'm hungry, get me food | 点个外卖 ; 饿了，叫点吃的
we're out of milk, write it down ; put bread on the list | 牛奶没了记一下 ; 购物清单加上面包
what do i need to buy ; read me the shopping list | 我要买什么来着 ; 念一下购物清单
what do i still have to do ; read me my to-dos | 我还有什么事没做 ; 看看待办
write this down ; note that for later | 记一下 ; 先记下来以后用
that one's done, cross it off ; mark it as finished | 这个做完了划掉 ; 标记完成
play something by the beatles ; put some music on ; i want to hear jazz | 放首歌听听 ; 来点爵士 ; 播周杰伦的歌
skip this ; next song please | 换一首 ; 下一首
what's this song ; who sings it | 这是什么歌 ; 谁唱的
i love this one, keep it ; put this track in my running list | 这首好听，收藏 ; 加到跑步歌单里
make it louder ; i can't hear you ; turn it down | 大声点 ; 声音小一点 ; 听不见
what's on at the cinema ; when does the movie start ; where is that film shown | 最近有什么电影 ; 电影几点开场 ; 哪个影院在放
find the show with that doctor ; look for the novel by that writer | 找那部讲医生的剧 ; 搜一下那个作家的书
i give this book five stars ; four out of five for this novel | 这本书给五星 ; 打四分
what's in the news ; anything happen today | 今天有什么新闻 ; 最近发生了什么
turn on the lamp ; it's dark in here | 开灯 ; 屋里太黑了
it's too hot, cool the room ; make it warmer | 太热了开空调 ; 调高两度 ; 有点冷
is the door locked ; close the garage | 门锁了吗 ; 把车库关上
clean the floor ; send the robot to the kitchen | 扫一下地 ; 让扫地机去厨房
tell me a joke ; make me laugh | 讲个笑话 ; 逗我开心
flip a coin ; heads or tails | 抛个硬币 ; 正面还是反面
roll the dice ; pick a number for me | 掷个骰子 ; 随便选个数
hi there ; good morning ; hello | 你好 ; 早上好 ; 嗨
goodbye ; see you later ; talk to you soon | 再见 ; 回头聊 ; 拜拜
thanks a lot ; i appreciate it | 谢谢 ; 多谢了
yes please ; that's right ; correct | 对 ; 是的 ; 没错
no ; that's wrong ; nope | 不对 ; 不是 ; 不要
i don't know ; maybe ; i'm not sure | 不知道 ; 也许吧 ; 说不准
say that again ; i didn't catch that | 再说一遍 ; 没听清
who are you ; what's your name ; what should i call you | 你是谁 ; 你叫什么 ; 怎么称呼你
are you a human ; am i talking to a machine | 你是真人吗 ; 你是机器人吧
who built you ; where do you come from | 谁做的你 ; 你从哪来
what can you do ; how can you help | 你会干什么 ; 你能帮我什么
how old are you ; do you like anything for fun | 你多大了 ; 你有什么爱好
speak slower ; talk faster ; use another voice | 说慢点 ; 换个声音
switch to spanish ; change your language | 换成英文 ; 用别的语言说话
from now on call me alex ; change what you call me | 以后叫我小李 ; 改一下对我的称呼
reset everything ; go back to factory settings | 恢复出厂设置 ; 全部重置
stop, never mind ; forget it, cancel that | 算了不用了 ; 别弄了，取消
what is 15 percent of 80 ; how much is twelve times nine | 八十的百分之十五是多少 ; 十二乘九等于几
how many inches in a meter ; convert miles to kilometers | 一米等于几英寸 ; 换算成公里
why is the sky blue ; what's the meaning of it all | 天为什么是蓝的 ; 人生的意义是什么
my car makes a strange noise ; the engine light is on | 车有异响 ; 发动机灯亮了
when do i need new oil ; how do i change the oil | 该换机油了吗 ; 机油怎么换
put air in the tires ; is my tire pressure okay ; i have a flat | 轮胎要打气吗 ; 胎压正常吗 ; 车胎瘪了
how much gas is left ; what mileage do i get ; where can i fill up | 油还剩多少 ; 百公里几个油 ; 附近有加油站吗
my battery died, jump it | 电瓶没电了 ; 车打不着火
book the car in for service ; the car needs a checkup | 约个保养 ; 车该年检了
i have a headache, what should i do ; i need to see a doctor | 头疼怎么办 ; 想挂个号 ; 要看医生
are my test results in ; what did the lab say | 化验结果出来了吗 ; 体检报告怎么说
renew my prescription ; can i take these pills together | 药吃完了再开点 ; 这两种药能一起吃吗
what was our homework ; when is the exam ; what mark did i get | 作业是什么 ; 什么时候考试 ; 我考了多少分
sign me up for the course ; which classes are open | 我要报这门课 ; 还有哪些课能选
is the book in the library ; keep the book longer | 图书馆有这本书吗 ; 书想续借
the contract runs out soon, extend it ; renew with this supplier | 合同快到期了续一下 ; 跟这家供应商续约
check the contract for traps ; is this clause risky | 合同有没有坑 ; 看看这条款有没有风险
we want to end the agreement ; get out of the contract | 想解约 ; 合同不做了，终止
has it been stamped ; we need the company seal on it | 盖章了没 ; 要盖公章
the customer is furious ; someone complains about our service ; handle this complaint | 客户发火了 ; 有人投诉服务 ; 处理一下客诉
talk to a real person ; connect me to an agent | 转人工 ; 我要找真人客服
open a ticket for this ; report the problem to support | 提个工单 ; 报个问题给技术支持
what came of my ticket ; has anyone looked at my problem | 我提的问题有人处理吗 ; 工单怎么样了
are we out of stock ; how many are left in the warehouse ; do we have any more of these | 还有货吗 ; 仓库里剩几个 ; 库存够不够
order more before we run out ; restock these | 快没货了补一批 ; 该进货了
goods have arrived, book them in ; the truck is at the gate | 货到了入个库 ; 车到门口了要卸货
the count doesn't match the books ; check what is really on the shelf | 账实不符 ; 盘点一下
ask three vendors what it costs ; get us a better price | 找几家问问价 ; 再压压价
the supplier is late ; chase them for the parts | 供应商又拖了 ; 催一下他们交货
issue an invoice to the client ; they need a tax invoice | 给客户开个发票 ; 对方要专票
the invoice has the wrong name, redo it ; cancel the faulty invoice | 发票抬头错了重开 ; 把开错的发票作废
who hasn't paid us ; the client still owes us money | 谁还没付款 ; 客户欠的钱还没收回来
how much budget is left ; did we spend too much | 预算还剩多少 ; 是不是超支了
close the books for the month ; do the numbers add up | 月底结账 ; 账对不对得上
cancel only this one ; take this item out and leave the rest | 只取消这一个 ; 这件不要，其他留着
i don't want to cancel, only change the address ; same order, other address | 不取消，就改下地址 ; 订单不变，换个收货地址
send it to my new place instead ; i have moved | 寄到我新家 ; 我搬家了，改地址
use my points ; how many points do i have ; trade my miles for a ticket | 我有多少积分 ; 积分能换什么 ; 用里程换票
stop charging me every month ; end my membership ; i don't want the plan any more | 别再扣我会员费了 ; 会员不续了 ; 套餐退了
i want a better plan ; upgrade my package | 换个大点的套餐 ; 升级会员
the lights in the office are broken ; the toilet leaks ; something needs fixing | 办公室灯坏了 ; 厕所漏水 ; 要报修
we are out of paper and pens ; order office supplies | 没纸没笔了 ; 领点办公用品
a guest comes tomorrow, let the front desk know ; my car needs a spot | 明天有客人来，跟前台说一声 ; 要个停车位
this looks like fraud ; flag it as suspicious | 这笔有点可疑 ; 像是诈骗
keep an eye on this and tell me if it changes ; warn me when it drops | 盯着点，有变化告诉我 ; 跌了提醒我
the machine on line two has stopped ; the line is down | 二号线的机器停了 ; 产线停了
half of the parts are faulty ; too many rejects today | 好多次品 ; 不良率太高了
is the house on maple street still for rent ; find me a flat near work | 那套房还租吗 ; 在公司附近找个房子
pay the landlord ; when is rent due | 交房租 ; 房租哪天交
my new card still hasn't come in the post ; when will i receive the bank card ; how long until the card gets here | 新卡怎么还没寄到 ; 银行卡几天能收到
how do i start using the new card ; activate the card i just got ; link the card to the app | 新卡怎么激活 ; 把卡绑到app上
my card doesn't work anywhere ; the chip is broken ; the terminal can't read my card | 卡刷不了 ; 芯片坏了 ; 机器读不出卡
the cash machine kept my card ; the machine swallowed it | 卡被取款机吞了 ; 取款机不吐卡
the machine gave me less cash than i asked for ; wrong amount of money came out | 取钱少给了 ; 吐出来的现金不对
my cash withdrawal is still pending ; the withdrawal was declined | 取现还在处理中 ; 取不出钱
there's an extra fee on my payment ; why was i charged a fee ; what is this additional cost | 怎么多扣了手续费 ; 这笔费用是什么
i was charged twice for one thing ; the same payment shows up two times | 同一笔扣了两次 ; 重复扣款了
the transfer hasn't arrived ; the person i paid got nothing ; how long do transfers take | 转账没到账 ; 对方没收到钱 ; 转账要多久
i sent money to the wrong person ; take back a transfer i just made | 转错人了 ; 刚才那笔转账能撤回吗
my transfer failed ; the transfer was rejected | 转账失败了 ; 转账被退回来
top up my account ; add money by card ; put funds on it | 充值 ; 往账户里充点钱 ; 用卡充值
my top-up failed ; the money i added isn't showing ; topping up was cancelled | 充值没成功 ; 充的钱没显示
top up automatically when it gets low ; turn on automatic top-up | 余额不足自动充值 ; 开自动充值
verify my identity ; why do you need my papers ; which documents prove who i am | 实名认证 ; 为什么要我的身份证 ; 要什么证件
i can't pass the identity check ; the photo of my passport was refused | 认证通不过 ; 身份验证失败
close my account for good ; delete my profile and everything in it | 把账户注销 ; 我要销户
change my address ; update my name after the wedding ; edit my personal details | 改一下个人信息 ; 换了手机号要更新
which countries do you serve ; can i use it abroad ; does it work overseas | 国外能用吗 ; 支持哪些国家
give me a second card ; order an extra card for my child ; i want a virtual card | 再办一张卡 ; 给家人办附属卡 ; 要个虚拟卡
which currencies can i hold ; exchange money inside the app ; the rate i got was bad | 能换哪些币种 ; 换汇 ; 汇率给得不对
how many payments can i make in a day ; is there a limit on transfers | 一天能转多少 ; 有没有限额
print me a bank statement ; i need proof of my income | 打一份流水 ; 要收入证明
my phone plan is too small ; how much data is left ; i have used up my gigabytes | 流量还剩多少 ; 流量不够用了
take my old number with me ; keep my number when i switch | 换运营商号码不变 ; 携号转网
i lost my sim ; send me another sim card | 电话卡丢了 ; 补一张卡
turn on roaming ; what does calling cost abroad | 开通国际漫游 ; 国外打电话多少钱
there's no signal in my house ; calls keep dropping | 家里没信号 ; 打电话老断
a technician should come and set up the router ; when does the installer arrive | 约人来装宽带 ; 师傅什么时候上门
i want to add my wife to the policy ; insure my new car too | 把家人加进保单 ; 新车也要上保险
what will i get if something happens ; how much would you pay out | 出事能赔多少 ; 保额多少
the claim was turned down ; why won't you pay | 理赔被拒了 ; 为什么不赔
my premium went up ; why is it more expensive this year | 保费怎么涨了
add a contact person to the customer ; the client has a new buyer | 客户换了联系人 ; 给客户加个联系人
who takes care of this client ; hand my customers over to ben | 这个客户谁在跟 ; 把我的客户转给小陈
which deals will close this month ; how does the pipeline look | 这个月能签几单 ; 商机进展如何
note what i agreed with the client ; log my visit at the customer | 记一下今天的拜访 ; 写跟进记录
which clients have gone quiet ; who hasn't ordered for long | 哪些客户好久没下单了 ; 流失客户有哪些
make the client an offer ; quote them for two hundred pieces | 给客户报个价 ; 出个报价单
give this client ten percent ; is a discount allowed | 给客户打个折 ; 折扣要申请
a customer wants to pay later ; extend their payment term | 客户想晚点付 ; 放宽账期
split the order into two shipments ; send part of it now | 订单分两批发 ; 先发一部分
put the order on hold ; don't ship it yet | 订单先别发 ; 先压一压再发货
go on with the order i paused ; ship it after all | 可以发了 ; 恢复那张单子
the buyer added three more ; change the quantity of the order | 数量改成五个 ; 客户要加三件
make an order for the client ; enter a new sale | 帮客户下个单 ; 录张新订单
what did the customer buy before ; past orders of this buyer | 客户以前买过什么 ; 看历史订单
which orders are late ; what hasn't been shipped yet | 哪些单子超期了 ; 还有哪些没发货
print the shipping labels ; make a delivery note | 打面单 ; 出一张送货单
choose another carrier ; ship it by express | 换个物流公司 ; 改发顺丰
the driver can't find us ; who is bringing the goods ; the truck driver's number | 司机找不到地方 ; 谁送货 ; 司机电话多少
the goods were damaged on the way ; the box came crushed | 货运坏了 ; 箱子压烂了
the receiver refused the goods ; they sent it back | 客户拒收 ; 货退回来了
move twenty boxes to the other warehouse ; shift stock between stores | 调二十箱去另一个仓 ; 门店之间调货
these are past their date ; throw the expired stock out | 过期的处理掉 ; 报废这批货
keep five for the big client ; set these aside | 给大客户留五个 ; 锁一下库存
which shelf is it on ; where do we keep this | 放在哪个货架 ; 在哪个库位
ask for new laptops ; we need to buy chairs ; raise a purchase request | 要买几台电脑 ; 提个采购申请
find another vendor ; add a new supplier to the list | 找个新供应商 ; 新增一家供货商
this vendor is bad, don't buy there any more ; take them off the list | 这家不合作了 ; 拉黑这个供应商
rate the suppliers ; who delivers best | 给供应商打个分 ; 哪家交货靠谱
pay the supplier ; when do we pay them ; the vendor asks for his money | 给供应商付款 ; 货款什么时候付
set money aside for the project ; ask for more budget ; raise the budget | 申请预算 ; 追加预算 ; 预算调高
shift budget from travel to training | 预算从差旅挪到培训
where did the money go ; what did we spend most on ; break down the costs | 钱都花哪了 ; 费用明细 ; 成本构成
borrow money for the trip ; i need an advance | 出差借点钱 ; 申请借款 ; 预支
pay back what i borrowed ; settle the advance | 还借款 ; 冲销借款
the receipt is gone ; i lost the invoice, can i still claim | 发票丢了还能报吗
what may i spend on a hotel ; what are the travel rules | 住宿标准多少 ; 差旅规定是什么
book the asset ; when did we buy this machine ; how much is the equipment worth now | 登记固定资产 ; 设备折旧多少
scrap the old computers ; write the asset off | 旧电脑报废
borrow a projector ; give back the camera i borrowed | 借个投影仪 ; 归还设备
write a contract for the deal ; draft an agreement | 起草合同 ; 拟一份协议
what does the contract say about delivery ; find the clause on penalties | 合同里交付怎么约定的 ; 违约条款在哪
which contracts end soon ; what expires this quarter | 哪些合同快到期
they broke the agreement ; can we sue | 对方违约了 ; 能不能告他们
get it signed by the other party ; send it out for signature | 发给对方签字 ; 走电子签
is the name still free ; protect our brand ; register the trademark | 商标能注册吗 ; 申请商标
may we use this picture ; is that a breach of copyright | 这图能用吗会不会侵权
who may see this data ; delete what you know about me ; privacy request | 删除我的个人数据 ; 谁能看这些数据
how many people work here ; headcount by team | 现在多少人 ; 各部门人数
move her to another team ; he got promoted ; change his job title | 给她转岗 ; 他升职了改下职级
end his trial period ; she passed probation | 试用期转正
when does her contract end ; renew the employment contract | 劳动合同到期续签
i need a letter saying i work here ; certificate of employment | 开个在职证明
give her a raise ; adjust his pay | 给她涨工资 ; 调薪
who is working this weekend ; make the shift plan ; swap my shift | 周末谁值班 ; 排个班 ; 换班
i worked late yesterday ; register my overtime | 昨天加班了登记下 ; 申请加班
i'll work from home tomorrow ; i'm out at a customer today | 明天在家办公 ; 今天外出
take back my leave request, i am coming after all | 假不请了 ; 把请假撤了
set my goals for the quarter ; fill in my self review | 写一下季度目标 ; 填自评
how did my people perform ; appraise the team | 给下属打绩效
i want to learn python ; which trainings are on ; sign me up for the workshop | 想学点东西 ; 有什么培训 ; 报名培训
recommend a friend for the job ; refer someone | 内推一个朋友
tell the applicant no ; turn the candidate down politely | 给候选人发拒信
send the offer ; make her an offer | 发offer ; 给她发录用通知
move the interview to monday ; invite the candidate | 约候选人面试 ; 面试改周一
ask people what they think ; send out a questionnaire ; collect opinions | 发个问卷 ; 收集一下意见
what did people answer ; results of the survey | 问卷结果怎么样 ; 大家怎么说
tell everybody the office is closed ; post an announcement | 发个通知给全员 ; 发公告
write the newsletter ; post it on our channel | 写公众号 ; 发推文
plan the content for next month ; when do we post | 排下个月的内容 ; 内容日历
invite clients to the event ; who has signed up for the event | 邀请客户参加活动 ; 报名的有谁
check in the guests ; how many came to the event | 活动签到 ; 来了多少人
make a poster ; design a banner ; i need a picture for the page | 做张海报 ; 设计个横幅 ; 配张图
cut the video ; put subtitles on it | 剪视频 ; 加字幕
remove the background ; make the picture smaller | 抠图 ; 压缩图片
which words do people search for ; get us higher up in google | 关键词排名 ; 做优化让排名靠前
stop the ad ; the campaign costs too much, pause it | 广告先停 ; 暂停投放
spend more on the ad ; raise the bid | 加大投放 ; 出价调高
what are the others doing ; look at our competitors | 看看竞品 ; 对手在干嘛
what do people write about us online ; bad press | 网上怎么评价我们 ; 负面舆情
answer the review ; reply to this comment | 回复评论 ; 给差评回个话
hide this comment ; remove the nasty post | 删掉那条评论 ; 把评论屏蔽
start the survey line again ; go on with what we stopped | 接着弄 ; 继续之前停下的
draw up the plan for the project ; break the work into steps | 做个项目计划 ; 把工作拆一下
who is doing what ; who is busy ; who has time for another task | 谁在做什么 ; 谁有空
give this to lisa ; somebody else should do it ; reassign my tasks | 这个派给小丽 ; 换个人做
are we on schedule ; is the project late ; how far along are we | 项目到哪了 ; 会不会延期 ; 进度怎样
move the deadline ; give us one more week | 截止日期往后挪 ; 延一周
there is a problem that blocks us ; raise a risk | 有个风险要提 ; 卡住了
report a bug ; the button does nothing ; found an error in the app | 提个bug ; 按钮点了没反应
is the bug fixed ; close the bug | 那个bug修了吗 ; 关掉缺陷
review my code ; look at my pull request | 帮我看看代码 ; 审一下合并请求
bring my branch into main ; merge the change | 把分支合进去 ; 合并代码
run the tests ; did the build pass | 跑一下测试 ; 构建过了吗
write a script for this ; generate the code | 写个脚本 ; 生成代码
why is the page slow ; how fast does it answer | 页面为什么慢 ; 响应时间多少
what does cpu look like ; is the server overloaded | cpu多少了 ; 服务器负载高吗
mute the alarm for an hour ; stop paging me | 告警先静默 ; 别再报警了
who is on call tonight ; wake the engineer | 今晚谁值守 ; 叫值班的人
open the port ; let this address through | 开个端口 ; 放行这个ip
the certificate runs out ; renew the ssl certificate | 证书快过期了 ; 换证书
point the domain to the new server | 域名指到新机器
create a database ; i need a new table | 建个库 ; 建张表
run this query ; ask the database ; how many rows are in it | 跑个sql ; 查下库里有多少条
the data is wrong ; there are duplicates ; clean the data | 数据有问题 ; 去重 ; 清洗数据
where does this number come from ; how is the metric defined | 这个指标怎么算的 ; 口径是什么
send me the report every monday ; mail the figures automatically | 每周一给我发报表 ; 定时推送数据
build a dashboard ; add a chart to the board | 搭个看板 ; 看板加张图
who opened my file ; who did that ; look into the audit trail | 谁动过我的文件 ; 查操作记录
someone strange logged in ; my account was hacked | 账号被盗 ; 异地登录
this mail looks like phishing ; i clicked a bad link | 收到钓鱼邮件 ; 点了可疑链接
sign me out everywhere ; end all my sessions | 把我所有设备退出登录
switch on the second factor ; i lost the phone with my codes | 开两步验证 ; 验证码手机丢了
send the file to the team ; give them the link | 把文件发给大家 ; 给个链接
nobody should see this ; make the file private | 文件别让别人看 ; 取消共享
where is the document from last year ; i can't find the file | 去年那份文档在哪 ; 文件找不到了
put these papers together ; join the pdfs | 几份文件合成一个 ; 合并pdf
make a pdf of it ; turn the word file into pdf | 转成pdf ; 换个格式
read the text in this picture ; scan the document | 识别图里的字 ; 扫描文档
who changed it ; show me the earlier version | 看看以前的版本 ; 谁改的
it's too cold in the office ; adjust the air | 办公室太冷了 ; 空调调一下
order lunch for the meeting ; we need coffee for ten | 会议订个餐 ; 要十杯咖啡
send a courier to pick this up ; i have something to mail | 叫个快递来取件 ; 寄个东西
has anything come for me ; is there a package at the desk | 有我的快递吗 ; 前台有包裹吗
i lost my badge ; give me a new access card | 工牌丢了 ; 补门禁卡
i want to sit by the window ; book a desk | 订个工位 ; 换座位
get me a company car ; i need the van tomorrow | 明天要用车 ; 申请公车
change my flight ; take the later plane ; move my trip | 机票改签 ; 改晚一班
i can't go, cancel the ticket ; give up my hotel booking | 不去了，票退了 ; 酒店退订
the trip got approved, book everything | 出差批了，帮我订票
check in for my flight ; choose a seat | 值机 ; 选座位
i'd like to complain about the hotel | 投诉酒店
call the customer back ; he wants to hear from us | 给客户回个电话 ; 客户要求回访
the customer wants compensation ; offer him a voucher | 客户要赔偿 ; 补张券给他
is it still under warranty ; how long is the guarantee | 还在保修期吗 ; 质保多久
someone should come and repair it ; the washing machine broke | 叫人上门修 ; 洗衣机坏了
how do i use this ; where is the manual | 怎么用 ; 说明书在哪
spare parts please ; i need a new battery for it | 要个配件 ; 换块电池
turn this case over to the second level ; escalate it | 升级处理 ; 转二线
it's solved, close the case | 解决了，关单吧
it's not solved, open it again | 没解决，重新打开
the patient needs a bed ; admit her | 安排住院 ; 要张床位
let the patient go home ; discharge him | 办出院
is the doctor in on friday ; move my appointment | 医生周五在吗 ; 改个就诊时间
water the plants ; is the soil dry | 浇水 ; 土干不干
how many kilometres did the truck do ; fuel cards | 车跑了多少公里 ; 油卡
"""

# Words of offices and of their software which dictionaries do not have, or take for rare.
OFFICE_WORDS = """
kpi okr crm erp sku po rfq rfp nda sla sop hr it pto wfh eta etd bom qa api sdk sql csv xlsx ppt pdf url dns ssl vpn ssh cpu gpu ram
ssd lan wan nat cdn http https json xml yaml oauth sso mfa otp pin atm iban swift vat gst roi cpc cpm ctr seo sem gmv arpu dau mau uv
pv abn npm pip git repo devops cicd docker kubernetes redis kafka mysql postgres mongo nginx linux windows macos ios android iphone
ipad laptop chatbot webhook webinar podcast playlist uber lyft airbnb paypal alipay wechat dingtalk feishu slack zoom teams outlook
gmail excel word powerpoint google netflix spotify youtube onboarding offboarding signup signin login logout checkin checkout
timesheet payslip payroll reimbursement receivable payable invoice refund voucher coupon cashback chargeback prepaid postpaid
backlog sprint standup kanban roadmap milestone deadline rollout rollback hotfix bugfix changelog uptime downtime outage failover
throughput latency timeout workflow dashboard spreadsheet whitelist blacklist unsubscribe resend reschedule rebook reorder restock
dispatch freight courier waybill pallet warehouse backorder dropship snooze reminder todo smartphone wifi bluetooth hotspot emoji
selfie hashtag livestream influencer newsletter upsell churn roaming broadband prepay autopay topup fintech crypto bitcoin blockchain
订货单 发货单 送货单 出库单 入库单 报销单 采购单 报价单 对账单 工单 派工单 审批单 请假单 付款单 收款单 销售单 提单 面单 运单 台账 流水 对账
打卡 补卡 调休 排班 值班 加班 年假 病假 产假 入职 离职 转正 转岗 内推 简历 面试 绩效 薪资 社保 公积金 个税 报销 差旅 借款 还款 冲销 预支
发票 专票 普票 抬头 税号 红冲 作废 驳回 审批 催办 抄送 转办 签收 拒收 退货 换货 退款 补发 改派 催单 盘点 调拨 移库 上架 下架 补货 缺货 库位
合同 续签 解约 盖章 用印 归档 条款 违约 侵权 商标 客户 线索 商机 跟进 回访 客诉 工位 门禁 工牌 访客 会议室 纪要 周报 日报 月报 年报 看板 报表
环比 同比 口径 指标 埋点 漏斗 留存 拉新 促活 转化率 投放 素材 文案 海报 推文 公众号 小程序 直播 短视频 竞品 舆情 上线 发版 回滚 灰度 压测 扩容
缩容 重启 宕机 告警 静默 巡检 日志 域名 证书 防火墙 堡垒机 白名单 黑名单 权限 账号 密码 验证码 实名 充值 提现 转账 挂失 冻结 解冻 销户 征信
网约车 打车 机票 改签 退票 值机 行李 酒店 签证 外卖 快递 充电宝 扫地机 空调 闹钟 歌单 会员 积分 优惠券 红包 保单 理赔 保费 流量 宽带 携号转网
"""


def read():
    """[([English], [Chinese])], one pair of lists a wish."""
    found = []
    for line in SAYINGS.strip().splitlines():
        english, chinese = line.split("|")
        found.append(([s.strip() for s in english.split(";")], [s.strip() for s in chinese.split(";")]))
    return found


def rounds(count: int, seed: int = 5):
    """`count` lists of one pair a wish, (text, other text), languages mixed. No list has a wish twice: within a list all other
    texts mean something else."""
    chance = random.Random(seed)
    return [[tuple(chance.sample(english + chinese, 2)) for english, chinese in read()] for _ in range(count)]
