/**
 * Words that are no operation but say how one is meant: wanted, ruled out, asked about, done already. Separated as in
 * operation-words.ts: Chinese by spaces, English by commas.
 *
 * `neutral` words only look as if they held an operation or a negation ("订单" holds 订, "特别" holds 别); they win
 * because the longest match wins.
 */
export const MARK_WORDS = {
  /** Rules out the operation that follows in the clause. */
  not: {
    zh: `
      不要 别 不想 不想要 不用 不必 无需 无须 不需要 不需 甭 切勿 请勿 勿 先不 不打算 不准备 不考虑 不希望
      不愿意 不愿 不是要 不是想 不是想要 不是让你 不是叫你 不是说要 不是来 不是 并不是 并非 没说要 没说 没说过要
      没让 没让你 没叫 没要 没有要 没想 没想要 没打算 没要求 没有要求 不能给 没必要 用不着 犯不着 避免 防止 以免
      免得 千万别 千万不要 先别 可别 请别 请不要 不许 不准 不得 不可 不该 不应该 不会再 不再 没同意 从没 从来没`,
    en: `
      forget about, forget the, never mind, nevermind, skip, don't just, don't bother, do not bother, don't,
      dont, do not, never, not, not that, no need to, no need for, no, without, avoid, rather not, not asking,
      not asking for, not asking you to, not asking to, didn't ask, didn't ask for, didn't ask to,
      didn't ask you to, never asked, not trying to, not looking to, not going to, don't want, do not want,
      dont want, don't wanna, don't need, do not need, dont need, doesn't need, shouldn't, should not, mustn't,
      must not, won't be, didn't, did not, i'm not, not want, not here to, refrain from, other than, nor,
      stop short of, didn't say, never said, not planning to, hold off on, anything but, wouldn't want,
      doesn't want, no longer want to`,
  },
  /** Rules out only what stands right behind it. */
  bareNot: { zh: "不 没 没有 未曾 也不 也别 非", en: "isn't, wasn't, aren't, weren't" },
  /** Rules out what follows; what was said before or comes after is meant. */
  instead: {
    zh: "而不是 而非 与其 代替 替代 取代 不是说",
    en: "instead of, rather than, in place of, as opposed to, in lieu of",
  },
  /** What follows is meant after all. */
  but: {
    zh: "但 但是 只是 而是 不过 可是 不如 改为 宁可 宁愿 其实 就把 只把",
    en: "but, just, only, actually, rather, simply, merely, except",
  },
  /** Starts over with what is meant, if something was ruled out before it. */
  mean: {
    zh: `
      我想 我要 我是想 我是要 我只想 我只要 只想 只要 只需 只需要 是想 是要 是让你 是叫你 我需要 还是想 还是要
      应该是 我的意思`,
    en: `
      what i want, what i need, i want, i need, i'd like, i would like, i'd rather, i'd prefer, i meant, i mean,
      all i want, all i need, i just, i only, let's, lets`,
  },
  /** "Rather this than that." */
  than: { zh: "", en: "than" },
  /** Looks like a negation, or like an operation, and is neither. */
  neutral: {
    zh: `
      显示器 显示屏 下个月 时间 时长 时候 时段 时区 后面 后天 后台 前面 前天 前台 中间 中午 中文 中国 中心 人员
      人数 人民币 费率 表格 表单 表现 表示 书籍 单价 单位 率先 员工 审下来 发错 寄错 转错 付错 订错 买错 下错
      翻译稿 转学 不亮 不动 不响 不转 不灵 不热 不冷 不制冷 不工作 不显示 不通 不准 不出 不走 完成率 了解 不要求
      订单 单子 下的单 订购单 批次 批量 一批 这批 那批 批发 大批 审批单 申请单 申请表 申请书 报销单 采购单
      退款单 付款单 发票 开发 开会时间 开始时间 开票信息 开关 开心 公开课 离开 开支 开销 展开 召开 开头 开门
      开发者 关于 关系 关键 海关 相关 有关 机关 关联 关心 无关 关怀 报关 清关 通关 关税 停车 停车场 停车位
      停车费 停电 停水 停机坪 退休 退出 退役 退伍 换热 转正 周转 转机 转速 转向 旋转 好转 转基因 玩转 翻转
      打印机 复印机 扫描仪 翻译员 通知单 通知书 计划 会计 设计 统计局 预算 打算 就算 算法 总算 算是 推算 计算机
      云计算 领导 导航 导师 导购 导游 指导书 导致 系列 列车 排列 队列 序列 阵列 标签 签证 签到 签名档 续航 连续
      手续 继续 后续 陆续 持续 续写 大约 合约 条约 节约 约束 约会 履约 违约 违约金 制约 约定 公约 修订版 装订
      付费 付出 应付 应付款 对付 首付 预付 预付款 到付 支付宝 付款码 寄存 寄托 发现 发生 出发 研发 爆发 沙发
      发展 发言 发烧 头发 开发票 发送人 收发 批发价 发票抬头 发病 发动机 触发器 检查员 查收 抽查 审查员 调查
      调查表 警察 观察 看病 看来 看法 看板 看起来 好看 难看 看好 看护 看望 查看器 搜救 找零 找我 传感器 宣传
      传统 传真机 传输 遗传 印章 印象 印刷 脚印 水印 印度 印尼 锁屏 门锁 锁骨 连锁 连锁店 车锁 指纹锁 封面 改革
      改善 改造 改进 拆迁 拆箱 撤离 删节 译文 译者 合同 合作 合格 充电 充电器 充分 补充说明 充电桩 冲突 冲洗
      结束时间 招聘 招标 推广 推销 建筑 建设 建材 建行 登录 登陆 注册表 注册资本 注册地 拉链 拉萨 马拉松 拉面
      拉肚子 跑步 跑道 跑车 跑腿 奔跑 起跑 搜狐 租金 租房 出租车 租户 租赁 出租 预订单 交通 交易 交货 交付 社交
      外交 交流 交警 成交 提交人 付款方 收款 收款方 请教 请客 催化 催化剂 通知栏 公告 广告 报告厅 转发率 拒收
      拒付 通过率 分享会 转化率 转换器 转接头 兑换码 兑换券 推荐人 推荐信 建议书 设置项 运行时间 执行力 执行官
      执行董事 开始日期 更新包 安排表 停留 停滞 暂停键 中止符 将来 将军 将近 即将 好像 还款日 还款计划 买家 买卖
      购买力 请假条 请假单 先生 先进 优先 优先级 预先 再见 再次 再说 再生 可再生 现在 在线 存在 实在 内在 一张
      申请人 申请者 报名表 导出文件 付款人 审批人 审批流 操作员 关注度 打开率 发货地 发货人 发货地址 运单 采购员
      采购部 采购商 采购价 客服 定位器 菜单 账单 保单 工单 不要忘 不要忘了 不要忘记 别忘 别忘了 别忘记 别忘记了
      不忘 不得不 不能不 不仅 不但 不光 不止 不只 不单 不妨 要不 要不要 要么 能不能 可不可以 是不是 会不会
      用不用 需不需要 该不该 愿不愿意 不知道 不知 不清楚 不太清楚 不确定 不太会 不小心 不好意思 不错 不一样 不同
      不管 不论 不然 不足 不够 不对 不良 不明 不含 不少 不久 不停 不断 不满 不满意 不行 不合格 不起 不到 不见
      不便 没事 没空 没钱 没人 没问题 没错 没关系 没多久 不好 不大 不太 不在 不住 不是很 没时间 不懂 不会 不吗
      不呢 特别 区别 级别 性别 分别 类别 别名 别的 别人 别处 个别 告别 别墅 辨别 记得 务必 何不 非常 非要 不得已
      是非 除非 并非没有 不限 不良率 不同步 不一致`,
    en: `
      purchase order, purchase orders, sales order, sales orders, work order, work orders, order number,
      order id, in order to, order of, opening hours, open source, open position, open positions, open issues,
      open tickets, check in, check-in, credit check, background check, price list, to do list, todo list,
      mailing list, waiting list, wish list, return flight, bank statement, plan of, address book, text book,
      sign in, signed in, log in, login, log out, sign language, read only, real estate, share price,
      market share, stock exchange, exchange rate, exchange rates, phone call, conference call,
      as soon as possible, at the end of, end of, weekend, set of, a set of, data set, test set, kind of,
      as well as, drop down, show up, clear sky, post office, run out, running low, run out of, start date,
      end date, print job, search engine, due date, account manager, account number, lock screen, copy editor,
      make sense, makes sense, plan b, open door, end user, file name, files, break room, mail room, text file,
      watch out, reading, meeting, meetings, building, buildings, shipping, training, setting, settings,
      accounting, billing, pricing, marketing, ratings, rating, hiring, spending, following, including,
      according, regarding, during, listing price, opening, closing, missing, warning, warnings, morning,
      evening, something, anything, nothing, everything, housing, clothing, parking, filing cabinet, drawing,
      drawings, recording, recordings, findings, upcoming, outstanding, incoming, outgoing, pending, engineering,
      manufacturing, packaging, advertising, don't forget, do not forget, dont forget, don't forget to,
      do not forget to, never forget to, not only, not just, not sure, not yet sure, don't know, do not know,
      dont know, don't mind, why not, why don't you, why don't we, why don't i, can't wait to, don't hesitate to,
      if not, whether or not, not very, not much, don't see, don't have, do not have, don't understand,
      didn't get, didn't receive, didn't work, not received, did not receive, do you mind, no problem, no idea,
      no matter, no one, nobody, make sure to, be sure to, remember to, no later than, not later than, not until,
      didn't mean to, didn't know, don't think, isn't there, no doubt, don't believe, no clue, forgot to,
      don't remember, no charge, no way to, no option to, no button to`,
  },
  /** It did not happen: how far is it? */
  still: {
    zh: `
      还没 还没有 还未 怎么没 咋没 一直没 一直没有 迟迟没 迟迟不 迟迟未 都没 都没有 也没有 怎么还不 怎么还没
      咋还没 怎么还 还不 为什么没 为啥没 到现在没 尚未 老不 为什么还没 为啥还没`,
    en: `
      not yet, hasn't, hasnt, haven't, havent, has not, have not, still not, still hasn't, still haven't,
      still isn't, isn't yet, wasn't yet, hasn't been, haven't been, has not been, have not been, not been,
      is not yet`,
  },
  why: {
    zh: "为什么 为何 为啥 怎么不能 怎么不 怎么会 怎么就 怎么又 怎么被 咋就 怎么总 怎么老 凭什么 什么原因 怎么突然",
    en: "why, how come, what caused, what made, reason for, reasons for",
  },
  how: {
    zh: "怎么 如何 怎样 咋 咋么 在哪里 在哪 去哪 去哪里 怎么才能 要怎么 该怎么",
    en: `
      how, how to, how do i, how do you, how can i, how does, how would i, how should i, the way to, ways to,
      steps to, where do i, where can i`,
  },
  unable: {
    zh: `
      不能 无法 没法 没办法 不让 不了 不成功 失败 报错 出错 不上 不进去 不出来 动不了 没成功 不能够 总是失败
      不好使 错误`,
    en: `
      can't, cant, cannot, can not, unable to, fails to, failed to, fail to, won't let me, doesn't let me,
      wouldn't let me, couldn't, could not, failing to, failed, won't, fails, trouble, problem, problems,
      having trouble, error, errors, not able to, having issues, keeps`,
  },
  /** It happened already, or is a state. */
  done: {
    zh: `
      已经 已 被 刚 刚刚 刚才 昨天 昨晚 上周 上次 之前 以前 误 待 未 未经 曾 曾经 不小心把 不小心 手滑 手抖
      错误地 过去 早就 原来 遭 上个月 去年`,
    en: `
      been, was, were, already, got, had, recently, just now, accidentally, by mistake, mistakenly, previously,
      has, have been, has been, being, is, are, yesterday, is being, that were, that was, who, pending`,
  },
  /** At the end of a clause: was it done? */
  askDone: {
    zh: `
      了吗 了没 了没有 了么 了嘛 没 没有 过吗 过没有 过没 好了吗 好没 好了没 成功了吗 掉了吗 完了吗 完没 成功没
      了不`,
    en: "yet",
  },
  ask: {
    zh: "吗 么 嘛 呢 是否 是不是 有没有 有无 有木有 是否已 是否已经 有没有被",
    en: `
      do i need, do we need, does it need, should i, should we, whether, if it was, if it has, if it is, if they`,
  },
  /** Asks for a fact. */
  fact: {
    zh: `
      怎么样 多少 几个 几天 几号 几点 什么时候 多久 多长时间 何时 哪天 哪个 哪些 谁 几次 多大 多少钱 哪里 哪儿
      几时 还剩 剩多少 还有多少 什么 啥时候 啥 几条 有几 哪家 几月`,
    en: `
      how many, how much, how long, how often, what, what's, whats, when, who, which, is there, are there,
      when's, who's, when is, when was, when will, how soon, do we have, do i have, what time, do you have`,
  },
  if: {
    zh: "如果 要是 假如 若 万一 倘若 若是 除非 假使 只要是",
    en: "if, unless, in case, once, provided, assuming, should it",
  },
  first: { zh: "先 首先 第一", en: "first, firstly, before anything" },
  /** Ends a condition. */
  so: { zh: "就 那就 的话 的话就", en: "then" },
  afterwards: {
    zh: "再 然后 之后 接着 随后 最后 然后再 完了 其次 之后再 后再",
    en: "then, afterwards, next, after that, and then, finally, later",
  },
  /** Brings the object before the verb. */
  ba: { zh: "把 将 给我把 帮忙把", en: "" },
  /** A verb comes next. */
  cue: {
    zh: `
      我 你 您 他 她 咱 我们 你们 咱们 帮 帮忙 帮我们 帮他 请 麻烦 麻烦你 帮我 直接 请帮我 请你 请您 要 想 想要
      需要 给我 给 去 来 就 赶紧 马上 立刻 立即 快 得 可 替 为 一下 都 也 全部 全 统统 好 必须 应该 该 准备 打算
      希望 能帮 可以帮 自动 批量 一键 在线 快速 支持 用于 用来 负责 提供 根据 按照 按 对 尝试 重新 帮着 继续
      一起 统一 现在 今天 明天 申请人 让 叫 使 允许 可以 能 能够 可不可以 能不能 会 是否可以 是否能 吧 别的 到
      后 方便 可否 跟 和他`,
    en: `
      is it possible to, is there a way to, is there any way to, any way to, any chance, a way to, can you,
      could you, would you, to, please, pls, plz, i, you, we, they, he, she, can, could, would, will, should,
      must, may, want, help, me, us, 'll, let's, go, and, then, also, now, kindly, gonna, wanna, gotta, lemme,
      want to, need to, have to, like to, able to, trying to, going to, used to, it, quickly, automatically,
      safely, immediately, asap, try, start, ability, allows, hey, hi, hello, ok, okay, so, let, tool, that,
      service, which, or, could someone, someone, somebody`,
  },
  /** The verb behind it is the one that is meant. */
  modal: {
    zh: `
      行吗 好吗 可以吗 成吗 行不行 好不好 能不能 能 可以 可不可以 可否 能否 是否可以 还能 是否能 会不会 能帮
      可以帮`,
    en: "if i can, if we can, if you can, whether i can, whether we can, can, could",
  },
  /** A verb for doing whatever is named next. */
  light: {
    zh: `
      提前 提早 我要求 申请 请求 要求 确认 安排 办理 办 办一下 办个 进行 处理 处理一下 操作 执行 走一下 做一下
      做个 做一个 做一次 做 来个 来一个 弄一下 需要 协助 想要 给我 给个 出个 出一份 要个 要一份 提 提出 实现
      完成`,
    en: `
      want, need, like, get, give, give me, request, ask for, asking for, apply for, do, make, perform, handle,
      process, submit, put in, run, have, love, looking for, after, initiate, issue, provide, provides, send me,
      entitled to, due, offer, care for, file, carry out, require, place`,
  },
  /** Makes a noun of what follows. */
  det: {
    zh: `
      这 那 这个 那个 这笔 那笔 这张 那张 这条 那条 这份 那份 该 此 一笔 一张 一条 一份 两笔 两个 每笔 某个 几笔
      所有 全部的 我的 你的 他的 她的 公司的 的话 最近 最新 上一笔 上一个 下一个 本月 本周 各 每个 这次 那次
      这些 那些 关于 有关 这周 上月 本次 昨天的 今天的 明天的`,
    en: `
      the, a, an, my, your, his, her, their, our, its, this, that, these, those, all, any, some, another, each,
      every, last, latest, new, next, recent, of, for, in, on, at, about, with, by, from, into, after, before,
      during, via, under, per, as, pending, overdue, monthly, weekly, quarterly, annual, daily, full, current,
      existing, open, old, previous, two, three`,
  },
  of: { zh: "的 之", en: "" },
  le: { zh: "了 过 掉 完 好了 成了", en: "" },
  and: {
    zh: "又 和 并 及 以及 同时 顺便 并且 跟 还要 外加 与 顺带 另外 还",
    en: "and, plus, also, as well as, along with, &",
  },
  or: { zh: "或 或者 还是 也不要 也别", en: "or, nor" },
  /** Behind an operation it makes a noun of it: its form, its people, its rules. */
  suffix: {
    zh: `
      方式 流程 原因 人 者 率 政策 规则 规定 条件 期限 按钮 功能 权限 员 手续 制度 渠道 方法 截图 凭证 理由 单
      表 书 费 中 时 后 前 期间 之后 之前 的时候 以前 以后`,
    en: `
      policy, form, fee, fees, button, process, procedure, history, deadline, reason, rate, team, department,
      rules, address, method, link, code, number, tracker, box, letter, request, requests, flow, window, error,
      errors, page, center, centre, desk, queue, log, logs, conditions, period, rights`,
  },
  /** Before a past form: that it be so. "I want it cancelled". */
  beSo: { zh: "", en: "get, want, need, like, have, needs, getting, prefer, be" },
  anymore: { zh: "", en: "anymore, any more, any longer, no more, after all" },
} as const satisfies Record<string, { zh: string; en: string }>;

export type Mark = keyof typeof MARK_WORDS;
