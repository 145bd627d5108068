// Several threads that use the library at the same time, each in its own way, get what each gets alone.
#include <gtest/gtest.h>

#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cu264/canny.h"
#include "cu264/vle.h"
#include "support/encode.h"
#include "tests/parity/session_checks.h"
#include "tests/unit/vle_inputs.h"

namespace cu264::parity {
namespace {

// Work whose result is to be the same on both backends.
struct Job {
  std::string name;
  std::function<std::vector<std::uint8_t>(BackendChoice)> run;
};

Job encoding(Config config, int width, int height, int count) {
  config.width = width, config.height = height;
  std::vector<test::Picture> pictures;
  for (int i = 0; i < count; ++i) {
    const test::Content content = i % 3 == 2 ? test::Content::noise : test::Content::natural;
    pictures.push_back(test::make_picture(content, width, height, static_cast<std::uint32_t>(i)));
  }
  return {text(config), [config, pictures](BackendChoice backend) {
            Config own = config;
            own.backend = backend;
            return test::encode(own, pictures).bytes();
          }};
}

Job detecting(canny::Partition partition, int width, int height) {
  canny::Params params;
  params.partition = partition;
  const test::Picture picture = test::make_picture(test::Content::natural, width, height);
  return {"edges of " + std::to_string(width) + "x" + std::to_string(height),
          [params, picture](BackendChoice backend) {
            canny::ExecutionOptions execution;
            execution.backend = backend;
            return canny::detect(params, picture.plane(0), picture.width, picture.width, picture.height,
                                 execution);
          }};
}

Job compressing(std::size_t bytes) {
  return {"codes of " + std::to_string(bytes) + " bytes",
          [input = test::steep_bytes(bytes, static_cast<unsigned>(bytes))](BackendChoice backend) {
            vle::StreamOptions options;
            options.backend = backend;
            return vle::compress(input, options);
          }};
}

// What differs in the shared memory that kernels take: the sizes of pictures, slices and batches, the preset,
// the QP, the entropy coder.
std::vector<Job> encodings(const std::vector<std::pair<int, int>>& sizes, int pictures) {
  std::vector<Job> jobs;
  int number = 0;
  for (const auto& [width, height] : sizes) {
    for (const Preset preset : {Preset::fast, Preset::balanced, Preset::best}) {
      Config config = number % 3 == 1 ? test::baseline_config() : Config();
      config.preset = preset;
      config.qp = 4 + 9 * (number % 5);
      config.slices = 1 + number % 2;
      config.batch = number % 4 == 0 ? 1 : 3 * (number % 4);
      if (number % 4 == 3) config.edge_guided = 2;
      if (number % 5 == 2) config.crf = 25;
      ++number;
      jobs.push_back(encoding(config, width, height, pictures));
    }
  }
  return jobs;
}

class ThreadsParity : public DeviceTest {
 protected:
  // Each thread does the jobs in another order, so that all of them meet.
  static void expect_as_alone(const std::vector<Job>& jobs, int threads, int rounds) {
    std::vector<std::vector<std::uint8_t>> expected;
    for (const Job& job : jobs) expected.push_back(job.run(BackendChoice::cpu));
    std::vector<std::string> faults(static_cast<std::size_t>(threads));
    std::vector<std::thread> running;
    for (int thread = 0; thread < threads; ++thread) {
      running.emplace_back([&, thread] {
        std::string& fault = faults[static_cast<std::size_t>(thread)];
        for (std::size_t i = 0; i < jobs.size() * static_cast<std::size_t>(rounds); ++i) {
          const std::size_t step = 1 + 2 * (static_cast<std::size_t>(thread) % 7);
          const std::size_t at = (static_cast<std::size_t>(thread) * 5 + i * step) % jobs.size();
          try {
            if (jobs[at].run(BackendChoice::cuda) != expected[at]) fault += jobs[at].name + " differs; ";
          } catch (const std::exception& error) {
            fault += jobs[at].name + ": " + error.what() + "; ";
          }
        }
      });
    }
    for (std::thread& thread : running) thread.join();
    for (const std::string& fault : faults) EXPECT_EQ(fault, "");
  }
};

TEST_F(ThreadsParity, SmallCase) {
  expect_as_alone(encodings({{33, 35}}, 2), 3, 1);
}

TEST_F(ThreadsParity, EncodersOfManyKinds) {
  expect_as_alone(encodings({{16, 32}, {130, 66}, {352, 288}, {640, 360}, {1280, 720}}, 6), 16, 2);
}

TEST_F(ThreadsParity, AllPartsOfTheLibrary) {
  std::vector<Job> jobs = encodings({{64, 48}, {320, 180}}, 6);
  for (const canny::Partition partition :
       {canny::Partition::columns, canny::Partition::rows, canny::Partition::frame}) {
    jobs.push_back(detecting(partition, 86, 60));
    jobs.push_back(detecting(partition, 640, 480));
  }
  jobs.push_back(compressing(1025));
  jobs.push_back(compressing(3'000'000));
  expect_as_alone(jobs, 16, 4);
}

}  // namespace
}  // namespace cu264::parity
