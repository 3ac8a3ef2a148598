/**
 * The words by which people ask for operations, in Chinese and English. Our own list, written for this project.
 *
 * `zh` is separated by spaces, in simplified characters (Taiwan's words as well, in simplified writing). `en` is
 * separated by commas, in base form: the endings of the first word are derived. `*` stands for up to four words ("call *
 * off"). A word may stand under several operations. Three signs may follow a word:
 *   `?`  it is a noun as often as a verb ("list", "申请"), so its place in the clause decides;
 *   `=`  it is a noun by itself ("cancellation");
 *   `~`  it says so only weakly ("开", "take").
 */
export const OPERATION_WORDS = {
  create: {
    zh: `
      创建 新建 建立 新增 添加 增加 增设 加入~ 建个 建一 建一个 建一张 建一条 建张 建单 加个 加一条 加一个 加上
      加一笔 加条 开个 开一个 开一张 开张 开一份 开具 开票 发票开 票开 开单 开户 开立 开一笔 立项 设立 登记?
      录入 录一下 录个 记一下 记一笔 记个 记下 做个 做一个 做一份 做张 写个 写一份 写一封 写一篇 写封 写篇 起草
      拟 拟一份 拟个 草拟 初稿~ 加人 喊上 叫上 拉进 多喊 多加 撰写 编写 生成 生成报表~ 生成报告~ 制作 制定
      出一份 出个 出一张 发起 补货 进货 下个采购单 下采购单 下个采购 下单 下个单 下一单 申请? 申领 领用 领一个
      领一台 领个 注册 设个 设一个 设置一个 弄个 弄一个 弄一份 搞个 来一份 来个 来一个 补一张 补开 补上~ 收藏~
      补办 补个 重开 办个 办一张 装个~ 安装~ 装一下~ 提个 提一个 提一张 提单~ 报名 招~ 采购? 买 购买 订购 配一台
      配个 新开`,
    en: `
      create, add, open?, sign * up, sign * up for, make, place, new=, register, set up, set * up, build,
      generate, draft?, write, compose, raise, issue?, log?~, record?, enter~, insert, draw up, write up,
      put in a request, put in an order, put in, put * in~, place an order, order?~, order a, order an,
      order some, order two, order me, order new, order more, buy, purchase?, apply for, apply, sign up,
      request?, note down, jot down, start a new, open up, fill out~, fill in~, produce, prepare, post?~,
      creation=, registration=, application=, compile~, requisition?, onboard, hire, enroll, enrol, provision,
      spin up, kick off~, whip up, write a summary~, additional~, an extra~, come up with, can i have~,
      could i have~, i'd like a~, get me a~`,
  },
  book: {
    zh: `
      预订? 预定? 预约? 订个 订一 订一个 订一间 订一张 订间 订张 订下 订一下 订到 订票 订房 订位 订餐 订机票
      订酒店 订会议室 定个 定一个 定一间 定间 约个 约一个 约一下 约一次 约在 约上 约到 约人 约会议 约 订 挂号
      挂个号 预留 占个 叫个 叫车 占一个 留一间 留个 安排? 排一下 排个 排期? 排一个 开会 开个会 开一个会 租一辆
      租 借用 借一 借个`,
    en: `
      book?, reserve, reservation=, booking=, schedule?, make an appointment, make a reservation, make a booking,
      set up a meeting, set up a call, arrange, arrange for, hold a room, pencil in, pencil * in, get a table,
      find a slot, plan?~, rent?, hire~, appointment=~, put * on the calendar, put * in the calendar, line up`,
  },
  submit: {
    zh: `
      提交 递交 上报 呈交 呈报 报送 交上去 交一下 申报? 送审 提报 报批 申请? 报销? 请款 报一下 报上去 发起审批
      走流程 走个流程 请假? 请个假 请一天 请两天 请三天 请半天 请几天 请病假 请年假 请事假 请一 休假~ 调休~ 投递
      报修? 提个工单`,
    en: `
      submit, hand in, hand * in, turn in, turn * in, send in, put in a request, put in for, put in, file?,
      lodge, claim?, expense?~, submission=, put forward, send for approval, send * for approval, apply for,
      request?, report a problem, report an issue, call in`,
  },
  update: {
    zh: `
      覆盖~ 降一档 升一档 降档 修改 更改 变更? 更新? 改成 改为 改一下 改下 改掉 改个 改改 改 换成 换个~ 换一个~
      换一下 换掉 换了 更换 调整? 调成 调到 调一下 编辑 修正 更正 订正 改正 改正确 设为 设成 设置? 设定 补充
      完善 填错 开错 输错 写错了 搞错了~ 调高 调低 调大 调小 提高到 降到 改名 重命名 标记为 标成 升级? 跟新
      维护? 换到 改到~ 更动 替换 修订 配置?~ 加到~`,
    en: `
      update?, change?, upgrade?, downgrade?, overwrite, modify, edit?, amend, alter, adjust, correct~, fix~,
      revise, switch to, switch * to, set * to, set, change over, rename, replace, swap?~, tweak, make * smaller,
      make * bigger, make * larger, make * shorter, make * lower, make * higher, make * instead~, modification=,
      amendment=, adjustment=, patch?, mark * as, raise * to, raise the price, raise the limit, raise * by,
      lower, increase~, reduce~, configure, maintain~, put, upsert, should be~, should say, should read,
      supposed to be~, got * wrong~, wrong=~, put * down as`,
  },
  reschedule: {
    zh: `
      改期 改时间 改签 延期? 推迟 延后 往后推 往后挪 往后拖 拖到 拖一周 拖几天 推后 推到 挪到 动到 挪一下 挪个
      挪动 调到 调期 提前 提早 往前提 往前挪 改到 改天 改约 换时间 换个时间 另约 顺延 后移 改日 改在 延到 移到~
      缓一缓 往后放 放到下`,
    en: `
      reschedule, postpone, push back, push * back, push * to, can we make it, make it * instead, bump, bump to,
      bump * to, move to, move * to, move forward, move up, move * up~, bring forward, bring * forward, put off,
      put * off, delay?~, defer, shift to, shift * to, rebook, change the date, change the time, another time~,
      another day~, different time~, later date~, move * earlier, move * later, an hour earlier, an hour later,
      a day earlier, a day later`,
  },
  cancel: {
    zh: `
      取消 取销 作废 撤掉 撤销 撤消 撤回 撤单 撤下 撤 废除 废掉 废止 不要了 不想要了 不需要了 不用了 用不着了
      用不上了 不买了 不订了 不去了 不来了 不参加了 不开了 不租了 不办了 不做了 不约了 不干了 去不了 来不了~
      参加不了 开不成 算了~ 不算数 不作数 还回去 让出来 腾出来 空出来 释放? 终止 解除 解约 中止 退订 退票 退房
      退租 退掉 退~ 退课 退会 退保 注销~ 收回 回绝~ 反悔 后悔了 冲销 冲红 红冲 消掉 销假 取消掉 黄了~ 推了 推掉
      打住`,
    en: `
      cancel, call off, call * off, void, revoke, withdraw, retract, scrap, scratch?~, abort, terminate, annul,
      rescind, undo~, drop?~, back out, pull out of, take back~, nix, kill?~, cancellation=, termination=,
      withdrawal=~, get out of, no longer need, no longer want, no longer needed, no longer required,
      not coming~, can't make it, can't come, cannot come, can't attend, cannot attend, can't make the,
      won't be coming, changed my mind, not going ahead, release?, give up~, it gone, gone for good, scrub~,
      get rid of~`,
  },
  delete: {
    zh: `
      删除 删掉 删去 删 清除 清空 清一清 清一下 清了 清掉 移除 去掉 抹掉 抹除 销毁 干掉 剔除 移出 踢出 踢掉 拿掉
      除掉 擦除 清理? 注销 扔掉 丢掉`,
    en: `
      delete, remove, erase, wipe, purge, get rid of, clear?, clear out, drop?, destroy, discard, throw away,
      throw * away, throw out, trash?, deletion=, removal=, take off, take * off, take out~, take * out of,
      bin?~, clean up~, strip~, kick * out, eliminate, uninstall, deregister, unregister`,
  },
  publish: {
    zh: "发布? 上架 上线? 发出去 推出去 挂出去 挂上去 挂出来 刊登 发稿 公布 推上线 发表 上新",
    en: `
      publish, publication=, go live, put * live, make * live, release?, post?, put * out, launch?~, push * live,
      make * public`,
  },
  unpublish: {
    zh: "下架 下线? 拿下来 撤下来 下掉 撤下 撤稿 隐藏 外面看不到 摘下来 取下来 收起来",
    en: "unpublish, take down, take * down, take offline, take * offline, hide, pull * down, unlist, off the site~",
  },
  close: {
    zh: "关闭 关掉 关 结案 结单 关单 完结 办结 了结 结掉 收尾 结束 标记完成 完成 销案 结项 关账 封账",
    en: `
      close, close out, resolve, complete?~, wrap up, wrap * up, finish, finalise, finalize, mark as done,
      mark * done, mark as resolved, conclude, settle~, closure=`,
  },
  archive: {
    zh: "归档 存档 封存 存着~ 入档 收档 进档案 进档",
    en: "archive?, shelve, file away, put away, store away",
  },
  query: {
    zh: `
      查询 查一下 查下 查查 查看 查个 查 看看 看下 看一下 看一看 看一眼 瞧瞧 瞅瞅 看~ 问一下 问下 想问 请问~
      问问 想知道 想了解 了解一下 告诉我 跟我说 显示 展示 获取 读取 取得 检视 查阅 调取 调阅 查明 核实~ 知道~
      有没有 是否有 瞄一眼 浏览~ 打听 咨询? 调出`,
    en: `
      query?, look up, look * up, look at, look into, check?, check on, check if, check whether, check out~,
      show, show me, view?, get, fetch, retrieve, read~, see~, tell me, let me know~, find out, inquire, enquire,
      inquiry=, enquiry=, lookup=, display?, pull up, pull * up, access?~, detail=, details=, describe, inspect,
      know~, i wonder, want to know, like to know, need to know, wondering, take a look, have a look, can i see,
      give me, bring up, info=, information=`,
  },
  status: {
    zh: `
      状态= 进度= 进展= 到哪了 到哪里了 到哪儿了 到哪 到哪一步 走到哪 卡在哪 卡在 什么情况 怎么样了 咋样了
      怎样了 如何了 跟踪? 追踪? 追查 跟进? 到了吗 到没到 到了没 好了吗 好了没 弄好了吗 弄完了吗 办好了吗
      发货了吗 发了吗 发了没 还没到 还没好 还没收到 没收到 没到 什么时候到 什么时候能到 何时到 多久能到 几时到
      查物流 物流信息~ 动静 下文 有消息吗 消息了吗 有结果吗 结果出来 监控? 监测? 监视 盯着 处理到 走完 办到 批到
      在哪个环节 谁那里 谁那儿`,
    en: `
      status=, progress=, track?, where is, where's, where are, wheres, how's * going, how is * going,
      how are * going, how far, how far along, any news, any update, any updates, what's happening with,
      what is happening with, what happened to, what's going on with, stage=, eta=, arrived yet, has arrived,
      follow up on, follow, monitor?, keep an eye on, watch?~, trace?, state=~, still waiting, waiting on,
      when will * arrive, hasn't arrived, not arrived, never arrived, never came, didn't arrive, never showed up,
      haven't received, update on, an update on, update me on, status check, stuck, in limbo, gone through,
      come through, go through~, holding up, hold * up, held up`,
  },
  list: {
    zh: `
      列出 列表 列一下 列下 列个 列 清单? 罗列 一览 浏览 有哪些 都有哪些 有什么 都有什么 都有谁 哪些 哪几个 枚举
      所有的~ 全部列 名单? 翻一下 目录? 明细~ 汇列 一览表`,
    en: `
      list?, list out, browse, enumerate, show all, show me all, get all, see all, view all, what are, which=~,
      listing=, a rundown of~, all the~, every=~, catalog=~, go over~`,
  },
  search: {
    zh: `
      搜索? 搜一下 搜下 搜 检索? 查找 寻找 找一下 找下 找找 找出 拎出来 挑出来 捞出来 找到 找个 找一个 找~ 搜寻
      翻出 筛选? 筛一下 筛一筛 筛出 过滤 查重 定位~`,
    en: `
      search?, search for, find, look for, looking for, hunt for, hunt down, dig up, dig out, pull out,
      pull * out, locate, filter?, discover, seek, track down, spot?~`,
  },
  export: {
    zh: `
      要个文件 发个文件 要一份~ 发我一份 导出 下载 拉一份 拉一个 拉个 拉一下 拉出来 拉 导一份 导成 导出来 输出
      汇出 另存为 存成 存一份 倒出来 抓出来 备份?`,
    en: `
      export?, download?, pull a report, pull the report, pull * report, dump?, save a copy, save as, save * as,
      extract, back up, backup=, get a copy, a copy of, output?, pull * into a spreadsheet, into excel~, as csv~,
      as pdf~, to csv, to excel, in a spreadsheet~, as a spreadsheet~`,
  },
  import: {
    zh: "导入 上传 上载 汇入 传上去 传上来 传到 传一下 导进去 导进来 批量录入 读入 接入 载入",
    en: "import?, upload?, load, load * into, ingest, bring * in, put * up, attach, ingestion=, feed * into",
  },
  approve: {
    zh: `
      审批? 批准 同意 通过 批一下 批掉 批复 批下 批 审一下 审下 审 核准 审核通过 审批通过 准了 准予 许可~ 放行
      直接过 让他过 让它过 点头 审核? 过审 认可 签批 给过 给他过 ok了`,
    en: `
      approve, sign off on, sign off, sign * off, ok, okay?, green light, greenlight, give the green light,
      accept, authorize, authorise, approval=, authorization=, authorisation=, grant?, give the go ahead, allow,
      permit?~, clear~, agree to, confirm~, let * through, sign-off`,
  },
  reject: {
    zh: `
      驳回? 打回 打回去 拒绝 拒掉 否决 否掉 退回 退回去 不同意 不批准 不批 不通过 不予通过 不予批准 回绝 退件
      拒批 拒 婉拒 推掉 毙掉 枪毙 驳掉 驳 退给`,
    en: `
      reject, decline, turn down, turn * down, deny, refuse, veto?, send back, send * back, knock back,
      rejection=, disapprove, say no to, dismiss, push back on, turn away, rebuff`,
  },
  assign: {
    zh: `
      分配 指派 派给 派发 派单 分派 分给 指定 交给 安排给 委派 委托~ 派人 派个人 派一个人 派个 派 认领 划给 转派`,
    en: `
      assign, allocate, delegate?, dispatch?, give * to, hand * to, put * in charge of, assignment=, allocation=,
      appoint, designate, put someone on, get someone, get somebody, have someone~, send someone`,
  },
  transfer: {
    zh: `
      挪到~ 转交 移交 转让 转移 交接? 过户? 转给 转到 转 调动? 调拨? 迁移? 搬到 转岗? 转派 转账? 转帐 转过去
      划转 汇款? 打款 打钱 打给~ 汇给 过继 转接 移库`,
    en: `
      transfer?, move to~, move * to~, move * from, hand over, hand * over, handover=, reassign, move * over,
      pass on, pass * on, pass * to, migrate, relocate, wire?, wire * to, move money, migration=, send money,
      redirect, switch over~, put me through`,
  },
  pay: {
    zh: `
      付款? 支付? 付钱 付一下 付掉 付清 付 缴费? 缴纳 缴 交费 交钱 交了 结账 结清 结算? 买单 还款? 还钱 充值? 充
      打款 垫付? 发工资 发薪 放款`,
    en: `
      pay?, pay for, pay off, settle, payment=, make a payment, check out, top up, top * up, repay, reimburse~,
      foot the bill, charge?~, pony up, remit, recharge?, payout=, disburse, clear the balance`,
  },
  refund: {
    zh: `
      退款? 退钱 退费? 退还 返款 退货款 退货退款 退货? 退掉~ 把钱退 钱退 退我 退给我 退回来 返还 赔付? 赔偿?
      理赔? 索赔? 退税? 退 退押金 退一下`,
    en: `
      refund?, money back, my money back, get my money back, get * money back, want my money back,
      give me my money back, give * back, return?, send * back, reimbursement=~, return the money, chargeback=,
      get back~, pay * back, credit * back, compensate~`,
  },
  exchange: {
    zh: `
      换货? 调换? 换新 换了 换个 换一个 换一 换一件 换一台 换一双 换个新 换个尺码 换大一 换小一 换个颜色 兑换?
      互换 置换 对调 换班? 调班? 交换? 退换?`,
    en: `
      exchange?, swap?, trade in, trade * in, trade * for, swap * for, replacement=, redeem, exchange * for,
      get a different, different size~, one size up, one size down, size bigger, size smaller, wrong size~,
      bigger size~, smaller size~`,
  },
  send: {
    zh: `
      发送 发给 发出 发到 发一份 发一下 发个 发一封 发封 发条 寄给 寄到 寄一 寄出 寄送 寄 邮寄 推送? 通知? 告知
      转发 群发 传达 知会 抄送 发出去 送到 送给 传给 传真? 回复? 答复? 发货? 出货? 配送? 派送? 广播 转告 说一声
      打个招呼 跟他说 告诉 发`,
    en: `
      send, send me~, resend, send out, send * out, email?, mail?, e mail, notify, forward?~, message?, text?~,
      deliver, announce, tell, inform, alert?, broadcast?, share?~, reply?, notification=, ship?, dispatch?,
      let * know, let everyone know, drop * a line, shoot * an email, ping?, cc, write to, pass along, circulate,
      delivery=~, shipment=~`,
  },
  remind: {
    zh: `
      提醒? 催一下 催下 催催 催促 催办 催单 催款 催收 催 别让我忘 到时候叫我 叫我 闹钟? 敦促 设个提醒 加急? 快点
      尽快~ 提示`,
    en: `
      remind, reminder=, nudge?, chase?, chase up, chase * up, ping?, prod, follow up with, set a reminder,
      don't let me forget, the moment it~, as soon as it~, hurry up, hurry * up, speed up, speed * up, expedite,
      rush?~, alarm=, wake me, alert?~, press~`,
  },
  share: {
    zh: "分享? 共享? 公开 授权? 开放给 给他看 给他权限 开权限 赋权",
    en: `
      share?, share * with, give access, give * access, have a copy, grant access, grant * access, make public,
      invite?, collaborate, link * with`,
  },
  subscribe: {
    zh: `
      订阅? 关注 订报 开通会员 加关注 订一份 定期 每周自动 每天自动 每周发 每天发 每周推 每天推 加入会员
      跟我推送`,
    en: `
      subscribe, subscription=, follow, sign up for, arriving every, every week~, every day~, every month~,
      every monday~, every morning~, regularly~, opt in, opt into, join`,
  },
  unsubscribe: {
    zh: `
      退订 取消订阅 取消关注 取关 别再发 不要再发 别再给我发 不要再给我发 别给我发 不想再收到 不想收到 不要推送
      别推送`,
    en: `
      unsubscribe, unfollow, opt out, stop sending, stop asking me, stop reminding, stop texting, stop calling,
      stop emailing, stop mailing, don't send me, stop getting, take me off, remove me from, quit sending,
      stop receiving, don't want to receive, don't want * emails, don't want * mails, don't want * notifications,
      no more emails`,
  },
  enable: {
    zh: "启用 开启 激活 打开 开通 启动~ 生效 开放 使能 开一下~ 开起来 投用 开 绑定",
    en: `
      enable, turn on, turn * on, switch on, switch * on, activate, activation=, make * active, put * on~,
      allow~, unpause, arm, link~, pair~`,
  },
  disable: {
    zh: "停用 禁用 关闭 关掉 关停 关一下 关 失效 停掉 禁止 屏蔽 封掉 封禁 停权 拉黑 停卡 去激活 解绑 吊销",
    en: `
      disable, turn off, turn * off, switch off, switch * off, deactivate, deactivation=, shut off, shut * off,
      suspend~, block?~, make * inactive, ban?, mute, unlink, revoke * access, kill * access, remove * access,
      shut~, revoke access, cut off, kill switch`,
  },
  start: {
    zh: "启动 开始 开工 运行 执行 开跑 跑一下 跑一遍 跑 跑起来 拉起 拉起来 发动 起一下 触发 开机 部署? 投产",
    en: `
      start?, begin, exec, launch?, run?, execute, kick off, fire up, fire * up, trigger?, boot up, boot, deploy,
      deployment=, commence, get * going, get * running, power on, bring up~, roll out`,
  },
  stop: {
    zh: "停止 停掉 停下 停一下 停 暂停 中断 中止 叫停 杀掉 挂起 关机 打断 收工 终止~ 停机? 别跑了 停跑 冻一下~",
    en: `
      stop?, halt?, pause?, end?, quit, shut down, shut * down, suspend, put on hold, put * on hold, hold off,
      interrupt, power off, kill?, abort~, close, wind down, take * offline`,
  },
  restart: {
    zh: "重启 重新启动 重开 重跑 重新跑 重新执行 重试? 再跑 再试 重来 重做 重新加载 重新部署",
    en: `
      restart?, reboot?, rerun?, retry?, relaunch, start over, start * over, run again, run * again, bounce~,
      try again, redo, turn * off and on, power cycle, reload, redeploy`,
  },
  restore: {
    zh: `
      恢复 还原 撤销删除 取消删除 找回 找回来 复原 回滚 回退? 弄回来 捞回来 拿回来 恢复正常 重新激活 重新启用
      重新开通 复活 召回? 救回来 复职 改回 改回来 改回去 换回`,
    en: `
      restore, undo, undelete, revert, recover, reactivate, reinstate, bring back, bring * back, roll back,
      roll * back, rollback=, put back, put * back, reopen, get back, get * back, resume?, recovery=,
      restoration=, recall?, resurrect, revive, unarchive, re enable, change * back`,
  },
  lock: {
    zh: "锁定 锁住 锁上 锁 冻结 锁一下 封锁 挂失? 封存~ 封住 封号 加锁",
    en: `
      lock?, freeze?, lock down, lock up, block?, seal?~, hold~, lock * out, report * lost, report * stolen,
      bar~, quarantine?`,
  },
  unlock: {
    zh: "解锁 解冻 解开 解封 开锁 解除锁定 解除冻结 取消锁定 取消冻结 锁定解除 解挂 放开 解禁",
    en: `
      unlock, unfreeze, unblock, lift the block, lift the freeze, release?, let me back in, locked out, thaw,
      unban, lift the hold`,
  },
  reset: {
    zh: `
      重置 重设 忘了密码 忘记密码 密码忘了 密码忘记 改密码~ 重新设置 初始化 恢复出厂 恢复默认 清零 归零 找回密码`,
    en: `
      reset?, forgot my password, forgot password, forgotten my password, forgot * password,
      forgotten * password, set back to, factory reset, reinitialize, reinitialise, zero out, start from scratch,
      back to default`,
  },
  renew: {
    zh: `
      续费 续约? 续签? 续期? 续订? 续借? 续租? 续保? 续 再借 再租 再续 再订一年 再签 接着签 延一年~ 年审~ 换证
      换发`,
    en: "renew, renewal=, re up, sign up again, prolong~, re subscribe, keep * going another",
  },
  extend: {
    zh: "延长 延期? 宽限? 展期? 加时 多给几天 多给 多留 加长 延到~ 扩容? 扩展? 缓交 晚几天 延 再用 再给",
    en: `
      extend, extension=, lengthen, prolong, more time, more weeks, more days, more months, another week~,
      another month~, a bit longer, give * more time, longer=~, a later~, keep * open longer, grace period,
      expand, expansion=, scale up, stretch~`,
  },
  merge: {
    zh: `
      合并 并到 并成 拼接 汇合 合成一 整合? 凑单 并单 合一下 合一合 合到一起 合到 合进 并进 并入 合在一起 归并
      拼成 去重`,
    en: `
      merge?, combine, consolidate, join * together, put * together~, fold * into, roll * into, unify, dedupe,
      deduplicate, duplicates=~, concatenate, bundle?~`,
  },
  split: {
    zh: "拆分 拆成 拆开 分拆 分成 分开 拆单 拆 切分 切成 分割 分摊?~ 均摊~ 平摊~",
    en: `
      split?, split up, split * into, break up, break * up, divide, divide up, separate, partition?,
      break * into, break * down into`,
  },
  compare: {
    zh: `
      比较 对比? 比一比 比一下 比较一下 比对 比价? 有什么区别 有什么不同 有啥区别 差别? 哪个更 哪个好 哪个便宜
      差异? 对照 核对~ 孰优`,
    en: `
      compare, comparison=, contrast?, versus, vs, difference between, differences between, differ, how * differ,
      which is better, which is cheaper, is cheaper, which * cheaper, which * better, weigh up, benchmark?,
      diff?, side by side, stack up`,
  },
  summarise: {
    zh: `
      总结? 汇总? 概括 归纳 摘要? 统计? 分析? 报表? 报告?~ 小结? 概述 提炼 整理 梳理 盘点? 趋势 走势 复盘? 概览
      概况 排名? 看数 画像? 占比 诊断? 汇报? 洞察 大概讲了什么 主要内容 讲了什么 说了什么 要点`,
    en: `
      generate a report, generate report, generate reports, generate * report, generate * summary,
      write a summary, write * summary, summarise, summarize, summary=, sum up, sum * up, analyse, analyze,
      analysis=, analytics=, recap?, report?~, breakdown=, break down, break * down, overview=, digest?, trend=,
      trends=, aggregate?, statistics=, stats=, tldr=, tl dr, gist=, insight=, insights=, key points=,
      boil * down, main points, ranking=, forecast?, predict, diagnose, review?~, condense, run the numbers,
      crunch the numbers`,
  },
  translate: {
    zh: "翻译? 译成 译为 翻成 翻一下 译 英文怎么说 中文怎么说 用英语怎么说 中译英 英译中 翻译成",
    en: `
      translate, translation=, in english~, in chinese~, into english, into chinese, into french, into spanish,
      into german, into japanese, how do you say, localize, localise, interpret~`,
  },
  convert: {
    zh: "转换? 转成 转为 换算? 转化 转码 变成~ 折合 折算? 兑成 换成多少 等于多少 化成 格式转换 生成pdf",
    en: `
      convert, conversion=, turn * into, transform, change * into, transcode, equivalent=, how many * in a,
      reformat, transcribe, transcription=, in dollars~, in euros~`,
  },
  calculate: {
    zh: `
      计算? 算一下 算下 算算 算出 算个 算 核算? 测算? 估算? 估价? 试算? 求和 加总~ 合计~ 一共多少 总共多少
      估一下 报价?`,
    en: `
      calculate, recalculate, calculation=, compute, work out, work * out, add up, add * up, figure out how much,
      estimate?, count?, total?~, tally, quote?, how much would, how much will, calculator=, price out,
      evaluate~, score?~`,
  },
  recommend: {
    zh: `
      推荐? 建议? 有什么好的 帮我选 帮我挑 选哪个 挑一个 挑个 选一个 选个 介绍几个 介绍个 哪家好 推介 给点意见
      出主意 荐`,
    en: `
      recommend, recommendation=, recommendations=, suggest, suggestion=, suggestions=, advise, what should i,
      which should i, pick?~, help me choose, help me pick, propose, what's a good, any good, any ideas,
      match * with`,
  },
  verify: {
    zh: `
      验证? 审一下 审下 校一遍 校一下 校对 校验? 核验? 核对? 核实 检查? 审查? 检验? 检测? 查验 质检? 对账?
      确认一下 确认下 是否正确 对不对 对一下 对一对 合不合规 合规 真伪 真假 过目 辨真 有没有问题 有没有错 把关
      识别~ 复查 复核 鉴定? 盘点?`,
    en: `
      verify, verification=, validate, validation=, double check, check whether~, check if~, make sure the,
      make sure that, make sure it, make sure everything, make sure~, confirm~, authenticate, inspect,
      inspection=, audit?, cross check, reconcile, is it valid, is * valid, is * correct, vet, proofread,
      review?, test?, detect, detection=, scan?, screen?~, examine`,
  },
  sign: {
    zh: "签字? 签名? 签署? 签一下 签合同 签个 签 盖章? 用印? 签订 签约? 落款 会签? 签收?",
    en: `
      sign?, sign up~, countersign, signature=, put my name on, initial~, stamp?, execute the contract, e sign,
      esign, put my signature`,
  },
  print: {
    zh: "打印 列印 印一份 印一下 印出来 打出来 打一份 印 复印? 打单",
    en: "print?, print out, print * out, printout=, hard copy, photocopy?, run off~",
  },
  explain: {
    zh: `
      解释? 说明? 讲解 教我 教一下 介绍一下 介绍 指导? 是什么意思 什么意思 啥意思 是啥 是什么 怎么回事 怎么弄
      怎么办理 怎么用 教程? 步骤? 流程~ 政策~ 规定~ 答疑 说说 讲讲 讲一下`,
    en: `
      explain, explanation=, walk me through, teach, guide?, tutorial=, clarify, instructions=,
      what's the meaning, what does * mean, meaning of, steps=~, policy=~, show me how, elaborate, answer?,
      help me understand`,
  },
  complain: {
    zh: `
      投诉? 举报? 反馈? 抱怨 维权 差评? 申诉? 报修? 报障 坏了 失灵 没反应 卡住了 出问题了 出故障 用不了 打不开
      太差 往上递 往上报 升级给 升级?~ 报案 报失 反映 上访 报警?`,
    en: `
      complain, complaint=, file a complaint, make a complaint, report a problem, report an issue, report a bug,
      feedback=, escalate?, broken=~, is broken, are broken, broken again, broke down, is faulty, is down,
      stopped working, not working, doesn't work, isn't working, won't turn on, won't start, won't open,
      won't boot, won't work, appeal?, unacceptable=~, speak to a manager, speak to someone~, talk to a human~,
      out of order, raise a ticket, fault=~, malfunction?`,
  },
} as const satisfies Record<string, { zh: string; en: string }>;

/** What may be done to a thing, by one name each. */
export type Operation = keyof typeof OPERATION_WORDS;

export const OPERATIONS = Object.keys(OPERATION_WORDS) as readonly Operation[];
