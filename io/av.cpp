#include "io/av.h"

#include <cstdarg>
#include <cstdio>
#include <mutex>
#include <new>

namespace cu264::io {
namespace {

// libav logs from its own threads, and has a single callback for the whole process.
std::mutex log_mutex;
std::string last_complaint;
AvComplaints complaints;

// Returns the category of what logs; the first member of such an object is its class.
AVClassCategory category_of(void* object) {
  const AVClass* const type = object ? *static_cast<AVClass**>(object) : nullptr;
  if (!type) return AV_CLASS_CATEGORY_NA;
  return type->get_category ? type->get_category(object) : type->category;
}

void keep_complaint(void* object, int level, const char* format, va_list arguments) {
  if (level > AV_LOG_ERROR) return;
  char text[256];
  std::vsnprintf(text, sizeof text, format, arguments);
  std::string line(text);
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  while (!line.empty() && (line.back() == ' ' || line.back() == '.')) line.pop_back();
  if (line.empty()) return;
  const AVClassCategory category = category_of(object);
  const std::lock_guard lock(log_mutex);
  // FFmpeg 7 says these after the complaint that gives the reason.
  const bool echoes = line.rfind("Error parsing ", 0) == 0 || line.rfind("Error processing ", 0) == 0;
  if (echoes && !last_complaint.empty()) return;
  last_complaint = line;
  if (category != AV_CLASS_CATEGORY_DEMUXER && category != AV_CLASS_CATEGORY_DECODER) return;
  ++(category == AV_CLASS_CATEGORY_DEMUXER ? complaints.of_demuxers : complaints.of_decoders);
  complaints.last = line;
}

}  // namespace

AvFrame make_frame() {
  AvFrame frame(av_frame_alloc());
  if (!frame) throw std::bad_alloc();
  return frame;
}

AvPacket make_packet() {
  AvPacket packet(av_packet_alloc());
  if (!packet) throw std::bad_alloc();
  return packet;
}

void AvOptions::set(const char* name, const std::string& value) {
  if (av_dict_set(&dictionary_, name, value.c_str(), 0) < 0) throw std::bad_alloc();
}

void set_up_av() {
  av_max_alloc(kMaxAvAllocation);
  av_log_set_level(AV_LOG_ERROR);
  av_log_set_callback(keep_complaint);
}

void forget_av_log() {
  const std::lock_guard lock(log_mutex);
  last_complaint.clear();
}

AvComplaints av_complaints() {
  const std::lock_guard lock(log_mutex);
  return complaints;
}

Error av_error(ErrorCode code, const std::string& file, const std::string& doing, int av_code,
               const std::string& remedy) {
  if (av_code == AVERROR(ENOMEM)) code = ErrorCode::out_of_memory;
  char text[AV_ERROR_MAX_STRING_SIZE] = {};
  av_strerror(av_code, text, sizeof text);
  std::string cause = file + ": " + doing + ": " + text;
  const std::lock_guard lock(log_mutex);
  if (!last_complaint.empty()) cause += ": " + last_complaint;
  return Error(code, cause, remedy);
}

}  // namespace cu264::io
