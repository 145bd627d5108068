#include "io/tags.h"

#include <algorithm>
#include <array>
#include <new>
#include <string_view>

#include <strings.h>

#include "io/time_range.h"

namespace cu264::io {
namespace {

bool is_one_of(const char* key, const auto& names) {
  return std::any_of(names.begin(), names.end(),
                     [&](const char* name) { return strcasecmp(key, name) == 0; });
}

// These describe the container that the tags come from.
constexpr std::array<const char*, 4> kOfTheContainer{"major_brand", "minor_version", "compatible_brands",
                                                     "encoder"};

// These count or describe what the input's coding was; some have a language after their name.
constexpr std::array<const char*, 8> kOfTheCoding{"encoder",
                                                  "encoder_options",
                                                  "bps",
                                                  "duration",
                                                  "number_of_frames",
                                                  "number_of_bytes",
                                                  "_statistics_writing_app",
                                                  "_statistics_writing_date_utc"};
bool describes_coding(const char* key) {
  const std::string_view name(key);
  return is_one_of(key, kOfTheCoding) ||
         std::any_of(kOfTheCoding.begin() + 2, kOfTheCoding.end(),
                     [&](const char* one) {
                       const std::size_t length = std::string_view(one).size();
                       return name.size() > length && name[length] == '-' &&
                              strncasecmp(key, one, length) == 0;
                     }) ||
         strncasecmp(key, "_statistics_tags", 16) == 0;
}

// The tags of a file that libavformat's muxers write. Matroska takes every name.
constexpr std::array<const char*, 31> kOfMp4{
    "title",        "artist",        "album_artist", "composer",      "writer",           "album",
    "date",         "comment",       "genre",        "copyright",     "grouping",         "lyrics",
    "description",  "synopsis",      "show",         "episode_id",    "network",          "keywords",
    "track",        "disc",          "media_type",   "hd_video",      "gapless_playback", "compilation",
    "episode_sort", "season_number", "tmpo",         "encoding_tool", "creation_time",    "timecode",
    "location"};
constexpr std::array<const char*, 18> kOfMov{
    "title", "artist",  "author",        "composer",  "writer",      "album",
    "date",  "comment", "genre",         "copyright", "description", "synopsis",
    "make",  "model",   "creation_time", "timecode",  "location",    "keywords"};
// The time code has a note of its own, and nearly every file has its creation time.
constexpr std::array<const char*, 2> kNotMissed{"timecode", "creation_time"};
constexpr std::array<const char*, 3> kOfTransportStreams{"title", "service_name", "service_provider"};

bool holds_tag(Container container, const char* key) {
  switch (container) {
    case Container::mkv:
      return true;
    case Container::mp4:
      return is_one_of(key, kOfMp4);
    case Container::mov:
      return is_one_of(key, kOfMov);
    case Container::ts:
      return is_one_of(key, kOfTransportStreams);
    case Container::h264:
      return false;
  }
  return false;
}

void copy_tag(AVDictionary*& to, const AVDictionaryEntry& tag) {
  if (av_dict_set(&to, tag.key, tag.value, 0) < 0) throw std::bad_alloc();
}

const AVDictionaryEntry* next_tag(const AVDictionary* tags, const AVDictionaryEntry* last) {
  return av_dict_get(tags, "", last, AV_DICT_IGNORE_SUFFIX);
}

}  // namespace

void copy_file_tags(AVFormatContext& to, const AVFormatContext& from) {
  for (const AVDictionaryEntry* tag = nullptr; (tag = next_tag(from.metadata, tag)) != nullptr;) {
    if (!is_one_of(tag->key, kOfTheContainer)) copy_tag(to.metadata, *tag);
  }
}

void copy_coded_stream_tags(AVStream& to, const AVStream& from) {
  for (const AVDictionaryEntry* tag = nullptr; (tag = next_tag(from.metadata, tag)) != nullptr;) {
    if (!describes_coding(tag->key)) copy_tag(to.metadata, *tag);
  }
}

void copy_chapters(AVFormatContext& to, const AVFormatContext& from, std::int64_t begin,
                   std::int64_t length) {
  for (unsigned i = 0; i < from.nb_chapters; ++i) {
    const AVChapter& chapter = *from.chapters[i];
    const std::int64_t offset = av_rescale_q(begin, AV_TIME_BASE_Q, chapter.time_base);
    const std::int64_t end =
        length == AV_NOPTS_VALUE ? INT64_MAX : av_rescale_q(length, AV_TIME_BASE_Q, chapter.time_base);
    if (!is_possible_time(chapter.start, chapter.time_base) || !is_between(offset, kMaxTicks)) continue;
    // The end may be unknown.
    const std::int64_t chapter_end =
        is_possible_time(chapter.end, chapter.time_base) ? chapter.end : chapter.start;
    if (chapter_end <= offset && chapter_end > chapter.start) continue;
    if (chapter.start - offset >= end) continue;
    // libavformat's own function for this is not public; it frees what is put here as its own.
    auto** const grown =
        static_cast<AVChapter**>(av_realloc_array(to.chapters, to.nb_chapters + 1, sizeof(AVChapter*)));
    if (!grown) throw std::bad_alloc();
    to.chapters = grown;
    auto* const copy = static_cast<AVChapter*>(av_mallocz(sizeof(AVChapter)));
    if (!copy) throw std::bad_alloc();
    to.chapters[to.nb_chapters++] = copy;
    copy->id = chapter.id;
    copy->time_base = chapter.time_base;
    copy->start = std::max<std::int64_t>(chapter.start - offset, 0);
    copy->end = std::min(chapter_end - offset, end);
    if (av_dict_copy(&copy->metadata, chapter.metadata, 0) < 0) throw std::bad_alloc();
  }
}

std::string lost_file_tags(Container container, const AVFormatContext& from) {
  std::string names;
  for (const AVDictionaryEntry* tag = nullptr; (tag = next_tag(from.metadata, tag)) != nullptr;) {
    if (is_one_of(tag->key, kOfTheContainer) || holds_tag(container, tag->key)) continue;
    if (is_one_of(tag->key, kNotMissed)) continue;
    names += (names.empty() ? "" : ", ") + std::string(tag->key);
  }
  return names;
}

}  // namespace cu264::io
