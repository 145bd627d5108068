#include "app/documentation.h"

#include <cctype>
#include <sstream>

#include "app/verbs.h"
#include "cu264/version.h"

namespace cu264::app {
namespace {

constexpr char kRevised[] = "2026-11-22";  // when the text below last changed
constexpr std::size_t kLineWidth = 78;

// Returns text in which roff sees neither escapes nor hyphens nor control lines.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  if (!out.empty() && (out[0] == '.' || out[0] == '\'')) out.insert(0, "\\&");
  return out;
}

// Appends filled text. Each sentence begins a line, so that roff spaces it as a sentence.
void append_text(std::string& page, const std::string& text) {
  std::istringstream words(text);
  std::size_t column = 0;
  for (std::string word; words >> word;) {
    const std::string shown = escaped(word);
    if (column > 0 && column + 1 + shown.size() > kLineWidth) page += '\n', column = 0;
    if (column > 0) page += ' ', ++column;
    page += shown, column += shown.size();
    if (word.back() == '.') page += '\n', column = 0;
  }
  if (column > 0) page += '\n';
}

std::string bold(const std::string& text) {
  return "\\fB" + escaped(text) + "\\fR";
}

std::string italic(const std::string& text) {
  return "\\fI" + escaped(text) + "\\fR";
}

void append_option(std::string& page, const Option& option) {
  page += ".TP\n";
  if (option.letter != 0) page += bold(std::string("-") + option.letter) + ", ";
  page += bold(std::string("--") + option.name);
  if (option.value && option.implied) {
    page.append("[=").append(italic(option.value)).append("]");
  } else if (option.value) {
    page.append(" ").append(italic(option.value));
  }
  page += '\n';
  append_text(page, option.meaning);
}

void append_verb(std::string& page, const VerbHelp& help) {
  std::string title = help.name;
  for (char& c : title) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  page += ".SH " + title + "\n";
  for (std::size_t i = 0; i < help.about.size(); ++i) {
    if (i > 0) page += ".PP\n";
    append_text(page, help.about[i]);
  }
  for (const OptionGroup& group : help.groups) {
    page += ".SS " + escaped(group.title) + "\n";
    for (const Option& option : group.options) append_option(page, option);
  }
  if (help.examples.empty()) return;
  page += ".SS Examples\n.nf\n";
  for (const std::string& example : help.examples) page += escaped(example) + '\n';
  page += ".fi\n";
}

}  // namespace

std::string man_page() {
  std::string page =
      std::string(".TH CU264 1 ") + kRevised + " \"cu264 " + version() + "\" \"User Commands\"\n";
  page += ".SH NAME\ncu264 \\- an H.264 encoder for GPUs and processors\n.SH SYNOPSIS\n";
  bool first = true;
  for (const Verb& verb : all_verbs()) {
    for (const std::string& form : verb.help().forms) {
      page += (first ? "" : ".br\n") + bold("cu264") + " " + escaped(form) + '\n';
      first = false;
    }
  }
  page += ".SH DESCRIPTION\n";
  append_text(page,
              "cu264 encodes video as H.264 in which every picture is an IDR picture, unless --gop asks for "
              "others, on "
              "GPUs with CUDA or on processors, with the same bytes from both. Its other verbs find edges, "
              "compress files, and encrypt or "
              "mark finished streams. Each verb has its own options; cu264 help VERB lists them.");
  for (const Verb& verb : all_verbs()) append_verb(page, verb.help());
  page += ".SH ENVIRONMENT\n.TP\n" + bold("CU264_KEY") + "\n";
  append_text(page,
              "The key of encryption and marks, as 64 hexadecimal digits, where --key-file is not given.");
  page += ".SH EXIT STATUS\n";
  for (const ExitMeaning& exit : exit_meanings())
    page += ".TP\n" + bold(exit.status) + "\n" + escaped(exit.meaning) + "\n";
  page += ".SH SEE ALSO\n.BR ffmpeg (1),\n.BR ffmpeg\\-filters (1)\n";
  return page;
}

}  // namespace cu264::app
