// Compares edge maps with pictures in which people have marked edges, and decoded video with its source.
//
//   edge_quality FOLDER [--map NAME=MAPS]...   prints the paper's table 1, and all methods side by side.
//   FOLDER
//                                              holds sets of pictures, uded and bsds500: NAME.png or .jpg and
//                                              NAME_gt.png (non-zero: marked). MAPS holds SET/NAME.png, the
//                                              edge maps of another detector
//   edge_quality --fidelity SOURCE DECODED     prints the mean F of the edge maps of the decoded pictures
//                                              against those of the source
//
// Options: --tolerance N (2 pixels), --sigma TENTHS (14)
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "bench/edge_score.h"
#include "cu264/canny.h"
#include "io/reader.h"

namespace cu264::bench {
namespace {

namespace fs = std::filesystem;

struct Luma {
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> samples;
};

bool read_luma(io::Reader& reader, Luma& luma) {
  io::VideoPicture picture;
  std::vector<io::AvPacket> side;
  if (!reader.read(picture, side)) return false;
  const Frame frame = picture.view();
  luma.width = frame.width, luma.height = frame.height;
  luma.samples.resize(static_cast<std::size_t>(frame.width) * frame.height);
  for (int y = 0; y < frame.height; ++y) {
    std::copy_n(frame.plane[0] + y * frame.pitch[0], frame.width, luma.samples.begin() + y * frame.width);
  }
  return true;
}

io::Reader open(const std::string& path) {
  io::ReaderOptions options;
  options.input.path = path;
  return io::Reader(options);
}

Luma read_picture(const std::string& path) {
  io::Reader reader = open(path);
  Luma luma;
  read_luma(reader, luma);
  return luma;
}

BinaryMap binary(const Luma& luma, int above) {
  BinaryMap map{luma.width, luma.height, luma.samples};
  for (std::uint8_t& pixel : map.pixels) pixel = pixel > above;
  return map;
}

struct Example {
  std::string set;
  std::string name;
  Luma picture;
  BinaryMap truth;
};

// Marked pixels are at least this bright, because black may be stored as 16.
constexpr int kMarked = 20;
constexpr const char* kSets[] = {"uded", "bsds500"};
constexpr int kSetCount = 2;

std::vector<Example> read_examples(const fs::path& folder) {
  std::vector<Example> examples;
  for (const char* set : kSets) {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(folder / set)) files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    for (const fs::path& file : files) {
      const std::string name = file.stem().string(), extension = file.extension().string();
      const fs::path truth = file.parent_path() / (name + "_gt.png");
      if ((extension != ".png" && extension != ".jpg") || !fs::exists(truth)) continue;
      examples.push_back(
          {set, name, read_picture(file.string()), binary(read_picture(truth.string()), kMarked)});
    }
  }
  return examples;
}

BinaryMap detect(const canny::Params& params, const Luma& luma) {
  BinaryMap map{luma.width, luma.height,
                canny::detect(params, luma.samples.data(), luma.width, luma.width, luma.height)};
  for (std::uint8_t& pixel : map.pixels) pixel &= 1;
  return map;
}

struct Method {
  std::string name;
  std::vector<EdgeScore> scores;  // [example]
};

canny::Params params_of(int sigma_tenths, bool fine, canny::Partition partition) {
  canny::Params params;
  params.sigma_tenths = sigma_tenths;
  params.candidates = fine ? canny::candidates_001() : canny::candidates_003();
  params.partition = partition;
  return params;
}

Method run(const std::string& name, const std::vector<Example>& examples, int tolerance,
           const std::function<BinaryMap(const Example&)>& map_of) {
  Method method{name, {}};
  for (const Example& example : examples) {
    method.scores.push_back(score(map_of(example), example.truth, tolerance));
  }
  return method;
}

EdgeScore mean(const Method& method, const std::vector<Example>& examples, const std::string& set) {
  EdgeScore sum;
  int count = 0;
  for (std::size_t i = 0; i < examples.size(); ++i) {
    if (examples[i].set != set) continue;
    const EdgeScore& s = method.scores[i];
    sum.mse += s.mse, sum.precision += s.precision, sum.recall += s.recall, sum.f += s.f;
    ++count;
  }
  return {sum.mse / count, sum.precision / count, sum.recall / count, sum.f / count};
}

// The paper's table 1. The `methods` are frame-level and distributed with C0.01, then with C0.03.
void print_table_1(const std::vector<Example>& examples, const std::vector<Method>& methods) {
  std::printf(
      "MSE against human marks\n\n| picture | frame, C0.01 | dist., C0.01 | frame, C0.03 | dist., C0.03 |\n");
  std::printf("|---|---|---|---|---|\n");
  double sums[4] = {};
  for (std::size_t i = 0; i < examples.size(); ++i) {
    std::printf("| %s/%s (%dx%d)", examples[i].set.c_str(), examples[i].name.c_str(),
                examples[i].picture.width, examples[i].picture.height);
    for (int k = 0; k < 4; ++k) {
      std::printf(" | %.4f", methods[k].scores[i].mse);
      sums[k] += methods[k].scores[i].mse;
    }
    std::printf(" |\n");
  }
  std::printf("| average");
  for (const double sum : sums) std::printf(" | %.4f", sum / static_cast<double>(examples.size()));
  std::printf(" |\n\n");
}

void print_methods(const std::vector<Example>& examples, const std::vector<Method>& methods, int tolerance) {
  std::printf("F with %d pixels of tolerance\n\n", tolerance);
  std::printf(
      "| method | UDED MSE | P | R | F | BSDS MSE | P | R | F | mean F "
      "|\n|---|---|---|---|---|---|---|---|---|---|\n");
  for (const Method& method : methods) {
    std::printf("| %s", method.name.c_str());
    double f = 0;
    for (const char* set : kSets) {
      const EdgeScore s = mean(method, examples, set);
      std::printf(" | %.4f | %.3f | %.3f | %.3f", s.mse, s.precision, s.recall, s.f);
      f += s.f / kSetCount;
    }
    std::printf(" | %.4f |\n", f);
  }
}

int compare_methods(const std::string& folder, int tolerance, int sigma,
                    const std::vector<std::pair<std::string, std::string>>& peers) {
  const std::vector<Example> examples = read_examples(folder);
  std::vector<Method> methods;
  for (const bool fine : {true, false}) {
    for (const canny::Partition partition :
         {canny::Partition::frame, canny::Partition::columns, canny::Partition::rows}) {
      if (fine && partition == canny::Partition::rows) continue;
      const char* const part = partition == canny::Partition::frame     ? "frame-level"
                               : partition == canny::Partition::columns ? "distributed 32xH"
                                                                        : "distributed Wx32";
      const canny::Params params = params_of(sigma, fine, partition);
      methods.push_back(run(std::string(fine ? "C0.01, " : "C0.03, ") + part, examples, tolerance,
                            [&](const Example& example) { return detect(params, example.picture); }));
    }
  }
  print_table_1(examples, methods);
  for (const canny::Partition partition : {canny::Partition::frame, canny::Partition::columns}) {
    canny::Params params = params_of(sigma, false, partition);
    params.density_scaling = true;
    methods.push_back(run(std::string("density scaling, C0.03, ") +
                              (partition == canny::Partition::frame ? "frame-level" : "distributed 32xH"),
                          examples, tolerance,
                          [&](const Example& example) { return detect(params, example.picture); }));
  }
  canny::Params constant = params_of(sigma, false, canny::Partition::frame);
  constant.fixed = canny::ThresholdPair{8, 19};
  methods.push_back(run("constant pair (0.08, 0.19)", examples, tolerance,
                        [&](const Example& example) { return detect(constant, example.picture); }));
  methods.push_back(run("empty map", examples, tolerance, [](const Example& example) {
    return BinaryMap{example.truth.width, example.truth.height,
                     std::vector<std::uint8_t>(example.truth.pixels.size())};
  }));
  for (const auto& [name, maps] : peers) {
    methods.push_back(run(name, examples, tolerance, [&](const Example& example) {
      return binary(read_picture(maps + "/" + example.set + "/" + example.name + ".png"), kMarked);
    }));
  }
  print_methods(examples, methods, tolerance);
  return 0;
}

int fidelity(const std::string& source, const std::string& decoded, int tolerance, int sigma) {
  io::Reader source_reader = open(source), decoded_reader = open(decoded);
  const canny::Params params = params_of(sigma, false, canny::Partition::columns);
  Luma a, b;
  double sum = 0;
  int count = 0;
  while (read_luma(source_reader, a) && read_luma(decoded_reader, b)) {
    // The decoded picture may be one column or row larger, because odd sizes are widened.
    if (b.width < a.width || b.height < a.height) {
      std::fprintf(stderr, "edge_quality: %s: smaller than its source\n", decoded.c_str());
      return 1;
    }
    Luma cut{a.width, a.height, std::vector<std::uint8_t>(a.samples.size())};
    for (int y = 0; y < a.height; ++y) {
      std::copy_n(b.samples.begin() + y * b.width, a.width, cut.samples.begin() + y * a.width);
    }
    sum += score(detect(params, cut), detect(params, a), tolerance).f;
    ++count;
  }
  if (count == 0) return std::fprintf(stderr, "edge_quality: no pictures\n"), 1;
  std::printf("%d pictures, mean F %.4f\n", count, sum / count);
  return 0;
}

int usage() {
  std::fprintf(
      stderr,
      "edge_quality FOLDER [--map NAME=MAPS]... | --fidelity SOURCE DECODED [--tolerance N] [--sigma "
      "TENTHS]\n");
  return 1;
}

int main(int count, char** values) {
  std::vector<std::string> files;
  std::vector<std::pair<std::string, std::string>> peers;
  int tolerance = 2, sigma = 14;
  bool video = false;
  for (int i = 1; i < count; ++i) {
    const std::string argument = values[i];
    const bool more = i + 1 < count;
    if (argument == "--fidelity") {
      video = true;
    } else if (argument == "--tolerance" && more) {
      tolerance = std::atoi(values[++i]);
    } else if (argument == "--sigma" && more) {
      sigma = std::atoi(values[++i]);
    } else if (argument == "--map" && more) {
      const std::string value = values[++i];
      const std::size_t equals = value.find('=');
      if (equals == std::string::npos) return usage();
      peers.emplace_back(value.substr(0, equals), value.substr(equals + 1));
    } else {
      files.push_back(argument);
    }
  }
  if (files.size() != (video ? 2u : 1u)) return usage();
  return video ? fidelity(files[0], files[1], tolerance, sigma)
               : compare_methods(files[0], tolerance, sigma, peers);
}

}  // namespace
}  // namespace cu264::bench

int main(int count, char** values) {
  try {
    return cu264::bench::main(count, values);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "edge_quality: %s\n", error.what());
    return 1;
  }
}
