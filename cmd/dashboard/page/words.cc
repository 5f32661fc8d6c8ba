#include "cmd/dashboard/page/words.h"

#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"

namespace gangway::dashboard {
namespace {

struct Texts {
  absl::string_view english, chinese;
};

Texts TextsOf(Word word) {
  switch (word) {
    case Word::kQueues:
      return {"Queues", "队列"};
    case Word::kGangs:
      return {"Gangs", "Gang"};
    case Word::kNodes:
      return {"Nodes", "节点"};
    case Word::kJobs:
      return {"Jobs", "作业"};
    case Word::kPaddleJobs:
      return {"PaddleJobs", "PaddleJob"};
    case Word::kQueue:
      return {"Queue", "队列"};
    case Word::kShare:
      return {"Share", "份额"};
    case Word::kHeld:
      return {"Held", "已占用"};
    case Word::kDeserved:
      return {"Deserved, told each minute", "应得（每分钟告知）"};
    case Word::kWaiting:
      return {"Waiting", "等待中"};
    case Word::kRunning:
      return {"Running", "运行中"};
    case Word::kCapability:
      return {"at most", "上限"};
    case Word::kAsked:
      return {"asks for", "请求"};
    case Word::kGang:
      return {"Gang", "Gang"};
    case Word::kPods:
      return {"pods", "个 Pod"};
    case Word::kSince:
      return {"Since", "自"};
    case Word::kWhy:
      return {"Why it waits", "等待原因"};
    case Word::kNode:
      return {"Node", "节点"};
    case Word::kJob:
      return {"Job", "作业"};
    case Word::kPhase:
      return {"Phase", "阶段"};
    case Word::kRoles:
      return {"Roles", "角色"};
    case Word::kMode:
      return {"Mode", "模式"};
    case Word::kTasks:
      return {"Tasks", "任务"};
    case Word::kRestarts:
      return {"restarts", "次重启"};
    case Word::kCreated:
      return {"created", "已创建"};
    case Word::kAdmitted:
      return {"admitted", "已准入"};
    case Word::kPlaced:
      return {"placed", "已放置"};
    case Word::kFailed:
      return {"failed", "失败"};
    case Word::kAction:
      return {"answer", "处理"};
    case Word::kWarning:
      return {"warning", "警告"};
    case Word::kStarted:
      return {"started", "已启动"};
    case Word::kCompleted:
      return {"completed", "已结束"};
    case Word::kNotLetIn:
      return {"its queue has not let it in yet", "队列尚未准入"};
    case Word::kLetIn:
      return {"it is let in and not placed yet", "已准入，尚未放置"};
    case Word::kNotReady:
      return {"not ready", "未就绪"};
    case Word::kCordoned:
      return {"cordoned", "不可调度"};
    case Word::kTaints:
      return {"taints", "个污点"};
    case Word::kNothing:
      return {"nothing", "无"};
    case Word::kNotTold:
      return {"not told", "未知"};
    case Word::kMembers:
      return {"placed of the minimum", "已放置/最少"};
    case Word::kSearch:
      return {"Search ( / )", "搜索（ / ）"};
    case Word::kOthers:
      return {"中文", "English"};
    case Word::kNotSeen:
      return {"Not seen", "无法查看"};
    case Word::kLive:
      return {"live", "实时"};
    case Word::kBroken:
      return {"not live: connecting again", "连接已断开，正在重连"};
    case Word::kKeys:
      return {"Keys", "快捷键"};
    case Word::kKeysText:
      return {
          "/ search · Esc clear · j k next and previous row · Enter open · 1 to 5 queues, gangs, nodes, jobs, "
          "PaddleJobs",
          "/ 搜索 · Esc 清除 · j k 下一行与上一行 · Enter 展开 · 1 至 5 队列、gang、节点、作业、PaddleJob"};
    case Word::kMore:
      return {"more are not shown; -n NAMESPACE shows fewer", "项未显示；可用 -n 名字空间 缩小范围"};
    case Word::kNone:
      return {"none", "无"};
    case Word::kReading:
      return {"the cluster is being read", "正在读取集群"};
  }
  return {};
}

}  // namespace

absl::string_view TextOf(Word word, Lang lang) {
  const Texts texts = TextsOf(word);
  return lang == Lang::kChinese ? texts.chinese : texts.english;
}

absl::string_view CodeOf(Lang lang) { return lang == Lang::kChinese ? "zh" : "en"; }

Lang ChooseLang(absl::string_view asked, absl::string_view accept_language) {
  if (asked == "zh") return Lang::kChinese;
  if (asked == "en") return Lang::kEnglish;
  double english = 0, chinese = 0;
  for (const absl::string_view part : absl::StrSplit(accept_language, ',')) {
    const std::pair<absl::string_view, absl::string_view> words = absl::StrSplit(part, absl::MaxSplits(';', 1));
    const std::string tag = absl::AsciiStrToLower(absl::StripAsciiWhitespace(words.first));
    absl::string_view weight = absl::StripAsciiWhitespace(words.second);
    double quality = 1;
    if (!weight.empty() && (!absl::ConsumePrefix(&weight, "q=") || !absl::SimpleAtod(weight, &quality))) quality = 0;
    double& of = tag == "zh" || absl::StartsWith(tag, "zh-") ? chinese : english;
    if (&of == &english && tag != "en" && !absl::StartsWith(tag, "en-") && tag != "*") continue;
    if (quality > of) of = quality;
  }
  return chinese > english ? Lang::kChinese : Lang::kEnglish;
}

}  // namespace gangway::dashboard
