// The command cu264. Each verb has its own file; this one finds the verb, and turns errors into one line and
// an exit code.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "app/interrupt.h"
#include "app/verbs.h"
#include "cu264/version.h"

namespace {

using cu264::app::ExitCode;

ExitCode fail(ExitCode code, const std::string& message) {
  std::fprintf(stderr, "cu264: error: %s\n", message.c_str());
  return code;
}

ExitCode run(const std::vector<std::string>& arguments) {
  if (arguments.empty()) return fail(ExitCode::usage, "nothing to do (cu264 help tells what there is)");
  const std::string& verb = arguments[0];
  const std::vector<std::string> rest(arguments.begin() + 1, arguments.end());
  if (verb == "--help" || verb == "-h") return cu264::app::help_verb(rest);
  if (verb == "--version" || verb == "-V") return std::puts(cu264::build_info()), ExitCode::done;
  return cu264::app::find_verb(verb).run(rest);
}

}  // namespace

int main(int count, char** values) {
  ExitCode code = ExitCode::encode;
  // Queues of a device for the streams of this process; CUDA reads it when it starts (docs/cabac.md).
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
  try {
    code = run(std::vector<std::string>(values + 1, values + count));
  } catch (const cu264::app::Interrupted&) {
    std::fputs("cu264: interrupted\n", stderr);
    code = cu264::app::interrupted_exit();
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
