// The page in a real browser, on a sandbox with jobs that run, wait and restart. With GW_UPDATE_GOLDEN it takes the
// pictures of docs/pictures, and fails: somebody is to look at them.
#include <csignal>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "api/json_path.h"
#include "api/manifest/manifest.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kube/client/http_client.h"
#include "tests/cmd/dashboard/browser.h"
#include "tests/process/process.h"
#include "tests/testing/loop_thread.h"

namespace gangway {
namespace {

using ::testing::IsEmpty;
using testutil::Browser;
using testutil::ChildProcess;
using testutil::Eventually;
using testutil::ReadFile;
using testutil::TemporaryFolder;

constexpr char kHostileQueue[] =
    R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"Queue","metadata":{"name":"late",
  "annotations":{"gangway.io/deserved":"<img/onerror>=3"}},"spec":{"weight":1}})";

constexpr char kEnds[] =
    R"({"apiVersion":"bus.volcano.sh/v1alpha1","kind":"Command","metadata":{"name":"ends","namespace":"default"},
  "action":"TerminateJob","target":{"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","name":"ctr-volcano"}})";

class DashboardBrowserTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!testutil::HasBrowser()) GTEST_SKIP() << "there is no chromium on this machine";
  }
  void Start(int nodes, const std::vector<std::string>& files, const std::vector<std::string>& flags = {}) {
    std::vector<std::string> argv{GW_GANGWAY, "sandbox", "--quiet", "--node-shape",
                                  absl::StrCat("nvidia.com/gpu=8,count=", nodes)};
    argv.insert(argv.end(), flags.begin(), flags.end());
    for (const std::string& file : files) argv.insert(argv.end(), {"--apply", absl::StrCat(GW_SOURCE_DIR, "/", file)});
    sandbox_.emplace(argv, folder_.path() + "/out");
    ASSERT_TRUE(Eventually([&] { return !After("dashboard at ").empty(); })) << ReadFile(folder_.path() + "/out");
  }
  std::string After(const std::string& before) const {
    const std::string text = ReadFile(folder_.path() + "/out");
    const std::size_t at = text.find(before), end = text.find('\n', at == std::string::npos ? text.size() : at);
    return end == std::string::npos ? "" : text.substr(at + before.size(), end - at - before.size());
  }
  int Create(const std::string& path, const std::string& body) const {
    testutil::LoopThread thread;
    Owner owner;
    kube::Connection connection;
    connection.server = After("API server at ");
    auto client = *kube::HttpClient::Make(thread.loop(), connection);
    testutil::Inbox<int> code;
    client->Send({"POST", path, "", "application/json", "", body}, owner.token(),
                 [&](absl::StatusOr<kube::Response> reply) { code.Put(reply.ok() ? reply->code : 0); });
    const int answered = code.Take().value_or(0);
    client.reset();
    thread.Join();
    return answered;
  }
  static std::string InDocument(const std::string& text) {
    return absl::StrCat("document.body.innerText.includes('", text, "')");
  }
  static void Keep(const std::string& name, const std::string& png) {
    if (std::getenv("GW_UPDATE_GOLDEN") == nullptr) return;
    const std::string path = absl::StrCat(GW_SOURCE_DIR, "/docs/pictures/", name);
    testutil::WriteFile(path, png);
    ADD_FAILURE() << path << " is taken anew: look at it, then run without GW_UPDATE_GOLDEN";
  }

  const TemporaryFolder folder_{"gangway-dashboard"};
  std::optional<ChildProcess> sandbox_;
};

const std::vector<std::string>& Examples() {
  static const std::vector<std::string>& examples = *new std::vector<std::string>{
      "examples/ctr-volcano.yaml", "examples/too-large.yaml", "examples/paddle/collective.yaml"};
  return examples;
}

TEST_F(DashboardBrowserTest, IsReadSearchedAndKeptLive) {
  Start(4, Examples());
  Browser browser(1280, 1150);
  const std::string url = After("dashboard at ");
  browser.Open(url);
  ASSERT_TRUE(browser.Becomes(InDocument("of 7 tasks"), "true"));
  ASSERT_TRUE(browser.Becomes("document.querySelector('#count\\\\:nodes').textContent", "4"));
  EXPECT_TRUE(browser.Becomes("document.getElementById('live').textContent", "live"));

  // One change reaches the screen; what it carries stays text.
  ASSERT_EQ(Create("/apis/scheduling.volcano.sh/v1beta1/queues", kHostileQueue), 201);
  EXPECT_TRUE(browser.Becomes("!!document.getElementById('q:late')", "true"));
  EXPECT_EQ(browser.Evaluate("document.querySelectorAll('img').length"), "0");
  EXPECT_TRUE(browser.Becomes("document.getElementById('q:late').textContent.includes('<img/onerror> 3')", "true"));

  // A timeline, opened by the keyboard, is open after its row has changed.
  browser.Press("4");
  browser.Press("j");
  EXPECT_TRUE(browser.Becomes("document.activeElement.tagName", "SUMMARY"));
  browser.Press("Enter");
  EXPECT_TRUE(browser.Becomes("document.activeElement.parentElement.open", "true"));
  const std::string opened = browser.Evaluate("document.activeElement.parentElement.id");
  EXPECT_EQ(browser.Evaluate("document.activeElement.parentElement.innerText.includes('created')"), "true") << opened;

  browser.Press("/");
  for (const char* key : {"t", "o", "o", "-", "l"}) browser.Press(key);
  EXPECT_TRUE(browser.Becomes("document.getElementById('j:default/too-large').hidden", "false"));
  EXPECT_TRUE(browser.Becomes("document.getElementById('j:default/ctr-volcano').hidden", "true"));
  const std::string row_shown = "getComputedStyle(document.querySelector('#gangs tbody tr[hidden]')).display";
  EXPECT_EQ(browser.Evaluate(row_shown), "none");
  browser.Press("Escape");
  EXPECT_TRUE(browser.Becomes("document.getElementById('j:default/ctr-volcano').hidden", "false"));

  browser.Call("Emulation.setEmulatedMedia", R"({"features":[{"name":"prefers-color-scheme","value":"dark"}]})");
  EXPECT_TRUE(browser.Becomes("getComputedStyle(document.body).backgroundColor", "rgb(13, 17, 23)"));
  browser.Open(url + "?lang=zh");
  EXPECT_TRUE(browser.Becomes("document.querySelector('#queues h2').firstChild.textContent.trim()", "队列"));
  EXPECT_TRUE(browser.Becomes("document.getElementById('live').textContent", "实时"));

  // The row in hand stays in hand where it moves to: behind the others, since its job has ended.
  browser.Press("4");
  browser.Press("j");
  ASSERT_TRUE(browser.Becomes("document.activeElement.parentElement.id", "j:default/ctr-volcano"));
  ASSERT_EQ(Create("/apis/bus.volcano.sh/v1alpha1/namespaces/default/commands", kEnds), 201);
  EXPECT_TRUE(browser.Becomes("document.getElementById('j:default/ctr-volcano').className", "ended"));
  EXPECT_EQ(browser.Evaluate("document.activeElement.parentElement.id"), "j:default/ctr-volcano");

  // A server that comes back is another one.
  EXPECT_THAT(browser.complaints(), IsEmpty());
  sandbox_->Signal(SIGTERM);
  sandbox_->Wait();
  EXPECT_TRUE(browser.Becomes("document.getElementById('live').className", "warn"));
}

// What the pictures are to show stands on the page before they are taken.
TEST_F(DashboardBrowserTest, ACaseForPictures) {
  Start(12, {}, {"--start-delay", "2s", "--stop-delay", "1s"});  // a life whose steps have seconds of their own
  const auto documents =
      api::ReadManifest(testutil::ReadFile(GW_SOURCE_DIR "/tests/cmd/dashboard/pictures.yaml"), "pictures.yaml");
  ASSERT_TRUE(documents.ok()) << documents.status();
  const std::map<std::string, std::string> paths{
      {"Queue", "/apis/scheduling.volcano.sh/v1beta1/queues"},
      {"Job", "/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs"},
      {"PaddleJob", "/apis/batch.paddlepaddle.org/v1/namespaces/default/paddlejobs"}};
  for (const api::ManifestDocument& document : *documents) {  // a queue takes jobs when the controller has seen it
    EXPECT_TRUE(Eventually([&] { return Create(paths.at(document.kind), document.json) == 201; })) << document.name;
  }
  Browser browser(1280, 1560);
  const std::string url = After("dashboard at ");
  browser.Open(url);
  const auto shows = [&](const std::string& row, const std::string& text) {
    return browser.Becomes(absl::StrCat("!!document.getElementById('", row, "')?.innerText.includes('", text, "')"),
                           "true");
  };
  const auto open = [&] {
    browser.Evaluate("(document.getElementById('j:default/vision').open = true, scrollTo(0, 0))");
    EXPECT_TRUE(shows("j:default/vision", "out of memory"));
    EXPECT_TRUE(shows("j:default/vision", "Restarting"));
    EXPECT_TRUE(browser.Becomes(
        "document.getElementById('j:default/vision').querySelector('summary').innerText.includes('Running')", "true"));
  };
  ASSERT_TRUE(browser.Becomes(InDocument("of 16 tasks"), "true"));
  EXPECT_TRUE(shows("q:ads", "32"));
  // What it holds; what it deserves is told once a minute, of who was there at that moment.
  EXPECT_TRUE(shows("q:research", "nvidia.com/gpu 44"));
  EXPECT_TRUE(browser.Becomes("document.getElementById('count:nodes').textContent", "12"));
  EXPECT_TRUE(shows("p:batch.paddlepaddle.org/default/wide-and-deep", "2/2"));
  open();
  Keep("dashboard.png", browser.Picture());
  browser.Call("Emulation.setEmulatedMedia", R"({"features":[{"name":"prefers-color-scheme","value":"dark"}]})");
  browser.Open(url + "?lang=zh");
  open();
  Keep("dashboard-dark-zh.png", browser.Picture());
  EXPECT_THAT(browser.complaints(), IsEmpty());
}

// More nodes than are painted first, with scripts and without.
TEST_F(DashboardBrowserTest, ManyRowsAreAllThereAndInTheirOrder) {
  Start(70, {});
  Browser browser(1280, 1000);
  const std::string url = After("dashboard at ");
  browser.Open(url);
  ASSERT_TRUE(browser.Becomes("document.getElementById('count:nodes').textContent", "70"));
  browser.Open(url + "?q=node-069");
  EXPECT_TRUE(browser.Becomes("document.getElementById('live').className", "good"));
  const std::string nodes = "[...document.querySelector('[data-rows=nodes]').children]";
  EXPECT_EQ(browser.Evaluate(nodes + ".length"), "70");
  EXPECT_EQ(browser.Evaluate(nodes + ".every((node, i, all) => i === 0 || all[i - 1].id < node.id)"), "true");
  EXPECT_EQ(browser.Evaluate(nodes + ".filter(node => !node.hidden).map(node => node.id).join()"), "n:node-069");
  EXPECT_EQ(browser.Evaluate("document.querySelectorAll('main noscript').length"), "0");
  EXPECT_THAT(browser.complaints(), IsEmpty());

  browser.Call("Emulation.setScriptExecutionDisabled", R"({"value":true})");
  browser.Open(url);
  const boost::json::value document = browser.Call("DOM.getDocument");
  const boost::json::value* const root = api::ValueAt(document, {"root", "nodeId"});
  ASSERT_NE(root, nullptr);
  const boost::json::value found =
      browser.Call("DOM.querySelectorAll",
                   absl::StrCat(R"({"nodeId":)", api::ToJson(*root), R"(,"selector":"#nodes .map > .node"})"));
  EXPECT_EQ(found.at("nodeIds").as_array().size(), 70u);
}

TEST_F(DashboardBrowserTest, ReadsWithoutScripts) {
  Start(4, Examples());
  Browser browser(1280, 1000);
  browser.Open(After("dashboard at "));
  ASSERT_TRUE(browser.Becomes(InDocument("of 7 tasks"), "true"));
  browser.Call("Emulation.setScriptExecutionDisabled", R"({"value":true})");
  browser.Call("Page.reload");
  std::string html;
  EXPECT_TRUE(Eventually([&] {
    const boost::json::value document = browser.Call("DOM.getDocument");
    const boost::json::value* const root = api::ValueAt(document, {"root", "nodeId"});
    if (root == nullptr) return false;
    html = api::TextAt(browser.Call("DOM.getOuterHTML", absl::StrCat(R"({"nodeId":)", api::ToJson(*root), "}")),
                       {"outerHTML"});
    // Times as the server told them: a script makes "5s ago" of them at once, and says that it listens.
    return absl::StrContains(html, "of 7 tasks") && absl::StrContains(html, "ctr-volcano") &&
           absl::StrContains(html, "Z</time>") && absl::StrContains(html, "id=\"live\" role=\"status\"></");
  })) << html;
}

}  // namespace
}  // namespace gangway
