// A course as `gangway simulate` prints it. Pure.
#pragma once

#include <string>

#include "plugin/simulate/course.h"

namespace gangway::cmd {

// Of a Job's PodGroup, "<job>-<uid>", the Job's.
std::string JobNameOf(const std::string& group);

// Two tables: queues, and gangs by when they came.
std::string CourseText(const simulate::Course& course);
std::string CourseJson(const simulate::Course& course);
// A Gantt chart: a line a gang, the first `most` of them, with what it waited and when it ran, in the colour of its
// queue.
std::string CourseSvg(const simulate::Course& course, std::size_t most = 500);

}  // namespace gangway::cmd
