#include "cmd/simulate/course_text.h"

#include <string>

#include <boost/json.hpp>

#include "api/json_value.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gangway::cmd {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

simulate::Course CourseToPrint() {
  simulate::Course course;
  course.from = absl::FromUnixSeconds(1'795'503'600);
  course.to = course.from + absl::Hours(5);
  course.nodes = 2;
  course.rounds = 7;
  simulate::Story ran;
  ran.ns = "ads";
  ran.name = "ctr";
  ran.queue = "ads";
  ran.pods = 4;
  ran.came = course.from + absl::Hours(1);
  ran.started = course.from + absl::Hours(2);
  ran.ended = course.to;
  ran.ran = {{*ran.started, *ran.started + absl::Hours(1)}, {course.from + absl::Hours(4), course.to}};
  ran.evicted = 1;
  ran.moved = 2;
  ran.waits = {{model::Reason::Kind::kNoRoom, absl::Hours(1), "waits for <4> tasks"}};
  simulate::Story never;
  never.ns = "lab";
  never.name = "large";
  never.queue = "lab";
  never.pods = 64;
  never.came = course.from - absl::Hours(3);
  never.waits = {{model::Reason::Kind::kClusterFull, absl::Hours(8), "waits: too large"}};
  course.gangs = {never, ran};
  course.queues = {{"ads", 1, 1, {{"cpu", 0.5}, {"memory", 0.0001}}}, {"lab", 1, 0, {}}};
  return course;
}

TEST(CourseTextTest, TwoTables) {
  EXPECT_EQ(CourseText(CourseToPrint()),
            "From 2026-11-24T07:00:00Z for 5h0m0s: 2 nodes, 2 gangs\n"
            "\n"
            "QUEUE  GANGS  ENDED  WAIT    99TH    LONGEST  HELD\n"
            "ads    1      1      1h0m0s  1h0m0s  1h0m0s   cpu=50.0%\n"
            "lab    1      0      8h0m0s  8h0m0s  8h0m0s   -\n"
            "\n"
            "GANG       QUEUE  PODS  COMES    WAITS   STARTS   ENDS     EVICTED  MOVED  MOSTLY\n"
            "lab/large  lab    64    -3h0m0s  8h0m0s  never    never    0        0      waits: too large\n"
            "ads/ctr    ads    4     +1h0m0s  1h0m0s  +2h0m0s  +5h0m0s  1        2      waits for <4> tasks\n");
}

TEST(CourseTextTest, Json) {
  const auto json = api::ParseJson(CourseJson(CourseToPrint()));
  ASSERT_TRUE(json.ok()) << json.status();
  const boost::json::value& ran = json->at("gangs").at(1);
  EXPECT_EQ(ran.at("job"), "ctr");
  EXPECT_EQ(ran.at("waitsSeconds"), 3600);
  EXPECT_EQ(ran.at("moved"), 2);
  EXPECT_EQ(ran.at("ran").as_array().size(), 2u);
  EXPECT_EQ(ran.at("waits").at(0).at("seconds"), 3600);
  EXPECT_FALSE(json->at("gangs").at(0).as_object().contains("starts"));
  EXPECT_EQ(json->at("queues").at(0).at("heldPermille").at("cpu"), 500);
  EXPECT_EQ(json->at("from"), "2026-11-24T07:00:00Z");
}

TEST(CourseTextTest, AChartWithALineAGang) {
  const std::string svg = CourseSvg(CourseToPrint());
  EXPECT_THAT(svg, AllOf(HasSubstr("<svg "), HasSubstr("</svg>\n"), HasSubstr(">ads/ctr (4)<"),
                         HasSubstr("lab/large (64)"), HasSubstr("waits for &lt;4&gt; tasks"), Not(HasSubstr("<4>")),
                         HasSubstr("ads/ctr in ads: ran for 1h0m0s"), Not(HasSubstr("are drawn"))));
  // From the second to the third of five hours: a fifth of 960, two fifths behind 260.
  EXPECT_THAT(svg, HasSubstr("x=\"644.0\" y=\"78\" width=\"192.0\""));
  EXPECT_THAT(CourseSvg(CourseToPrint(), 1),
              AllOf(HasSubstr("2 gangs, of which the first 1 are drawn"), Not(HasSubstr("ads/ctr (4)"))));
}

TEST(CourseTextTest, APodGroupIsCalledAsItsJob) {
  EXPECT_EQ(JobNameOf("ctr-0a4cbe11-9d3e-4f6a-8e21-c0ffee123456"), "ctr");
  EXPECT_EQ(JobNameOf("a-name-of-somebody-which-is-rather-long-indeed"),
            "a-name-of-somebody-which-is-rather-long-indeed");
  EXPECT_EQ(JobNameOf("ctr"), "ctr");
}

}  // namespace
}  // namespace gangway::cmd
