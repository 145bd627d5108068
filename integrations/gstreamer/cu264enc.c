/* The element: negotiation, frames to the library, packets from it. Every call of the base class comes with
 * the stream lock, so the encoder is used by one thread at a time; properties have the object lock. */
#include "cu264enc.h"

#include <cu264/cu264.h>
#include <gst/pbutils/pbutils.h>
#include <gst/video/gstvideoencoder.h>
#include <string.h>

#include "access_unit.h"
#include "library_options.h"
#include "properties.h"
#include "raw_video.h"

GST_DEBUG_CATEGORY_STATIC(cu264enc_debug);
#define GST_CAT_DEFAULT cu264enc_debug

#define GST_TYPE_CU264_ENC (gst_cu264_enc_get_type())
G_DECLARE_FINAL_TYPE(GstCu264Enc, gst_cu264_enc, GST, CU264_ENC, GstVideoEncoder)

struct _GstCu264Enc {
  GstVideoEncoder parent;
  Properties properties; /* as they were set last */

  /* What was negotiated. */
  GstVideoCodecState* input; /* null: no caps yet */
  gboolean negotiated;       /* the caps were taken */
  Properties opened;         /* what the encoder has of the properties */
  Rate tried;                /* what it was asked for last */
  cu264_config* config;
  GstBuffer* parameter_sets; /* of the stream */
  gboolean avc;              /* stream-format */
  gboolean unconstrained;    /* downstream knows the profile by its name without "constrained-" alone */

  cu264_encoder* encoder; /* null: the next frame opens it */
  gboolean begins_clip;   /* the next packet has headers */
};

G_DEFINE_FINAL_TYPE(GstCu264Enc, gst_cu264_enc, GST_TYPE_VIDEO_ENCODER)
/* Not chosen by encodebin and the like: who does not ask for it expects pictures that are predicted from
 * others. */
GST_ELEMENT_REGISTER_DEFINE_WITH_CODE(cu264enc, "cu264enc", GST_RANK_NONE, GST_TYPE_CU264_ENC,
                                      GST_DEBUG_CATEGORY_INIT(cu264enc_debug, "cu264enc", 0,
                                                              "cu264 H.264 encoder"))

static GstStaticPadTemplate sink_template =
    GST_STATIC_PAD_TEMPLATE("sink", GST_PAD_SINK, GST_PAD_ALWAYS,
                            GST_STATIC_CAPS("video/x-raw, format=(string)" RAW_VIDEO_FORMATS
                                            ", width=(int)[1, 8192], height=(int)[1, 8192], "
                                            "framerate=(fraction)[0/1, MAX]"));

static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE(
    "src", GST_PAD_SRC, GST_PAD_ALWAYS,
    GST_STATIC_CAPS("video/x-h264, stream-format=(string){ byte-stream, avc }, "
                    "alignment=(string)au, "
                    "profile=(string){ constrained-high, high, main, constrained-baseline, baseline }, "
                    "width=(int)[1, 8192], height=(int)[1, 8192], "
                    "framerate=(fraction)[0/1, MAX]"));

/* ---- Messages ------------------------------------------------------------------------------------------ */

/* Posts what the library says of its last error. */
static void post_error(GstCu264Enc* self, cu264_status status) {
  GQuark domain = GST_LIBRARY_ERROR;
  gint code = GST_LIBRARY_ERROR_SETTINGS;
  if (status == CU264_DEVICE_UNAVAILABLE) domain = GST_RESOURCE_ERROR, code = GST_RESOURCE_ERROR_NOT_FOUND;
  if (status == CU264_OUT_OF_MEMORY) domain = GST_RESOURCE_ERROR, code = GST_RESOURCE_ERROR_NO_SPACE_LEFT;
  if (status == CU264_DEVICE_FAILURE || status == CU264_ENCODE_FAILURE || status == CU264_BAD_INPUT)
    domain = GST_STREAM_ERROR, code = GST_STREAM_ERROR_ENCODE;
  gst_element_message_full(GST_ELEMENT(self), GST_MESSAGE_ERROR, domain, code, g_strdup(cu264_last_error()),
                           g_strdup(cu264_status_name(status)), __FILE__, GST_FUNCTION, __LINE__);
}

static void post_warning(GstCu264Enc* self, const char* text) {
  GST_ELEMENT_WARNING(self, LIBRARY, SETTINGS, ("%s", text), (NULL));
}

/* ---- Opening and closing ------------------------------------------------------------------------------- */

static void close_encoder(GstCu264Enc* self) {
  cu264_encoder_destroy(self->encoder);
  self->encoder = NULL;
}

static gboolean open_encoder(GstCu264Enc* self) {
  const cu264_status status = cu264_encoder_open(self->config, &self->encoder);
  if (status != CU264_OK) {
    post_error(self, status);
    return FALSE;
  }
  self->begins_clip = TRUE;
  return TRUE;
}

static void forget_negotiated(GstCu264Enc* self) {
  close_encoder(self);
  g_clear_pointer(&self->input, gst_video_codec_state_unref);
  self->negotiated = FALSE;
  properties_clear(&self->opened);
  g_clear_pointer(&self->config, cu264_config_destroy);
  gst_clear_buffer(&self->parameter_sets);
}

/* ---- Packets ------------------------------------------------------------------------------------------- */

static gboolean set_source_caps(GstCu264Enc* self, const cu264_info* info);

/* The caps follow a packet whose parameter sets are new: a changed buffer is in them. */
static void follow_parameter_sets(GstCu264Enc* self, const cu264_packet* packet) {
  GstBuffer* const sets = access_unit_parameter_sets(packet->data, packet->size);
  const gsize size = gst_buffer_get_size(sets);
  gboolean changed = FALSE;
  if (size > 0) {
    GstMapInfo map;
    gst_buffer_map(sets, &map, GST_MAP_READ);
    changed = size != gst_buffer_get_size(self->parameter_sets) ||
              gst_buffer_memcmp(self->parameter_sets, 0, map.data, size) != 0;
    gst_buffer_unmap(sets, &map);
  }
  if (changed) {
    cu264_info* info = NULL;
    gst_buffer_replace(&self->parameter_sets, sets);
    if (cu264_encoder_info(self->encoder, &info) == CU264_OK) set_source_caps(self, info);
    cu264_info_release(info);
  }
  gst_buffer_unref(sets);
}

static void release_packet(gpointer packet) {
  cu264_packet_release(packet);
}

/* What goes before the access unit of a frame. */
enum { kDelimiter = 1, kParameterSets = 2 };

/* Takes the packet. */
static GstBuffer* buffer_of(GstCu264Enc* self, cu264_packet* packet, guint before) {
  GstBuffer* buffer;
  Delimiter delimiter = DELIMITER_NONE;
  if ((before & kDelimiter) != 0) delimiter = packet->key ? DELIMITER_KEY : DELIMITER_P;
  if (!self->avc && before == 0) {
    return gst_buffer_new_wrapped_full(0, (gpointer)packet->data, packet->size, 0, packet->size, packet,
                                       release_packet);
  }
  if (self->avc)
    buffer = access_unit_with_lengths(packet->data, packet->size, delimiter);
  else
    buffer = access_unit_extended(packet->data, packet->size, delimiter,
                                  (before & kParameterSets) != 0 ? self->parameter_sets : NULL);
  cu264_packet_release(packet);
  return buffer;
}

/* Ends the oldest frames before a number without a packet: "on-overflow" left them out. */
static GstFlowReturn drop_frames_before(GstCu264Enc* self, guint number) {
  GstVideoEncoder* const base = GST_VIDEO_ENCODER(self);
  GstVideoCodecFrame* frame;
  while ((frame = gst_video_encoder_get_oldest_frame(base)) != NULL) {
    if (frame->system_frame_number >= number) {
      gst_video_codec_frame_unref(frame);
      break;
    }
    const GstFlowReturn flow = gst_video_encoder_finish_frame(base, frame);
    if (flow != GST_FLOW_OK) return flow;
  }
  return GST_FLOW_OK;
}

/* Takes the packet. */
static GstFlowReturn push_packet(GstCu264Enc* self, cu264_packet* packet) {
  GstVideoEncoder* const base = GST_VIDEO_ENCODER(self);
  const guint number = GPOINTER_TO_UINT(packet->user_data);
  const GstFlowReturn flow = drop_frames_before(self, number);
  GstVideoCodecFrame* const frame = gst_video_encoder_get_frame(base, (int)number);
  if (flow != GST_FLOW_OK || frame == NULL) {
    cu264_packet_release(packet);
    if (frame != NULL) gst_video_codec_frame_unref(frame);
    return flow;
  }
  follow_parameter_sets(self, packet);
  const gboolean key = packet->key != 0;
  frame->output_buffer =
      buffer_of(self, packet, GPOINTER_TO_UINT(gst_video_codec_frame_get_user_data(frame)));
  if (key) GST_VIDEO_CODEC_FRAME_SET_SYNC_POINT(frame);
  return gst_video_encoder_finish_frame(base, frame);
}

/* Pushes what the library has: after flush or drain, and if it is full, that waits for it. */
static GstFlowReturn push_packets(GstCu264Enc* self, gboolean only_one) {
  GstFlowReturn flow = GST_FLOW_OK;
  while (flow == GST_FLOW_OK) {
    cu264_packet* packet;
    const cu264_status status = cu264_encoder_receive(self->encoder, &packet);
    if (status == CU264_AGAIN) break;
    if (status != CU264_OK) {
      post_error(self, status);
      close_encoder(self);
      return GST_FLOW_ERROR;
    }
    flow = push_packet(self, packet);
    if (only_one) break;
  }
  return flow;
}

/* Ends the clip and pushes its last packets. */
static GstFlowReturn end_clip(GstCu264Enc* self) {
  if (self->encoder == NULL) return GST_FLOW_OK;
  const cu264_status status = cu264_encoder_flush(self->encoder);
  if (status != CU264_OK) {
    post_error(self, status);
    close_encoder(self);
    return GST_FLOW_ERROR;
  }
  const GstFlowReturn flow = push_packets(self, FALSE);
  self->begins_clip = TRUE;
  return flow == GST_FLOW_OK ? drop_frames_before(self, G_MAXUINT) : flow;
}

/* ---- Negotiation --------------------------------------------------------------------------------------- */

/* Whether a field of the caps, which may be missing, allows a value. */
static gboolean allows(const GstStructure* caps, const char* field, const char* value) {
  GValue wanted = G_VALUE_INIT;
  const GValue* const allowed = gst_structure_get_value(caps, field);
  g_value_init(&wanted, G_TYPE_STRING);
  g_value_set_static_string(&wanted, value);
  const gboolean result = allowed == NULL || gst_value_intersect(NULL, allowed, &wanted);
  g_value_unset(&wanted);
  return result;
}

/* Chooses by what downstream takes. Returns FALSE if it takes nothing that the element makes. */
static gboolean choose_stream(GstCu264Enc* self, Options* options) {
  GstCaps* allowed = gst_pad_get_allowed_caps(GST_VIDEO_ENCODER_SRC_PAD(self));
  if (allowed == NULL) allowed = gst_static_pad_template_get_caps(&src_template);
  const gboolean possible = !gst_caps_is_empty(allowed);
  if (possible) {
    const GstStructure* const first = gst_caps_get_structure(allowed, 0);
    self->avc = !allows(first, "stream-format", "byte-stream");
    /* With high allowed the library chooses. */
    const char* profile = "high";
    if (!allows(first, "profile", "high") && !allows(first, "profile", "constrained-high")) {
      profile = allows(first, "profile", "main") ? "main" : "baseline";
      options_set(options, "profile", profile);
    }
    gchar* const constrained = g_strconcat("constrained-", profile, NULL);
    self->unconstrained = !allows(first, "profile", constrained);
    g_free(constrained);
    const char* const level = gst_structure_get_string(first, "level"); /* null for a list */
    if (level != NULL) options_set(options, "level", level);
  }
  gst_caps_unref(allowed);
  return possible;
}

static gboolean set_source_caps(GstCu264Enc* self, const cu264_info* info) {
  GstVideoEncoder* const base = GST_VIDEO_ENCODER(self);
  GstCaps* const caps =
      gst_caps_new_simple("video/x-h264", "stream-format", G_TYPE_STRING, self->avc ? "avc" : "byte-stream",
                          "alignment", G_TYPE_STRING, "au", NULL);
  guint8 profile[3];
  access_unit_profile(self->parameter_sets, profile);
  gst_codec_utils_h264_caps_set_level_and_profile(caps, profile, sizeof profile);
  /* A stream of a constrained profile is one of the profile, too. */
  const char* const name = gst_structure_get_string(gst_caps_get_structure(caps, 0), "profile");
  if (self->unconstrained && name != NULL && g_str_has_prefix(name, "constrained-"))
    gst_caps_set_simple(caps, "profile", G_TYPE_STRING, name + strlen("constrained-"), NULL);
  GstVideoCodecState* const state = gst_video_encoder_set_output_state(base, caps, self->input);
  raw_video_coded(&self->input->info, &state->info);
  state->info.width = info->width, state->info.height = info->height;
  if (self->avc) {
    gst_clear_buffer(&state->codec_data);
    state->codec_data = access_unit_codec_data(self->parameter_sets);
  }
  gst_video_codec_state_unref(state);
  return gst_video_encoder_negotiate(base);
}

static void set_latency(GstCu264Enc* self, const cu264_info* info) {
  int num, den;
  raw_video_rate(&self->input->info, &num, &den);
  const guint frames = properties_held_frames(&self->opened, (guint)info->batch);
  const GstClockTime latency = gst_util_uint64_scale(frames * GST_SECOND, (guint64)den, (guint64)num);
  gst_video_encoder_set_latency(GST_VIDEO_ENCODER(self), latency, latency);
}

static void set_tags(GstCu264Enc* self) {
  GstTagList* const tags = gst_tag_list_new(GST_TAG_ENCODER, "cu264", GST_TAG_VIDEO_CODEC, "H.264", NULL);
  if (self->opened.rate.bitrate > 0) {
    gst_tag_list_add(tags, GST_TAG_MERGE_REPLACE, GST_TAG_NOMINAL_BITRATE,
                     (guint)MIN(1000 * (guint64)self->opened.rate.bitrate, G_MAXUINT), NULL);
  }
  gst_video_encoder_merge_tags(GST_VIDEO_ENCODER(self), tags, GST_TAG_MERGE_REPLACE);
  gst_tag_list_unref(tags);
}

/* Tells what was opened, and makes the caps from it. */
static gboolean announce(GstCu264Enc* self) {
  cu264_info* info;
  const cu264_status status = cu264_encoder_info(self->encoder, &info);
  if (status != CU264_OK) {
    post_error(self, status);
    return FALSE;
  }
  GST_INFO_OBJECT(self, "backend %s (%s), profile %s (%s), batches of %d", info->backend,
                  info->backend_reason, info->profile, info->profile_reason, info->batch);
  for (gsize i = 0; i < info->warning_count; ++i) post_warning(self, info->warnings[i]);
  self->parameter_sets = access_unit_parameter_sets(info->headers, info->headers_size);
  set_latency(self, info);
  set_tags(self);
  const gboolean negotiated = set_source_caps(self, info);
  cu264_info_release(info);
  return negotiated;
}

/* Posts what is wrong with the properties together. */
static gboolean check_properties(GstCu264Enc* self, const Properties* properties, gboolean avc) {
  gchar* const problem = properties_problem(properties, avc);
  if (problem == NULL) return TRUE;
  GST_ELEMENT_ERROR(self, LIBRARY, SETTINGS, ("%s", problem), (NULL));
  g_free(problem);
  return FALSE;
}

/* Says what is wrong with the properties before there are caps. */
static gboolean gst_cu264_enc_start(GstVideoEncoder* base) {
  GstCu264Enc* const self = GST_CU264_ENC(base);
  GST_OBJECT_LOCK(self);
  Properties properties = properties_copy(&self->properties);
  GST_OBJECT_UNLOCK(self);
  gboolean good = check_properties(self, &properties, FALSE);
  if (good) {
    Options options = {NULL, CU264_OK};
    options.status = cu264_config_create(&options.config);
    properties_apply(&properties, &options);
    cu264_config_destroy(options.config);
    good = options.status == CU264_OK;
    if (!good) post_error(self, options.status);
  }
  properties_clear(&properties);
  return good;
}

static gboolean gst_cu264_enc_set_format(GstVideoEncoder* base, GstVideoCodecState* state) {
  GstCu264Enc* const self = GST_CU264_ENC(base);
  Options options = {NULL, CU264_OK};
  /* Caps that were refused come again with each buffer, and the reason was posted. */
  if (self->input != NULL && !self->negotiated && gst_caps_is_equal(self->input->caps, state->caps))
    return FALSE;
  if (end_clip(self) == GST_FLOW_ERROR) return FALSE;
  forget_negotiated(self);
  self->input = gst_video_codec_state_ref(state);
  GST_OBJECT_LOCK(self);
  self->opened = properties_copy(&self->properties);
  self->tried = self->opened.rate;
  GST_OBJECT_UNLOCK(self);

  if (GST_VIDEO_INFO_IS_INTERLACED(&state->info)) {
    GST_ELEMENT_ERROR(self, STREAM, FORMAT,
                      ("cu264enc encodes progressive video alone (put the element deinterlace before it)"),
                      (NULL));
    return FALSE;
  }
  options.status = cu264_config_create(&self->config);
  options.config = self->config;
  if (!choose_stream(self, &options)) return FALSE;
  if (!check_properties(self, &self->opened, self->avc)) return FALSE;
  raw_video_describe(&state->info, &options);
  properties_apply(&self->opened, &options);
  options_set(&options, "headers", self->opened.repeat_headers && !self->avc ? "every" : "first");
  if (options.status != CU264_OK) {
    post_error(self, options.status);
    return FALSE;
  }
  self->negotiated = open_encoder(self) && announce(self);
  return self->negotiated;
}

/* ---- Frames -------------------------------------------------------------------------------------------- */

/* Passes on what has changed of the properties that may change while pictures come. */
static void reconfigure(GstCu264Enc* self) {
  RateChanges changes;
  GST_OBJECT_LOCK(self);
  const Rate now = self->properties.rate;
  GST_OBJECT_UNLOCK(self);
  if (rate_changes(&self->tried, &now, &changes) == 0) return;
  self->tried = now;
  /* All that differs from what the encoder has: what it refused before may fit by now. */
  const gsize count = rate_changes(&self->opened.rate, &now, &changes);
  if (cu264_encoder_reconfigure(self->encoder, changes.settings, count) != CU264_OK) {
    post_warning(self, cu264_last_error()); /* it goes on as it was */
    return;
  }
  self->opened.rate = now;
  set_tags(self);
}

/* What is to go before the frame's access unit. */
static guint before_frame(const GstCu264Enc* self, GstVideoCodecFrame* frame) {
  const gboolean wants_sets = GST_VIDEO_CODEC_FRAME_IS_FORCE_KEYFRAME_HEADERS(frame) && !self->avc;
  const gboolean has_sets = self->begins_clip || self->opened.repeat_headers;
  return (self->opened.delimiters ? kDelimiter : 0) | (wants_sets && !has_sets ? kParameterSets : 0);
}

/* The samples were copied: sources with few buffers have this one back. Metadata are wanted later. */
static void release_input(GstVideoCodecFrame* frame) {
  GstBuffer* const metadata = gst_buffer_new();
  gst_buffer_copy_into(metadata, frame->input_buffer, GST_BUFFER_COPY_METADATA, 0, -1);
  gst_buffer_unref(frame->input_buffer);
  frame->input_buffer = metadata;
}

/* Sends the frame, and pushes packets until it has been taken. */
static GstFlowReturn send_frame(GstCu264Enc* self, GstVideoCodecFrame* frame) {
  GstVideoFrame mapped;
  GstFlowReturn flow = GST_FLOW_OK;
  if (!gst_video_frame_map(&mapped, &self->input->info, frame->input_buffer, GST_MAP_READ)) {
    GST_ELEMENT_ERROR(self, STREAM, ENCODE, ("a frame's memory cannot be read"), (NULL));
    return GST_FLOW_ERROR;
  }
  cu264_frame picture = raw_video_frame(&mapped);
  const guint before = before_frame(self, frame);
  if ((before & kDelimiter) != 0) picture.added_bytes += ACCESS_UNIT_DELIMITER_SIZE;
  if ((before & kParameterSets) != 0)
    picture.added_bytes += (gint64)gst_buffer_get_size(self->parameter_sets);
  picture.key = GST_VIDEO_CODEC_FRAME_IS_FORCE_KEYFRAME(frame);
  picture.user_data = GUINT_TO_POINTER(frame->system_frame_number);
  gst_video_codec_frame_set_user_data(frame, GUINT_TO_POINTER(before), NULL);
  cu264_status status;
  while ((status = cu264_encoder_send(self->encoder, &picture)) == CU264_AGAIN && flow == GST_FLOW_OK)
    flow = push_packets(self, TRUE);
  gst_video_frame_unmap(&mapped);
  if (flow != GST_FLOW_OK) return flow;
  if (status != CU264_OK) {
    post_error(self, status);
    close_encoder(self);
    return GST_FLOW_ERROR;
  }
  self->begins_clip = FALSE;
  release_input(frame);
  return GST_FLOW_OK;
}

static GstFlowReturn gst_cu264_enc_handle_frame(GstVideoEncoder* base, GstVideoCodecFrame* frame) {
  GstCu264Enc* const self = GST_CU264_ENC(base);
  GstFlowReturn flow = GST_FLOW_ERROR;
  if (self->encoder != NULL || open_encoder(self)) {
    reconfigure(self);
    flow = send_frame(self, frame);
  }
  gst_video_codec_frame_unref(frame);
  if (flow != GST_FLOW_OK) return flow;
  if (self->opened.zero_latency) {
    const cu264_status status = cu264_encoder_drain(self->encoder);
    if (status != CU264_OK) {
      post_error(self, status);
      close_encoder(self);
      return GST_FLOW_ERROR;
    }
  }
  return push_packets(self, FALSE);
}

static GstFlowReturn gst_cu264_enc_finish(GstVideoEncoder* base) {
  return end_clip(GST_CU264_ENC(base));
}

/* Drops what was not received. The next frame begins a clip. */
static gboolean gst_cu264_enc_flush(GstVideoEncoder* base) {
  close_encoder(GST_CU264_ENC(base));
  return TRUE;
}

static gboolean gst_cu264_enc_stop(GstVideoEncoder* base) {
  forget_negotiated(GST_CU264_ENC(base));
  return TRUE;
}

static gboolean gst_cu264_enc_propose_allocation(GstVideoEncoder* base, GstQuery* query) {
  /* Frames are read where they are, with whatever strides. */
  gst_query_add_allocation_meta(query, GST_VIDEO_META_API_TYPE, NULL);
  return GST_VIDEO_ENCODER_CLASS(gst_cu264_enc_parent_class)->propose_allocation(base, query);
}

/* ---- The class ----------------------------------------------------------------------------------------- */

static void gst_cu264_enc_set_property(GObject* object, guint id, const GValue* value, GParamSpec* spec) {
  GST_OBJECT_LOCK(object);
  const gboolean known = properties_set(&GST_CU264_ENC(object)->properties, id, value);
  GST_OBJECT_UNLOCK(object);
  if (!known) G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
}

static void gst_cu264_enc_get_property(GObject* object, guint id, GValue* value, GParamSpec* spec) {
  GST_OBJECT_LOCK(object);
  const gboolean known = properties_get(&GST_CU264_ENC(object)->properties, id, value);
  GST_OBJECT_UNLOCK(object);
  if (!known) G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
}

static void gst_cu264_enc_finalize(GObject* object) {
  GstCu264Enc* const self = GST_CU264_ENC(object);
  forget_negotiated(self);
  properties_clear(&self->properties);
  G_OBJECT_CLASS(gst_cu264_enc_parent_class)->finalize(object);
}

static void gst_cu264_enc_init(GstCu264Enc* self) {
  properties_init(&self->properties);
}

static void gst_cu264_enc_class_init(GstCu264EncClass* klass) {
  GObjectClass* const object_class = G_OBJECT_CLASS(klass);
  GstElementClass* const element_class = GST_ELEMENT_CLASS(klass);
  GstVideoEncoderClass* const encoder_class = GST_VIDEO_ENCODER_CLASS(klass);
  object_class->set_property = gst_cu264_enc_set_property;
  object_class->get_property = gst_cu264_enc_get_property;
  object_class->finalize = gst_cu264_enc_finalize;
  properties_install(object_class);
  gst_element_class_set_static_metadata(
      element_class, "cu264 H.264 encoder", "Codec/Encoder/Video",
      "Encodes H.264, by default of key pictures alone, on CUDA or on the processor", "The cu264 authors");
  gst_element_class_add_static_pad_template(element_class, &sink_template);
  gst_element_class_add_static_pad_template(element_class, &src_template);
  encoder_class->start = gst_cu264_enc_start;
  encoder_class->set_format = gst_cu264_enc_set_format;
  encoder_class->handle_frame = gst_cu264_enc_handle_frame;
  encoder_class->finish = gst_cu264_enc_finish;
  encoder_class->flush = gst_cu264_enc_flush;
  encoder_class->stop = gst_cu264_enc_stop;
  encoder_class->propose_allocation = gst_cu264_enc_propose_allocation;
}
