#include "io/av_input.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <optional>
#include <utility>

extern "C" {
#include <libavutil/avstring.h>
}

#include "io/file_extent.h"
#include "io/input_formats.h"
#include "io/inside_av.h"

namespace cu264::io {
namespace {

constexpr int kIoBufferBytes = 1 << 16;

Error cannot_open(const std::string& path, const std::string& why) {
  return Error(ErrorCode::bad_input, path + ": cannot open: " + why);
}

std::string name_of(const std::string& path) {
  return path == "-" ? "standard input" : path;
}

const AVInputFormat* find_format(const std::string& format, const std::string& file) {
  const AVInputFormat* const found = av_find_input_format(format.c_str());
  if (found) return found;
  throw Error(ErrorCode::unsupported, file + ": FFmpeg was built without the demuxer " + format);
}

// True for the name of a picture, such as .tga, whose content does not tell its format at its beginning.
bool is_named_like_picture(const std::string& path) {
  const AVOutputFormat* const images = av_guess_format("image2", nullptr, nullptr);
  if (!images) return false;
  const AVCodecID codec = av_guess_codec(images, nullptr, path.c_str(), nullptr, AVMEDIA_TYPE_VIDEO);
  return codec != AV_CODEC_ID_MJPEG && codec != AV_CODEC_ID_RAWVIDEO;  // the first stands for unknown names
}

// Finds the format of an open file by its content alone, because a name may be wrong. Returns null for a
// picture that only its name identifies.
const AVInputFormat* probe(AVIOContext* io, const InputOptions& options, const std::string& file) {
  const AVInputFormat* found = nullptr;
  const int result = av_probe_input_buffer2(io, &found, "", nullptr, 0, 0);
  if (result < 0 && options.accepted.empty() && is_named_like_picture(options.path)) return nullptr;
  if (result < 0) throw av_error(ErrorCode::bad_input, file, "cannot open", result);
  if (names_other_files(*found)) {
    throw Error(ErrorCode::bad_input,
                file + ": is a list of other files (" + found->name + "), which are not read unasked",
                std::string("where the verb has it, --demuxer ") + found->name + " reads them");
  }
  const auto is_found = [&](const std::string& name) {
    return av_match_name(name.c_str(), found->name) != 0;
  };
  if (!options.accepted.empty() && std::none_of(options.accepted.begin(), options.accepted.end(), is_found)) {
    std::string list;
    for (const std::string& name : options.accepted) list += (list.empty() ? "" : ", ") + name;
    throw Error(ErrorCode::bad_input,
                file + ": is of the format " + found->name + ", which is not taken here", "one of " + list);
  }
  return found;
}

// True for a pattern of file names. An address is not one, although it may contain the same characters.
bool is_glob(const std::string& path) {
  return path.find_first_of("*?[") != std::string::npos && path.find("://") == std::string::npos;
}

// Refuses an address of a protocol that was not asked for.
void check_protocol(const InputOptions& options) {
  const char* const protocol = avio_find_protocol_name(options.path.c_str());
  if (!protocol || av_match_list(protocol, allowed_protocols(options.protocols).c_str(), ',') > 0) return;
  throw Error(
      ErrorCode::bad_input, options.path + ": is read over the protocol " + protocol,
      std::string("--allow-protocol names what may be used, as ") + protocol + " and what lies below it");
}

// True for an mp4 on a pipe whose pictures have passed before its index came.
bool is_past_pictures(const AVFormatContext& context) {
  if (!context.pb || (context.pb->seekable & AVIO_SEEKABLE_NORMAL) != 0 ||
      av_match_name("mp4", context.iformat->name) == 0) {
    return false;
  }
  for (unsigned i = 0; i < context.nb_streams; ++i) {
    const AVIndexEntry* const first = avformat_index_get_entry(context.streams[i], 0);
    if (first && first->pos < avio_tell(context.pb)) return true;
  }
  return false;
}

// This is AVFormatContext::io_open for an input that is one file.
int open_nothing_else(AVFormatContext*, AVIOContext**, const char*, int, AVDictionary**) {
  return AVERROR(EPERM);
}

char* copied(const std::string& text) {
  char* const copy = av_strdup(text.c_str());
  if (!copy) throw std::bad_alloc();
  return copy;
}

}  // namespace

AvInput::AvInput(const InputOptions& options, std::unique_ptr<InputFile> opened) : stop_(options.stop) {
  forget_av_log();
  const std::string name = name_of(options.path);
  struct stat status {};
  const bool exists = options.path != "-" && stat(options.path.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) throw cannot_open(name, "it is a directory");
  if (exists && S_ISREG(status.st_mode) && status.st_size == 0) throw cannot_open(name, "the file is empty");

  const AVInputFormat* format = nullptr;
  const std::string format_name = options.raw ? "rawvideo" : options.format;
  if (!format_name.empty()) format = find_format(format_name, name);
  const bool is_file = opened || options.path == "-" || exists;
  const bool may_be_sequence = !is_file && (!format || std::strcmp(format->name, "image2") == 0);
  const bool numbered = may_be_sequence && av_filename_number_test(options.path.c_str()) != 0;
  const bool globbed = may_be_sequence && !numbered && is_glob(options.path);
  if (numbered || globbed) {
    format = find_format("image2", name);
    sequence_.emplace(options.path, globbed, options.start_number);
  }
  if (options.start_number && !numbered) {
    throw Error(ErrorCode::invalid_argument, name + ": is no numbered sequence",
                "--start-number is for names such as frame%03d.png");
  }

  AvOptions av_options;
  if (numbered || globbed) av_options.set("pattern_type", globbed ? "glob" : "sequence");
  if (options.start_number) av_options.set("start_number", std::to_string(*options.start_number));
  if (options.raw) {
    av_options.set("video_size",
                   std::to_string(options.raw->width) + "x" + std::to_string(options.raw->height));
    av_options.set("pixel_format", options.raw->pixel_format);
  }
  if (options.frame_rate.num > 0) {
    av_options.set("framerate",
                   std::to_string(options.frame_rate.num) + "/" + std::to_string(options.frame_rate.den));
  }

  const InsideAv inside;
  context_ = avformat_alloc_context();
  if (!context_) throw std::bad_alloc();
  context_->interrupt_callback = {
      [](void* self) -> int { return static_cast<AvInput*>(self)->stopped() ? 1 : 0; }, this};
  try {
    context_->format_whitelist = copied(allowed_formats(format));
    context_->protocol_whitelist = copied(allowed_protocols(options.protocols));
    // Only libavformat itself can follow a list that was asked for, starting from its own address.
    if (is_file && !(format && names_other_files(*format))) {
      read_from(opened ? std::move(opened) : std::make_unique<InputFile>(options.path));
      if (!format) format = probe(file_io_.get(), options, name);
      if (format) {
        context_->io_open = open_nothing_else;
      } else {
        let_libav_read_picture(av_options);
        format = find_format("image2", name);
      }
    }
    if (!is_file) check_protocol(options);
    // A file whose name looks like a protocol is still a file.
    const std::string url = file_io_ ? "" : exists ? "file:" + options.path : options.path;
    const int result = avformat_open_input(&context_, url.c_str(), format, av_options.address());
    if (result < 0) throw av_error(ErrorCode::bad_input, name, "cannot open", result);
    if (is_past_pictures(*context_)) {
      throw Error(
          ErrorCode::bad_input,
          name + ": its index comes after its pictures, and a pipe cannot go back to them",
          "give the file by its name, or write it with the index in front (ffmpeg -movflags faststart)");
    }
    uncompressed_ = options.raw || std::strcmp(context_->iformat->name, "yuv4mpegpipe") == 0;
    if (av_options.has("framerate") && !uncompressed_) {
      throw Error(ErrorCode::invalid_argument, name + ": has timestamps of its own",
                  "--fps is for raw video, YUV4MPEG2, images and elementary streams");
    }
    if (!uncompressed_) {
      const int found = avformat_find_stream_info(context_, nullptr);
      if (found < 0) throw av_error(ErrorCode::bad_input, name, "no stream is recognised", found);
    }
  } catch (...) {
    avformat_close_input(&context_);
    throw;
  }
}

AvInput::~AvInput() {
  avformat_close_input(&context_);
}

std::string AvInput::missing_picture(std::int64_t pictures) const {
  return sequence_ ? sequence_->missing_after(pictures) : std::string();
}

std::string AvInput::missing_end() const {
  return file_ ? io::missing_end(*file_) : std::string();
}

void AvInput::read_from(std::unique_ptr<InputFile> file) {
  file_ = std::move(file);
  auto* buffer = static_cast<unsigned char*>(av_malloc(kIoBufferBytes));
  if (!buffer) throw std::bad_alloc();
  file_io_.reset(avio_alloc_context(buffer, kIoBufferBytes, 0, this, read_file, nullptr,
                                    file_->size() ? seek_file : nullptr));
  if (!file_io_) {
    av_free(buffer);
    throw std::bad_alloc();
  }
  context_->pb = file_io_.get();
  context_->flags |= AVFMT_FLAG_CUSTOM_IO;  // libavformat does not close it
}

// The demuxer of pictures opens a file by its name, which it takes as it is.
void AvInput::let_libav_read_picture(AvOptions& options) {
  context_->pb = nullptr;
  context_->flags &= ~AVFMT_FLAG_CUSTOM_IO;
  file_io_.reset();
  file_.reset();
  av_freep(&context_->format_whitelist);
  context_->format_whitelist = copied("image2");
  options.set("pattern_type", "none");
}

int AvInput::read_file(void* self, std::uint8_t* to, int size) {
  auto& input = *static_cast<AvInput*>(self);
  const ssize_t got = input.file_->try_read_some({to, static_cast<std::size_t>(size)}, input.stop_);
  if (got < 0) return AVERROR(static_cast<int>(-got));
  if (got > 0) return static_cast<int>(got);
  return input.stopped() ? AVERROR_EXIT : AVERROR_EOF;
}

std::int64_t AvInput::seek_file(void* self, std::int64_t offset, int whence) {
  InputFile& file = *static_cast<AvInput*>(self)->file_;
  if (whence & AVSEEK_SIZE) return static_cast<std::int64_t>(*file.size());
  const off_t at = file.try_seek(offset, whence & ~AVSEEK_FORCE);
  return at >= 0 ? at : AVERROR(static_cast<int>(-at));
}

}  // namespace cu264::io
