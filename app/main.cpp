// The command cu264. Each verb has its own file; this one finds the verb, and turns errors into one line and
// an exit code.
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "app/suggest.h"
#include "app/verbs.h"
#include "cu264/version.h"

namespace {

using cu264::app::ExitCode;

constexpr char kHelp[] =
    "cu264: an H.264 encoder whose every picture stands alone\n"
    "\n"
    "  cu264 encode film.mkv -o film.mp4            encode a video\n"
    "  cu264 encode --help                          all its options\n"
    "  cu264 edges photo.jpg -o edges.png           find edges in pictures or video\n"
    "  cu264 vle compress notes.txt -o notes.vle    compress and expand any file\n"
    "  cu264 protect encrypt film.mp4 -o sealed.mp4 encrypt a finished stream, so that it still decodes\n"
    "  cu264 watermark embed film.mp4 -o marked.mp4 mark a finished stream\n"
    "  cu264 hide put film.mp4 -o full.mp4          hide data in a finished stream\n"
    "  cu264 devices                                what it can run on\n"
    "  cu264 --help | --version\n"
    "\n"
    "Exit status: 0 done, 1 usage, 2 input, 3 device, 4 encoding or writing, 5 verification failed,\n"
    "130 interrupted (the file holds the pictures so far).\n";

ExitCode fail(ExitCode code, const std::string& message) {
  std::fprintf(stderr, "cu264: error: %s\n", message.c_str());
  return code;
}

struct Verb {
  const char* name;
  ExitCode (*run)(const std::vector<std::string>& arguments);
};
constexpr Verb kVerbs[] = {
    {"encode", cu264::app::encode_verb},   {"edges", cu264::app::edges_verb},
    {"protect", cu264::app::protect_verb}, {"watermark", cu264::app::watermark_verb},
    {"hide", cu264::app::hide_verb},       {"vle", cu264::app::vle_verb},
    {"devices", cu264::app::devices_verb},
};

ExitCode run(const std::vector<std::string>& arguments) {
  if (arguments.empty()) return fail(ExitCode::usage, "nothing to do (cu264 --help tells what there is)");
  const std::string& verb = arguments[0];
  const std::vector<std::string> rest(arguments.begin() + 1, arguments.end());
  for (const Verb& known : kVerbs) {
    if (verb == known.name) return known.run(rest);
  }
  if (verb == "--help" || verb == "-h" || verb == "help") return std::fputs(kHelp, stdout), ExitCode::done;
  if (verb == "--version") return std::printf("cu264 %s\n", cu264::version()), ExitCode::done;
  std::vector<std::string> names{"--help", "--version"};
  std::string list;
  for (const Verb& known : kVerbs) {
    names.emplace_back(known.name);
    list += std::string(known.name) + ", ";
  }
  const std::string near = cu264::app::suggest(verb, names);
  return fail(ExitCode::usage,
              "unknown verb '" + verb + "' (" +
                  (near.empty() ? list + "--help or --version" : "did you mean " + near + "?") + ")");
}

}  // namespace

int main(int count, char** values) {
  ExitCode code = ExitCode::encode;
  try {
    code = run(std::vector<std::string>(values + 1, values + count));
  } catch (const cu264::Error& error) {
    code = fail(cu264::app::exit_code_of(error.code()), error.what());
  } catch (const std::bad_alloc&) {
    code = fail(ExitCode::encode, "out of memory (fewer --threads need less)");
  } catch (const std::exception& error) {
    code = fail(ExitCode::encode, std::string("internal: ") + error.what() + " (please report it)");
  }
  if (std::fflush(stdout) != 0 && code == ExitCode::done) {
    code = fail(ExitCode::encode, "standard output cannot be written");
  }
  return static_cast<int>(code);
}
