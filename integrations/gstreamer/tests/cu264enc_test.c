/* The element alone: what goes in by its sink pad, and what comes out. */
#include <gst/check/gstharness.h>
#include <gst/gst.h>
#include <gst/video/video.h>
#include <string.h>

#define CAPS_64x48 "video/x-raw,format=I420,width=64,height=48,framerate=25/1"
enum { kDuration = 40 * GST_MSECOND };

typedef struct {
  GstHarness* harness;
  GstBus* bus;
  GstVideoInfo info;
  guint sent;
} Fixture;

static void set_caps(Fixture* own, const char* text) {
  GstCaps* const caps = gst_caps_from_string(text);
  g_assert_true(gst_video_info_from_caps(&own->info, caps));
  gst_harness_set_src_caps(own->harness, caps);
}

/* `description` is that of the element with its properties, as gst-launch-1.0 takes it. */
static Fixture open_with(const char* description, const char* sink_caps, const char* caps) {
  Fixture own = {0};
  own.harness = gst_harness_new_parse(description);
  own.bus = gst_bus_new();
  gst_element_set_bus(own.harness->element, own.bus);
  gst_harness_set_sink_caps_str(own.harness, sink_caps);
  if (caps != NULL) set_caps(&own, caps);
  return own;
}

static Fixture open_element(const char* description) {
  return open_with(description, "video/x-h264,stream-format=byte-stream", CAPS_64x48);
}

static void close_element(Fixture* own) {
  gst_element_set_bus(own->harness->element, NULL);
  gst_object_unref(own->bus);
  gst_harness_teardown(own->harness);
}

/* A picture that changes with its number. */
static GstBuffer* picture(const GstVideoInfo* info, guint number) {
  GstBuffer* const buffer = gst_buffer_new_allocate(NULL, GST_VIDEO_INFO_SIZE(info), NULL);
  GstMapInfo map;
  gst_buffer_map(buffer, &map, GST_MAP_WRITE);
  for (gsize i = 0; i < map.size; ++i) map.data[i] = (guint8)(16 + (i * i / 7 + 13 * i + 31 * number) % 200);
  gst_buffer_unmap(buffer, &map);
  GST_BUFFER_PTS(buffer) = GST_SECOND + number * kDuration;
  GST_BUFFER_DURATION(buffer) = kDuration;
  return buffer;
}

static void set_property(Fixture* own, const char* name, const char* value) {
  GstElement* const element = gst_harness_find_element(own->harness, "cu264enc");
  gst_util_set_object_arg(G_OBJECT(element), name, value);
  gst_object_unref(element);
}

static void send(Fixture* own, guint count) {
  for (guint i = 0; i < count; ++i)
    g_assert_cmpint(gst_harness_push(own->harness, picture(&own->info, own->sent++)), ==, GST_FLOW_OK);
}

static void end(Fixture* own) {
  g_assert_true(gst_harness_push_event(own->harness, gst_event_new_eos()));
}

static guint8 byte_at(GstBuffer* buffer, gsize offset) {
  guint8 byte = 0;
  g_assert_cmpuint(gst_buffer_extract(buffer, offset, &byte, 1), ==, 1);
  return byte;
}

/* The type of the first NAL unit of a byte stream. */
static guint first_type(GstBuffer* buffer) {
  static const guint8 kStart[4] = {0, 0, 0, 1};
  g_assert_cmpint(gst_buffer_memcmp(buffer, 0, kStart, sizeof kStart), ==, 0);
  return byte_at(buffer, 4) & 31;
}

/* Takes packets until there are none, checks their times from `first` on, and returns their bytes. */
static GByteArray* receive(Fixture* own, guint first, guint count) {
  GByteArray* const bytes = g_byte_array_new();
  for (guint i = 0; i < count; ++i) {
    GstBuffer* const buffer = gst_harness_try_pull(own->harness);
    g_assert_nonnull(buffer);
    g_assert_cmpuint(GST_BUFFER_PTS(buffer), ==, GST_SECOND + (first + i) * kDuration);
    g_assert_cmpuint(GST_BUFFER_DTS(buffer), ==, GST_BUFFER_PTS(buffer));
    g_assert_cmpuint(GST_BUFFER_DURATION(buffer), ==, kDuration);
    g_assert_false(GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_DELTA_UNIT));
    GstMapInfo map;
    gst_buffer_map(buffer, &map, GST_MAP_READ);
    g_byte_array_append(bytes, map.data, (guint)map.size);
    gst_buffer_unmap(buffer, &map);
    gst_buffer_unref(buffer);
  }
  g_assert_null(gst_harness_try_pull(own->harness));
  return bytes;
}

static void receive_all(Fixture* own, guint first, guint count) {
  g_byte_array_unref(receive(own, first, count));
}

static char* source_caps(Fixture* own) {
  GstCaps* const caps = gst_pad_get_current_caps(own->harness->sinkpad);
  char* const text = gst_caps_to_string(caps);
  gst_caps_unref(caps);
  return text;
}

static void assert_caps_have(Fixture* own, const char* part) {
  char* const caps = source_caps(own);
  if (strstr(caps, part) == NULL) g_error("no %s in %s", part, caps);
  g_free(caps);
}

/* The text of the next warning or error, or null. */
static char* posted(Fixture* own, GstMessageType type) {
  GstMessage* const message = gst_bus_pop_filtered(own->bus, type);
  if (message == NULL) return NULL;
  GError* error = NULL;
  if (type == GST_MESSAGE_ERROR)
    gst_message_parse_error(message, &error, NULL);
  else
    gst_message_parse_warning(message, &error, NULL);
  char* const text = g_strdup(error->message);
  g_error_free(error);
  gst_message_unref(message);
  return text;
}

static void assert_posted(Fixture* own, GstMessageType type, const char* part) {
  char* const text = posted(own, type);
  if (text == NULL || strstr(text, part) == NULL) g_error("no \"%s\" in \"%s\"", part, text);
  g_free(text);
}

/* ---- Frames and times ---------------------------------------------------------------------------------- */

static void test_times(void) {
  Fixture own = open_element("cu264enc");
  send(&own, 10);
  end(&own);
  receive_all(&own, 0, 10);
  assert_caps_have(&own, "profile=(string)constrained-high");
  assert_caps_have(&own, "level=(string)1");
  assert_caps_have(&own, "width=(int)64, height=(int)48");
  close_element(&own);
}

static void test_more_after_eos(void) {
  Fixture own = open_element("cu264enc bitrate=500");
  send(&own, 5);
  end(&own);
  receive_all(&own, 0, 5);
  gst_harness_push_event(own.harness, gst_event_new_stream_start("again"));
  set_caps(&own, CAPS_64x48);
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  gst_harness_push_event(own.harness, gst_event_new_segment(&segment));
  send(&own, 3);
  end(&own);
  receive_all(&own, 5, 3);
  close_element(&own);
}

static void test_new_size(void) {
  Fixture own = open_element("cu264enc bitrate=500 repeat-sequence-header=false");
  send(&own, 4);
  set_caps(&own, "video/x-raw,format=NV12,width=99,height=64,framerate=25/1");
  receive_all(&own, 0, 4);
  send(&own, 3);
  end(&own);
  GByteArray* const bytes = receive(&own, 4, 3);
  g_assert_cmpuint(bytes->data[4] & 31, ==, 7);
  assert_caps_have(&own, "width=(int)100, height=(int)64");
  assert_posted(&own, GST_MESSAGE_WARNING, "100");
  g_byte_array_unref(bytes);
  close_element(&own);
}

static void test_flush(void) {
  Fixture own = open_element("cu264enc bitrate=500 repeat-sequence-header=false");
  send(&own, 6);
  gst_harness_push_event(own.harness, gst_event_new_flush_start());
  gst_harness_push_event(own.harness, gst_event_new_flush_stop(TRUE));
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  gst_harness_push_event(own.harness, gst_event_new_segment(&segment));
  send(&own, 3);
  end(&own);
  GByteArray* const bytes = receive(&own, 6, 3);
  g_assert_cmpuint(bytes->data[4] & 31, ==, 7);
  g_byte_array_unref(bytes);
  close_element(&own);
}

static void test_input_is_given_back(void) {
  Fixture own = open_element("cu264enc bitrate=500"); /* which looks 40 pictures ahead */
  GstBuffer* const frame = picture(&own.info, 0);
  gst_harness_push(own.harness, gst_buffer_ref(frame));
  g_assert_null(gst_harness_try_pull(own.harness));
  g_assert_cmpint(GST_MINI_OBJECT_REFCOUNT_VALUE(frame), ==, 1);
  gst_buffer_unref(frame);
  end(&own);
  receive_all(&own, 0, 1);
  close_element(&own);
}

static void test_strides(void) {
  Fixture plain = open_element("cu264enc"), padded = open_element("cu264enc");
  GstBuffer* const frame = picture(&plain.info, 0);
  gsize offset[GST_VIDEO_MAX_PLANES] = {16, 16 + 80 * 48, 16 + 80 * 48 + 48 * 24};
  gint stride[GST_VIDEO_MAX_PLANES] = {80, 48, 48};
  GstBuffer* const wide = gst_buffer_new_allocate(NULL, 16 + 80 * 48 + 2 * 48 * 24, NULL);
  gst_buffer_copy_into(wide, frame, GST_BUFFER_COPY_TIMESTAMPS, 0, -1);
  gst_buffer_add_video_meta_full(wide, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_I420, 64, 48, 3, offset,
                                 stride);
  GstVideoFrame from, to;
  g_assert_true(gst_video_frame_map(&from, &plain.info, frame, GST_MAP_READ));
  g_assert_true(gst_video_frame_map(&to, &plain.info, wide, GST_MAP_WRITE));
  gst_video_frame_copy(&to, &from);
  gst_video_frame_unmap(&to);
  gst_video_frame_unmap(&from);
  gst_harness_push(plain.harness, frame);
  gst_harness_push(padded.harness, wide);
  end(&plain), end(&padded);
  GByteArray *const a = receive(&plain, 0, 1), *const b = receive(&padded, 0, 1);
  g_assert_cmpmem(a->data, a->len, b->data, b->len);
  g_byte_array_unref(a), g_byte_array_unref(b);
  close_element(&plain), close_element(&padded);
}

static void test_formats(void) {
  static const char* const formats[] = {"I420", "YV12", "NV12", "GRAY8", "RGB",  "BGR", "RGBx",
                                        "RGBA", "BGRx", "BGRA", "GBR",   "RGBP", "BGRP"};
  for (guint i = 0; i < G_N_ELEMENTS(formats); ++i) {
    char* const caps = g_strdup_printf("video/x-raw,format=%s,width=33,height=17,framerate=25/1", formats[i]);
    Fixture own = open_with("cu264enc", "video/x-h264", caps);
    send(&own, 2);
    end(&own);
    receive_all(&own, 0, 2);
    if (GST_VIDEO_INFO_IS_RGB(&own.info)) assert_caps_have(&own, "colorimetry=(string)2:4:7:1");
    close_element(&own);
    g_free(caps);
  }
}

/* Bytes of a planar and a packed picture of the same samples. */
static void test_planes_of_rgb(void) {
  static const char* const formats[] = {"RGB", "BGR", "RGBx", "BGRx", "GBR", "RGBP", "BGRP"};
  GByteArray* first = NULL;
  for (guint i = 0; i < G_N_ELEMENTS(formats); ++i) {
    char* const caps = g_strdup_printf("video/x-raw,format=%s,width=32,height=16,framerate=25/1", formats[i]);
    Fixture own = open_with("cu264enc", "video/x-h264", caps);
    GstBuffer* const frame = picture(&own.info, 0);
    GstVideoFrame mapped;
    gst_video_frame_map(&mapped, &own.info, frame, GST_MAP_WRITE);
    for (gint c = 0; c < 3; ++c)
      for (gint y = 0; y < 16; ++y)
        for (gint x = 0; x < 32; ++x) GST_VIDEO_FRAME_COMP_DATA(&mapped, c)
    [y * GST_VIDEO_FRAME_COMP_STRIDE(&mapped, c) + x * GST_VIDEO_FRAME_COMP_PSTRIDE(&mapped, c)] =
        (guint8)(60 * c + 3 * x + y);
    gst_video_frame_unmap(&mapped);
    gst_harness_push(own.harness, frame);
    end(&own);
    GByteArray* const bytes = receive(&own, 0, 1);
    if (first == NULL) first = g_byte_array_ref(bytes);
    g_assert_cmpmem(first->data, first->len, bytes->data, bytes->len);
    g_byte_array_unref(bytes);
    close_element(&own);
    g_free(caps);
  }
  g_byte_array_unref(first);
}

static void test_description(void) {
  Fixture own = open_with("cu264enc", "video/x-h264",
                          "video/x-raw,format=I420,width=64,height=48,framerate=0/1,pixel-aspect-ratio=16/11,"
                          "colorimetry=bt2100-pq,chroma-site=cosited");
  send(&own, 2);
  end(&own);
  receive_all(&own, 0, 2);
  assert_caps_have(&own, "framerate=(fraction)0/1");
  assert_caps_have(&own, "pixel-aspect-ratio=(fraction)16/11");
  assert_caps_have(&own, "colorimetry=(string)bt2100-pq");
  assert_caps_have(&own, "chroma-site=(string)cosited");
  close_element(&own);
}

static void test_interlaced_is_refused(void) {
  Fixture own = open_with("cu264enc", "video/x-h264", CAPS_64x48 ",interlace-mode=interleaved");
  g_assert_cmpint(gst_harness_push(own.harness, picture(&own.info, 0)), ==, GST_FLOW_NOT_NEGOTIATED);
  assert_posted(&own, GST_MESSAGE_ERROR, "deinterlace");
  char* const again = posted(&own, GST_MESSAGE_ERROR); /* that of the base class at most */
  g_assert_null(again);
  close_element(&own);
}

/* ---- Streams ------------------------------------------------------------------------------------------- */

static void test_avc(void) {
  Fixture own = open_with("cu264enc aud=true", "video/x-h264,stream-format=avc,alignment=au", CAPS_64x48);
  send(&own, 3);
  end(&own);
  assert_caps_have(&own, "codec_data=(buffer)0164");
  assert_caps_have(&own, "stream-format=(string)avc");
  for (guint i = 0; i < 3; ++i) {
    GstBuffer* const buffer = gst_harness_pull(own.harness);
    gsize at = 0;
    for (guint units = 0; at < gst_buffer_get_size(buffer); ++units) {
      guint8 length[4];
      gst_buffer_extract(buffer, at, length, 4);
      const guint type = byte_at(buffer, at + 4) & 31;
      g_assert_cmpint(type == 9, ==, units == 0);
      g_assert_true(type != 7 && type != 8);
      at += 4 + GST_READ_UINT32_BE(length);
    }
    g_assert_cmpuint(at, ==, gst_buffer_get_size(buffer));
    gst_buffer_unref(buffer);
  }
  close_element(&own);
}

static void test_profiles(void) {
  static const struct {
    const char *wanted, *got;
  } profiles[] = {{"high", "high"},         {"{ constrained-high, main }", "constrained-high"},
                  {"main", "main"},         {"constrained-baseline", "constrained-baseline"},
                  {"baseline", "baseline"}, {"{ baseline, main }", "main"}};
  for (guint i = 0; i < G_N_ELEMENTS(profiles); ++i) {
    char* const wanted = g_strdup_printf("video/x-h264,profile=(string)%s", profiles[i].wanted);
    char* const got = g_strdup_printf("profile=(string)%s,", profiles[i].got);
    Fixture own = open_with("cu264enc", wanted, CAPS_64x48);
    send(&own, 1);
    end(&own);
    receive_all(&own, 0, 1);
    assert_caps_have(&own, got);
    close_element(&own);
    g_free(wanted), g_free(got);
  }
}

static void test_level(void) {
  Fixture own = open_with("cu264enc", "video/x-h264,level=(string)3.1", CAPS_64x48);
  send(&own, 1);
  end(&own);
  receive_all(&own, 0, 1);
  assert_caps_have(&own, "level=(string)3.1");
  close_element(&own);
}

static void test_delimiters(void) {
  Fixture own = open_element("cu264enc aud=true");
  send(&own, 2);
  end(&own);
  for (guint i = 0; i < 2; ++i) {
    GstBuffer* const buffer = gst_harness_pull(own.harness);
    g_assert_cmpuint(first_type(buffer), ==, 9);
    gst_buffer_unref(buffer);
  }
  close_element(&own);
}

static void test_delimiters_count(void) {
  Fixture own = open_element("cu264enc aud=true option-string=frame-bytes=4000");
  send(&own, 3);
  end(&own);
  for (guint i = 0; i < 3; ++i) {
    GstBuffer* const buffer = gst_harness_pull(own.harness);
    g_assert_cmpuint(gst_buffer_get_size(buffer), ==, 4000);
    gst_buffer_unref(buffer);
  }
  close_element(&own);
}

/* Pulls a buffer. */
static gboolean next_is_key(Fixture* own) {
  GstBuffer* const buffer = gst_harness_pull(own->harness);
  const gboolean key = !GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_DELTA_UNIT);
  GByteArray* const types = g_byte_array_new();
  GstMapInfo map;
  gst_buffer_map(buffer, &map, GST_MAP_READ);
  for (gsize i = 0; i + 4 < map.size; ++i) {
    if (map.data[i] != 0 || map.data[i + 1] != 0 || map.data[i + 2] != 1) continue;
    const guint8 type = map.data[i + 3] & 31;
    g_byte_array_append(types, &type, 1);
    if (type == 9) g_assert_cmphex(map.data[i + 4], ==, key ? 0x10 : 0x30);
  }
  /* The message that names the encoder comes with the first picture alone. */
  static const guint8 kFirst[] = {9, 7, 8, 6, 5}, kKey[] = {9, 7, 8, 5}, kPredicted[] = {9, 1};
  if (!key)
    g_assert_cmpmem(types->data, types->len, kPredicted, sizeof kPredicted);
  else if (types->len == sizeof kFirst)
    g_assert_cmpmem(types->data, types->len, kFirst, sizeof kFirst);
  else
    g_assert_cmpmem(types->data, types->len, kKey, sizeof kKey);
  gst_buffer_unmap(buffer, &map);
  g_byte_array_unref(types);
  gst_buffer_unref(buffer);
  return key;
}

/* Key pictures come at the beginning, after each GOP and where they are asked for, which begins another GOP.
 */
static void test_gop(void) {
  static const struct {
    const char* description;
    const char* keys; /* of 10 pictures, the fifth forced */
  } cases[] = {{"cu264enc aud=true", "KKKKKKKKKK"},
               {"cu264enc aud=true gop-size=0", "KKKKKKKKKK"},
               {"cu264enc aud=true gop-size=3", "KppKKppKpp"},
               {"cu264enc aud=true gop-size=-1 zerolatency=true", "KpppKppppp"}};
  for (guint i = 0; i < G_N_ELEMENTS(cases); ++i) {
    Fixture own = open_element(cases[i].description);
    send(&own, 4);
    gst_harness_push_upstream_event(
        own.harness, gst_video_event_new_upstream_force_key_unit(GST_CLOCK_TIME_NONE, FALSE, 0));
    send(&own, 6);
    end(&own);
    for (const char* key = cases[i].keys; *key != 0; ++key)
      g_assert_cmpint(next_is_key(&own), ==, *key == 'K');
    close_element(&own);
  }
}

static void test_force_key_unit(void) {
  Fixture own = open_element("cu264enc repeat-sequence-header=false zerolatency=true");
  static const gboolean kHeaders[] = {FALSE, TRUE};
  send(&own, 2);
  for (guint i = 0; i < G_N_ELEMENTS(kHeaders); ++i) {
    while (gst_harness_buffers_in_queue(own.harness) > 0) gst_buffer_unref(gst_harness_pull(own.harness));
    gst_harness_push_upstream_event(
        own.harness, gst_video_event_new_upstream_force_key_unit(GST_CLOCK_TIME_NONE, kHeaders[i], i));
    send(&own, 1);
    GstBuffer* const buffer = gst_harness_pull(own.harness);
    g_assert_cmpint(first_type(buffer) == 7, ==, kHeaders[i]);
    gst_buffer_unref(buffer);
    gboolean answered = FALSE;
    for (GstEvent* event; (event = gst_harness_try_pull_event(own.harness)) != NULL; gst_event_unref(event)) {
      guint count;
      gboolean headers;
      if (!gst_video_event_is_force_key_unit(event)) continue;
      g_assert_true(
          gst_video_event_parse_downstream_force_key_unit(event, NULL, NULL, NULL, &headers, &count));
      g_assert_cmpint(headers, ==, kHeaders[i]);
      answered = TRUE;
    }
    g_assert_true(answered);
  }
  close_element(&own);
}

/* ---- Delay --------------------------------------------------------------------------------------------- */

static GstClockTime latency_of(Fixture* own) {
  gst_harness_set_upstream_latency(own->harness, 0);
  return gst_harness_query_latency(own->harness);
}

static void test_latency(void) {
  static const struct {
    const char* description;
    guint frames;
  } cases[] = {{"cu264enc backend=cpu", 1},
               {"cu264enc backend=cpu bitrate=500", 41},
               {"cu264enc backend=cpu bitrate=500 rc-lookahead=7", 8},
               {"cu264enc backend=cpu bitrate=500 zerolatency=true", 0}};
  for (guint i = 0; i < G_N_ELEMENTS(cases); ++i) {
    Fixture own = open_element(cases[i].description);
    g_assert_cmpuint(latency_of(&own), ==, cases[i].frames * kDuration);
    close_element(&own);
  }
}

static void test_zero_latency(void) {
  static const char* const kDescriptions[] = {"cu264enc zerolatency=true",
                                              "cu264enc zerolatency=true bitrate=500"};
  for (guint i = 0; i < G_N_ELEMENTS(kDescriptions); ++i) {
    Fixture own = open_element(kDescriptions[i]);
    for (guint frame = 0; frame < 5; ++frame) {
      send(&own, 1);
      receive_all(&own, frame, 1);
    }
    close_element(&own);
  }
}

/* ---- Rates --------------------------------------------------------------------------------------------- */

static guint bytes_of(Fixture* own, guint count) {
  GByteArray* const bytes = receive(own, own->sent - count, count);
  const guint size = bytes->len;
  g_byte_array_unref(bytes);
  return size;
}

static void test_live_bitrate(const char* description, const char* sink_caps) {
  Fixture own = open_with(description, sink_caps, CAPS_64x48);
  send(&own, 50);
  bytes_of(&own, 50);
  send(&own, 50);
  const guint before = bytes_of(&own, 50);
  char* const caps_before = source_caps(&own);
  set_property(&own, "bitrate", "200");
  send(&own, 50);
  bytes_of(&own, 50);
  send(&own, 50);
  const guint after = bytes_of(&own, 50);
  g_assert_cmpuint(5 * after, <, 3 * before);
  char* const caps_after = source_caps(&own);
  /* The buffer, one second of the rate, is in the parameter sets. */
  if (strstr(sink_caps, "avc") != NULL) g_assert_cmpstr(caps_before, !=, caps_after);
  g_assert_null(posted(&own, GST_MESSAGE_WARNING));

  /* What does not fit is refused, and the stream goes on; what fits later is taken. */
  set_property(&own, "bitrate", "0");
  send(&own, 1);
  assert_posted(&own, GST_MESSAGE_WARNING, "within a clip");
  send(&own, 1);
  g_assert_null(posted(&own, GST_MESSAGE_WARNING));
  set_property(&own, "bitrate", "400");
  send(&own, 48);
  bytes_of(&own, 50);
  send(&own, 50);
  g_assert_cmpuint(bytes_of(&own, 50), >, after);
  g_assert_null(posted(&own, GST_MESSAGE_WARNING));
  g_free(caps_before), g_free(caps_after);
  close_element(&own);
}

static void test_live_bitrate_byte_stream(void) {
  test_live_bitrate("cu264enc bitrate=400 zerolatency=true", "video/x-h264,stream-format=byte-stream");
}

static void test_live_bitrate_avc(void) {
  test_live_bitrate("cu264enc bitrate=400 zerolatency=true", "video/x-h264,stream-format=avc");
}

static void test_live_quality(void) {
  static const struct {
    const char *description, *property;
  } cases[] = {{"cu264enc zerolatency=true qp-const=40", "qp-const"},
               {"cu264enc zerolatency=true const-quality=40", "const-quality"}};
  for (guint i = 0; i < G_N_ELEMENTS(cases); ++i) {
    Fixture own = open_element(cases[i].description);
    send(&own, 3);
    const guint before = bytes_of(&own, 3);
    set_property(&own, cases[i].property, "20");
    send(&own, 3);
    g_assert_cmpuint(bytes_of(&own, 3), >, 2 * before);
    close_element(&own);
  }
}

static void test_dropped_pictures(void) {
  Fixture own = open_element("cu264enc option-string=max-frame-bytes=100:on-overflow=drop");
  send(&own, 5);
  end(&own);
  g_assert_null(gst_harness_try_pull(own.harness));
  close_element(&own);
}

/* ---- Errors -------------------------------------------------------------------------------------------- */

/* The first error of a pipeline. */
static void assert_fails(const char* properties, const char* after, const char* part) {
  char* const text =
      g_strdup_printf("videotestsrc num-buffers=3 ! " CAPS_64x48 " ! cu264enc %s ! %s", properties, after);
  GError* error = NULL;
  GstElement* const pipeline = gst_parse_launch(text, &error);
  g_assert_no_error(error);
  GstBus* const bus = gst_element_get_bus(pipeline);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  GstMessage* const message =
      gst_bus_timed_pop_filtered(bus, 60 * GST_SECOND, GST_MESSAGE_ERROR | GST_MESSAGE_EOS);
  if (message == NULL || GST_MESSAGE_TYPE(message) != GST_MESSAGE_ERROR) g_error("%s: no error", text);
  gst_message_parse_error(message, &error, NULL);
  if (strstr(error->message, part) == NULL) g_error("%s: no \"%s\" in \"%s\"", text, part, error->message);
  g_clear_error(&error);
  gst_message_unref(message);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(bus);
  gst_object_unref(pipeline);
  g_free(text);
}

static void test_errors(void) {
  static const struct {
    const char *properties, *part;
  } cases[] = {
      {"rc-mode=cbr", "needs a bitrate"},
      {"rc-mode=constqp bitrate=500", "bitrate has no meaning with rc-mode=constqp"},
      {"bitrate=500 const-quality=20", "const-quality has no meaning with rc-mode=vbr"},
      {"rc-mode=const-quality", "set const-quality"},
      {"bitrate=500 qp-const=20", "qp-const has no meaning with rc-mode=vbr"},
      {"rc-lookahead=5", "rc-lookahead has no meaning"},
      {"bitrate=500 zerolatency=true rc-lookahead=5", "contradict"},
      {"zerolatency=true batch=4", "contradict"},
      {"option-string=qp=20", "set qp-const"},
      {"option-string=gop=5", "set gop-size"},
      {"gop-size=5 option-string=cqm=jvt", "use cqm flat, or gop 1"},
      {"option-string=aq=yes", "use auto, variance, steps, edges or off"},
      {"option-string=nonsense", "unknown option \"nonsense\""},
      {"num-slices=9", "9 slices do not fit"},
      {"bitrate=500 max-bitrate=400", "below the mean"},
      {"vbv-buffer-size=500", "buffer of unknown rate"},
      {"option-string=max-frame-bytes=100", "exceeds what a picture may have"},
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); ++i)
    assert_fails(cases[i].properties, "fakesink", cases[i].part);
  assert_fails("rc-mode=cbr bitrate=500", "video/x-h264,stream-format=avc ! fakesink", "filler");
  assert_fails("option-string=frame-bytes=4000", "video/x-h264,stream-format=avc ! fakesink", "filler");
  assert_fails("", "video/x-h264,level=(string)9.9 ! fakesink", "9.9");
}

int main(int argc, char** argv) {
  gst_init(&argc, &argv);
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/frames/times", test_times);
  g_test_add_func("/frames/more_after_eos", test_more_after_eos);
  g_test_add_func("/frames/new_size", test_new_size);
  g_test_add_func("/frames/flush", test_flush);
  g_test_add_func("/frames/input_is_given_back", test_input_is_given_back);
  g_test_add_func("/frames/strides", test_strides);
  g_test_add_func("/frames/formats", test_formats);
  g_test_add_func("/frames/planes_of_rgb", test_planes_of_rgb);
  g_test_add_func("/frames/description", test_description);
  g_test_add_func("/frames/interlaced_is_refused", test_interlaced_is_refused);
  g_test_add_func("/streams/avc", test_avc);
  g_test_add_func("/streams/profiles", test_profiles);
  g_test_add_func("/streams/level", test_level);
  g_test_add_func("/streams/delimiters", test_delimiters);
  g_test_add_func("/streams/delimiters_count", test_delimiters_count);
  g_test_add_func("/streams/force_key_unit", test_force_key_unit);
  g_test_add_func("/streams/gop", test_gop);
  g_test_add_func("/delay/latency", test_latency);
  g_test_add_func("/delay/zero_latency", test_zero_latency);
  g_test_add_func("/rates/live_bitrate_byte_stream", test_live_bitrate_byte_stream);
  g_test_add_func("/rates/live_bitrate_avc", test_live_bitrate_avc);
  g_test_add_func("/rates/live_quality", test_live_quality);
  g_test_add_func("/rates/dropped_pictures", test_dropped_pictures);
  g_test_add_func("/errors", test_errors);
  const int result = g_test_run();
  gst_deinit(); /* the tracer "leaks" looks for what is left here */
  return result;
}
