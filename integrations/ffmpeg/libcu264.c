/*
 * H.264 encoding with libcu264: an encoder of FFmpeg's libavcodec over the C API of cu264.
 * Part of cu264, BSD-2-Clause. The patches beside this file have FFmpeg compile it.
 *
 * No picture is reordered, so packets leave in the order of the frames, and pts is dts.
 */

#include <cu264/cu264.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "config.h"
#include "config_components.h"

#include "libavutil/avstring.h"
#include "libavutil/dict.h"
#include "libavutil/hwcontext.h"
#include "libavutil/mastering_display_metadata.h"
#include "libavutil/mem.h"
#include "libavutil/opt.h"
#include "libavutil/pixdesc.h"
#if CONFIG_CUDA
#include "libavutil/hwcontext_cuda_internal.h"
#endif

#include "atsc_a53.h"
#include "avcodec.h"
#include "codec_internal.h"
#include "encode.h"
#include "hwconfig.h"
#include "internal.h"
#include "packet_internal.h"

/* Names that differ between releases of FFmpeg. */
#ifndef AV_PROFILE_H264_BASELINE
#define AV_PROFILE_UNKNOWN FF_PROFILE_UNKNOWN
#define AV_PROFILE_H264_BASELINE FF_PROFILE_H264_BASELINE
#define AV_PROFILE_H264_CONSTRAINED_BASELINE FF_PROFILE_H264_CONSTRAINED_BASELINE
#define AV_PROFILE_H264_MAIN FF_PROFILE_H264_MAIN
#define AV_PROFILE_H264_HIGH FF_PROFILE_H264_HIGH
#endif
#ifndef CODEC_LONG_NAME
#define CODEC_LONG_NAME(text) .p.long_name = NULL_IF_CONFIG_SMALL(text)
#endif
#ifndef CODEC_PIXFMTS_ARRAY
#define CODEC_PIXFMTS_ARRAY(array) .p.pix_fmts = (array)
#endif
#ifndef FF_CODEC_CAP_INIT_THREADSAFE
#define FF_CODEC_CAP_INIT_THREADSAFE 0 /* later releases mark those that are not */
#endif
#ifndef AV_CODEC_CAP_ENCODER_REORDERED_OPAQUE
#define AV_CODEC_CAP_ENCODER_REORDERED_OPAQUE 0
#endif

enum { kMaxMessages = 3 };

typedef struct Message {
  int type; /* payload type of H.264 D.1.1 */
  uint8_t* payload;
  size_t size;
} Message;

/* A picture between ff_encode_get_frame and its packet. */
typedef struct Picture {
  struct Picture* next;
  AVFrame* frame; /* without samples, once the encoder has copied them */
  Message messages[kMaxMessages];
  int message_count;
} Picture;

typedef struct Cu264Context {
  const AVClass* class;
  cu264_encoder* encoder;
  Picture* waiting; /* not taken by the encoder yet */
  Picture *first, *last;
  int flushed;

  int qp;
  float crf;
  char* preset;
  char* profile;
  char* level;
  char* aq;
  int aq_strength;
  int cbr;
  int lookahead;
  int headers_first;
  char* backend;
  char* device;
  int batch;
  int forced_idr;
  int a53_cc;
  AVDictionary* params;
} Cu264Context;

static int error_of(AVCodecContext* avctx, cu264_status status) {
  av_log(avctx, AV_LOG_ERROR, "%s\n", cu264_last_error());
  switch (status) {
    case CU264_INVALID_ARGUMENT:
    case CU264_BAD_INPUT:
      return AVERROR(EINVAL);
    case CU264_UNSUPPORTED:
      return AVERROR(ENOSYS);
    case CU264_OUT_OF_MEMORY:
      return AVERROR(ENOMEM);
    case CU264_DEVICE_UNAVAILABLE:
      return AVERROR(ENODEV);
    default:
      return AVERROR_EXTERNAL;
  }
}

static void log_line(void* avctx, cu264_log_level level, const char* message) {
  av_log(avctx, level == CU264_LOG_WARNING ? AV_LOG_WARNING : AV_LOG_VERBOSE, "%s\n", message);
}

/* ---- Settings ------------------------------------------------------------------------------------------ */

/* The settings that are being made. The first that is refused ends them. */
typedef struct Settings {
  AVCodecContext* avctx;
  cu264_config* config;
  int error;
} Settings;

static void set(Settings* s, const char* name, const char* value) {
  cu264_status status;
  if (s->error < 0) return;
  status = cu264_config_set(s->config, name, value);
  if (status != CU264_OK) s->error = error_of(s->avctx, status);
}

static void set_text(Settings* s, const char* name, const char* value) {
  if (value) set(s, name, value);
}

static void av_printf_format(3, 4) set_printed(Settings* s, const char* name, const char* format, ...) {
  char value[64];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(value, sizeof(value), format, arguments);
  va_end(arguments);
  set(s, name, value);
}

/* Bits as the nearest kbit, but never as 0, which would be none. */
static void set_kbit(Settings* s, const char* name, int64_t bits) {
  if (bits > 0) set_printed(s, name, "%" PRId64, FFMAX((bits + 500) / 1000, 1));
}

static int is_rgb(enum AVPixelFormat format) {
  return av_pix_fmt_desc_get(format)->flags & AV_PIX_FMT_FLAG_RGB;
}

/* FFmpeg's numbers are code points of H.273, but for those from 256 on. 2 is unspecified; 0 and 3 are
 * reserved, and the matrix 0 is that of RGB. */
static void set_code_point(Settings* s, const char* name, int value) {
  if (value == 2) return;
  if (value <= 0 || value == 3 || value > 255)
    av_log(s->avctx, AV_LOG_WARNING, "The %s %d goes unsaid in the stream.\n", name, value);
  else
    set_printed(s, name, "%d", value);
}

static void set_colour(Settings* s, enum AVPixelFormat format) {
  AVCodecContext* avctx = s->avctx;
  if (is_rgb(format)) {
    /* The stream has YCbCr of limited range: what containers say follows the stream. */
    if (avctx->colorspace != AVCOL_SPC_BT709 && avctx->colorspace != AVCOL_SPC_BT470BG &&
        avctx->colorspace != AVCOL_SPC_SMPTE170M)
      avctx->colorspace = avctx->height >= 720 ? AVCOL_SPC_BT709 : AVCOL_SPC_SMPTE170M;
    avctx->color_range = AVCOL_RANGE_MPEG;
  } else if (avctx->chroma_sample_location > AVCHROMA_LOC_LEFT) {
    /* AVCHROMA_LOC_LEFT, chroma_sample_loc_type 0, is what decoders take for granted (H.264 E.2.1). */
    set_printed(s, "chromaloc", "%d", avctx->chroma_sample_location - 1);
  }
  if (avctx->color_range == AVCOL_RANGE_JPEG || format == AV_PIX_FMT_YUVJ420P) set(s, "range", "full");
  set_code_point(s, "colorprim", avctx->color_primaries);
  set_code_point(s, "transfer", avctx->color_trc);
  set_code_point(s, "colormatrix", avctx->colorspace);
}

static void set_profile(Settings* s) {
  const Cu264Context* own = s->avctx->priv_data;
  const int profile = s->avctx->profile;
  if (own->profile) {
    set(s, "profile", own->profile);
  } else if (profile == AV_PROFILE_H264_BASELINE || profile == AV_PROFILE_H264_CONSTRAINED_BASELINE) {
    set(s, "profile", "baseline");
  } else if (profile == AV_PROFILE_H264_MAIN) {
    set(s, "profile", "main");
  } else if (profile == AV_PROFILE_H264_HIGH) {
    set(s, "profile", "high");
  } else if (profile != AV_PROFILE_UNKNOWN) {
    av_log(s->avctx, AV_LOG_ERROR, "libcu264 has no profile %d; use baseline, main or high\n", profile);
    s->error = AVERROR(EINVAL);
  }
}

static const struct {
  enum AVPixelFormat format;
  cu264_format own;
  const char* name;
} formats[] = {
    {AV_PIX_FMT_YUV420P, CU264_FORMAT_I420, "i420"},
    {AV_PIX_FMT_YUVJ420P, CU264_FORMAT_I420, "i420"},
    {AV_PIX_FMT_NV12, CU264_FORMAT_NV12, "nv12"},
    {AV_PIX_FMT_GRAY8, CU264_FORMAT_GRAY8, "gray8"},
    {AV_PIX_FMT_RGB24, CU264_FORMAT_RGB24, "rgb24"},
    {AV_PIX_FMT_BGR24, CU264_FORMAT_BGR24, "bgr24"},
    {AV_PIX_FMT_RGB0, CU264_FORMAT_RGBA32, "rgba32"},
    {AV_PIX_FMT_BGR0, CU264_FORMAT_BGRA32, "bgra32"},
    {AV_PIX_FMT_GBRP, CU264_FORMAT_RGB_PLANAR, "rgb-planar"},
};

/* Index in `formats`, or -1. */
static int find_format(enum AVPixelFormat format) {
  for (int i = 0; i < FF_ARRAY_ELEMS(formats); i++)
    if (formats[i].format == format) return i;
  return -1;
}

/* Says which device the frames in `frames` are on. */
static void set_device(Settings* s, const AVHWFramesContext* frames) {
#if CONFIG_CUDA
  const AVCUDADeviceContext* cuda = frames->device_ctx->hwctx;
  set(s, "backend", "cuda");
  set_printed(s, "device", "%d", (int)cuda->internal->cuda_device);
#endif
}

static void set_all(Settings* s) {
  AVCodecContext* avctx = s->avctx;
  const Cu264Context* own = avctx->priv_data;
  const AVHWFramesContext* frames = avctx->hw_frames_ctx ? (void*)avctx->hw_frames_ctx->data : NULL;
  const enum AVPixelFormat format = frames ? frames->sw_format : avctx->pix_fmt;
  const AVDictionaryEntry* entry = NULL;
  const int known = find_format(format);
  if (known < 0 || (avctx->pix_fmt == AV_PIX_FMT_CUDA && !frames)) {
    av_log(avctx, AV_LOG_ERROR,
           frames || avctx->pix_fmt != AV_PIX_FMT_CUDA
               ? "libcu264 does not take frames of the format %s\n"
               : "libcu264 needs hw_frames_ctx for frames in CUDA memory (%s)\n",
           av_get_pix_fmt_name(format));
    s->error = AVERROR(EINVAL);
    return;
  }
  set_printed(s, "size", "%dx%d", avctx->width, avctx->height);
  set(s, "input-format", formats[known].name);
  set_colour(s, format);
  if (avctx->framerate.num > 0 && avctx->framerate.den > 0)
    set_printed(s, "fps", "%d/%d", avctx->framerate.num, avctx->framerate.den);
  else
    set_printed(s, "fps", "%d/%d", avctx->time_base.den, avctx->time_base.num);
  set_printed(s, "time-base", "%d/%d", avctx->time_base.num, avctx->time_base.den);
  if (avctx->sample_aspect_ratio.num > 0 && avctx->sample_aspect_ratio.den > 0)
    set_printed(s, "sar", "%d:%d", avctx->sample_aspect_ratio.num, avctx->sample_aspect_ratio.den);

  if (own->qp >= 0) set_printed(s, "qp", "%d", own->qp);
  if (own->crf >= 0) set_printed(s, "crf", "%g", own->crf);
  set_kbit(s, "bitrate", avctx->bit_rate);
  set_kbit(s, "maxrate", avctx->rc_max_rate);
  set_kbit(s, "bufsize", avctx->rc_buffer_size);
  if (own->cbr) set(s, "cbr", "on");
  set_text(s, "preset", own->preset);
  set_profile(s);
  if (own->level)
    set(s, "level", own->level);
  else if (avctx->level == 9)
    set(s, "level", "1b");
  else if (avctx->level > 0)
    set_printed(s, "level", "%d", avctx->level);
  set_text(s, "aq", own->aq);
  if (own->aq_strength > 0) set_printed(s, "aq-strength", "%d", own->aq_strength);
  if (avctx->slices > 0) set_printed(s, "slices", "%d", avctx->slices);
  /* 0 is intra only here, as with other encoders of FFmpeg's; cu264's own 0 comes through cu264-params. */
  if (avctx->gop_size > 1) set_printed(s, "gop", "%d", avctx->gop_size);
  set(s, "headers",
      avctx->flags & AV_CODEC_FLAG_GLOBAL_HEADER ? "separate"
      : own->headers_first                       ? "first"
                                                 : "every");

  if (avctx->thread_count > 0) set_printed(s, "threads", "%d", avctx->thread_count);
  set_text(s, "backend", own->backend);
  set_text(s, "device", own->device);
  if (frames) set_device(s, frames);
  if (avctx->flags & AV_CODEC_FLAG_LOW_DELAY) {
    set(s, "batch", "1");
    set(s, "lookahead", "0");
  }
  if (own->batch >= 0) set_printed(s, "batch", "%d", own->batch);
  if (own->lookahead >= 0) set_printed(s, "lookahead", "%d", own->lookahead);
  while ((entry = av_dict_get(own->params, "", entry, AV_DICT_IGNORE_SUFFIX)))
    set(s, entry->key, entry->value);
}

/* ---- Opening ------------------------------------------------------------------------------------------- */

static int take_headers(AVCodecContext* avctx, const cu264_info* info) {
  avctx->extradata = av_mallocz(info->headers_size + AV_INPUT_BUFFER_PADDING_SIZE);
  if (!avctx->extradata) return AVERROR(ENOMEM);
  memcpy(avctx->extradata, info->headers, info->headers_size);
  avctx->extradata_size = info->headers_size;
  return 0;
}

static av_cold int cu264_init(AVCodecContext* avctx) {
  Cu264Context* own = avctx->priv_data;
  Settings settings = {avctx};
  cu264_info* info = NULL;
  cu264_status status = cu264_config_create(&settings.config);
  if (status == CU264_OK) status = cu264_config_set_log(settings.config, log_line, avctx);
  if (status == CU264_OK) {
    if (avctx->flags & AV_CODEC_FLAG_INTERLACED_DCT)
      av_log(avctx, AV_LOG_WARNING, "libcu264 codes pictures as progressive\n");
    set_all(&settings);
    if (settings.error >= 0) status = cu264_encoder_open(settings.config, &own->encoder);
  }
  cu264_config_destroy(settings.config);
  if (settings.error < 0) return settings.error;
  if (status == CU264_OK) status = cu264_encoder_info(own->encoder, &info);
  if (status != CU264_OK) return error_of(avctx, status);

  avctx->profile = !strcmp(info->profile, "high")   ? AV_PROFILE_H264_HIGH
                   : !strcmp(info->profile, "main") ? AV_PROFILE_H264_MAIN
                                                    : AV_PROFILE_H264_CONSTRAINED_BASELINE;
  avctx->level = info->level_idc;
  avctx->has_b_frames = 0;
  if (avctx->flags & AV_CODEC_FLAG_GLOBAL_HEADER) settings.error = take_headers(avctx, info);
  cu264_info_release(info);
  return settings.error;
}

/* ---- SEI messages of side data ------------------------------------------------------------------------- */

static int add_message(Picture* picture, int type, const void* payload, size_t size) {
  Message* message = &picture->messages[picture->message_count];
  message->type = type;
  message->size = size;
  message->payload = av_memdup(payload, size);
  if (!message->payload) return AVERROR(ENOMEM);
  picture->message_count++;
  return 0;
}

/* Writes a value in units of 1 / scale, as far as the bytes hold it. */
static uint8_t* put_units(uint8_t* out, AVRational value, int scale, int bytes) {
  const double most = bytes == 2 ? UINT16_MAX : UINT32_MAX;
  const double units = value.den ? av_q2d(value) * scale + 0.5 : 0;
  const uint32_t number = (uint32_t)av_clipd(units, 0, most);
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) *out++ = (number >> shift) & 0xff;
  return out;
}

/* Mastering display colour volume (H.264 D.1.29), green, blue and red in this order. */
static int add_mastering_display(Picture* picture, const AVMasteringDisplayMetadata* display) {
  static const int order[] = {1, 2, 0};
  uint8_t payload[24], *out = payload;
  if (!display->has_primaries || !display->has_luminance) return 0;
  for (int i = 0; i < 3; i++)
    for (int axis = 0; axis < 2; axis++)
      out = put_units(out, display->display_primaries[order[i]][axis], 50000, 2);
  for (int axis = 0; axis < 2; axis++) out = put_units(out, display->white_point[axis], 50000, 2);
  out = put_units(out, display->max_luminance, 10000, 4);
  put_units(out, display->min_luminance, 10000, 4);
  return add_message(picture, 137, payload, sizeof(payload));
}

static int add_light_level(Picture* picture, const AVContentLightMetadata* light) {
  uint8_t payload[4];
  put_units(put_units(payload, (AVRational){FFMIN(light->MaxCLL, UINT16_MAX), 1}, 1, 2),
            (AVRational){FFMIN(light->MaxFALL, UINT16_MAX), 1}, 1, 2);
  return add_message(picture, 144, payload, sizeof(payload));
}

static const AVFrameSideData* find_side_data(const AVCodecContext* avctx, const AVFrame* frame,
                                             enum AVFrameSideDataType type) {
  const AVFrameSideData* data = av_frame_get_side_data(frame, type);
#if LIBAVCODEC_VERSION_MAJOR >= 61
  if (!data) data = av_frame_side_data_get(avctx->decoded_side_data, avctx->nb_decoded_side_data, type);
#endif
  return data;
}

static int add_messages(AVCodecContext* avctx, Picture* picture, const AVFrame* frame) {
  const Cu264Context* own = avctx->priv_data;
  const AVFrameSideData* data;
  int error;
  if (own->a53_cc) {
    void* captions = NULL;
    size_t size = 0;
    error = ff_alloc_a53_sei(frame, 0, &captions, &size);
    if (error >= 0 && captions) error = add_message(picture, 4, captions, size);
    av_free(captions);
    if (error < 0) return error;
  }
  data = find_side_data(avctx, frame, AV_FRAME_DATA_MASTERING_DISPLAY_METADATA);
  if (data && (error = add_mastering_display(picture, (const void*)data->data)) < 0) return error;
  data = find_side_data(avctx, frame, AV_FRAME_DATA_CONTENT_LIGHT_LEVEL);
  if (data && (error = add_light_level(picture, (const void*)data->data)) < 0) return error;
  return 0;
}

/* ---- Pictures ------------------------------------------------------------------------------------------ */

static void free_picture(Picture* picture) {
  if (!picture) return;
  for (int i = 0; i < picture->message_count; i++) av_free(picture->messages[i].payload);
  av_frame_free(&picture->frame);
  av_free(picture);
}

static void free_pictures(Cu264Context* own) {
  while (own->first) {
    Picture* picture = own->first;
    own->first = picture->next;
    free_picture(picture);
  }
  own->last = NULL;
  free_picture(own->waiting);
  own->waiting = NULL;
}

/* Takes the picture of a packet out of the queue, and the ones before it, which were left out. */
static Picture* picture_of(Cu264Context* own, const cu264_packet* packet) {
  Picture* picture;
  while ((picture = own->first)) {
    own->first = picture->next;
    if (!own->first) own->last = NULL;
    if (picture == packet->user_data) return picture;
    free_picture(picture);
  }
  return NULL;
}

/* Fetches the next frame as own->waiting. */
static int fetch(AVCodecContext* avctx) {
  Cu264Context* own = avctx->priv_data;
  Picture* picture = av_mallocz(sizeof(*picture));
  int error;
  if (!picture || !(picture->frame = av_frame_alloc()))
    error = AVERROR(ENOMEM);
  else if ((error = ff_encode_get_frame(avctx, picture->frame)) >= 0)
    error = add_messages(avctx, picture, picture->frame);
  if (error < 0)
    free_picture(picture);
  else
    own->waiting = picture;
  return error;
}

/* Drops samples that the encoder has copied, and keeps what belongs to the packet. */
static int drop_samples(Picture* picture) {
  AVFrame* kept = av_frame_alloc();
  if (!kept) return AVERROR(ENOMEM);
  kept->opaque = picture->frame->opaque;
  FFSWAP(AVBufferRef*, kept->opaque_ref, picture->frame->opaque_ref);
#ifdef AV_CODEC_FLAG_COPY_OPAQUE
  kept->duration = picture->frame->duration;
#else
  kept->pkt_duration = picture->frame->pkt_duration;
  kept->reordered_opaque = picture->frame->reordered_opaque;
#endif
  av_frame_free(&picture->frame);
  picture->frame = kept;
  return 0;
}

/* Describes a frame for the encoder. */
static int describe(AVCodecContext* avctx, const Picture* picture, cu264_frame* out) {
  const AVFrame* frame = picture->frame;
  enum AVPixelFormat format = frame->format;
  int known;
  *out = (cu264_frame){.struct_size = sizeof(*out),
                       .width = frame->width,
                       .height = frame->height,
                       .pts = frame->pts,
                       .key = frame->pict_type == AV_PICTURE_TYPE_I,
                       .user_data = (void*)picture};
#ifdef AV_CODEC_FLAG_COPY_OPAQUE /* before, durations were those of an input's packets, in its own units */
  out->duration = FFMAX(frame->duration, 0);
#endif
#if CONFIG_CUDA
  if (format == AV_PIX_FMT_CUDA && frame->hw_frames_ctx) {
    const AVHWFramesContext* frames = (const void*)frame->hw_frames_ctx->data;
    format = frames->sw_format;
    out->memory = CU264_MEMORY_DEVICE;
    out->stream = ((const AVCUDADeviceContext*)frames->device_ctx->hwctx)->stream;
  }
#endif
  known = find_format(format);
  if (known < 0) {
    av_log(avctx, AV_LOG_ERROR, "A frame has the format %s, which was not announced.\n",
           av_get_pix_fmt_name(frame->format));
    return AVERROR(EINVAL);
  }
  out->format = formats[known].own;
  for (int i = 0; i < 3; i++) {
    /* The planes of GBRP are in this order. */
    const int plane = format == AV_PIX_FMT_GBRP ? (i + 2) % 3 : i;
    out->plane[i] = frame->data[plane];
    out->pitch[i] = frame->linesize[plane];
  }
  for (int i = 0; i < picture->message_count; i++) {
    const Message* message = &picture->messages[i];
    uint64_t bytes = 0;
    const cu264_status status = cu264_sei_bytes(message->type, message->payload, message->size, &bytes);
    if (status != CU264_OK) return error_of(avctx, status);
    out->added_bytes += bytes;
  }
  return 0;
}

/* The context of a frame in CUDA memory is current while the frame is sent: where its device names no stream,
 * frames are written on the default stream of that context. */
static int send_in_context(AVCodecContext* avctx, const AVFrame* from, const cu264_frame* frame,
                           cu264_status* status) {
  Cu264Context* own = avctx->priv_data;
#if CONFIG_CUDA
  if (from->format == AV_PIX_FMT_CUDA && from->hw_frames_ctx) {
    const AVHWFramesContext* frames = (const void*)from->hw_frames_ctx->data;
    const AVCUDADeviceContext* cuda = frames->device_ctx->hwctx;
    CudaFunctions* const driver = cuda->internal->cuda_dl;
    CUcontext popped;
    if (driver->cuCtxPushCurrent(cuda->cuda_ctx) != CUDA_SUCCESS) {
      av_log(avctx, AV_LOG_ERROR, "The CUDA context of a frame cannot be used.\n");
      return AVERROR_EXTERNAL;
    }
    *status = cu264_encoder_send(own->encoder, frame);
    driver->cuCtxPopCurrent(&popped);
    return 0;
  }
#endif
  *status = cu264_encoder_send(own->encoder, frame);
  return 0;
}

/* Hands the waiting picture to the encoder. Returns AVERROR(EAGAIN) if it is full. */
static int send_waiting(AVCodecContext* avctx) {
  Cu264Context* own = avctx->priv_data;
  Picture* picture = own->waiting;
  cu264_frame frame;
  cu264_status status;
  int error = describe(avctx, picture, &frame);
  if (error < 0) return error;
  error = send_in_context(avctx, picture->frame, &frame, &status);
  if (error < 0) return error;
  if (status == CU264_AGAIN) return AVERROR(EAGAIN);
  if (status != CU264_OK) return error_of(avctx, status);
  if (own->last)
    own->last->next = picture;
  else
    own->first = picture;
  own->last = picture;
  own->waiting = NULL;
  /* Device memory is read later. */
  return frame.memory == CU264_MEMORY_HOST ? drop_samples(picture) : 0;
}

/* ---- Packets ------------------------------------------------------------------------------------------- */

static int fill_packet(AVCodecContext* avctx, AVPacket* out, const cu264_packet* packet,
                       const AVFrame* frame) {
  const enum AVPictureType type = packet->key ? AV_PICTURE_TYPE_I : AV_PICTURE_TYPE_P;
  int error = ff_get_encode_buffer(avctx, out, packet->size, 0);
  if (error < 0) return error;
  memcpy(out->data, packet->data, packet->size);
  out->pts = out->dts = packet->pts;
  if (packet->key) out->flags |= AV_PKT_FLAG_KEY;
#if LIBAVCODEC_VERSION_MAJOR < 62
  error = ff_side_data_set_encoder_stats(out, packet->qp * FF_QP2LAMBDA, NULL, 0, type);
#else
  error = ff_encode_add_stats_side_data(out, packet->qp * FF_QP2LAMBDA, NULL, 0, type);
#endif
  if (error < 0 || !frame) return error;
#ifdef AV_CODEC_FLAG_COPY_OPAQUE
  out->duration = frame->duration;
  return ff_encode_reordered_opaque(avctx, out, frame);
#else
  out->duration = frame->pkt_duration;
  avctx->reordered_opaque = frame->reordered_opaque;
  return 0;
#endif
}

static int give_packet(AVCodecContext* avctx, AVPacket* out, cu264_packet* packet) {
  Cu264Context* own = avctx->priv_data;
  Picture* picture = picture_of(own, packet);
  int error = 0;
  for (int i = 0; picture && i < picture->message_count && error >= 0; i++) {
    const Message* message = &picture->messages[i];
    const cu264_status status =
        cu264_packet_insert_sei(packet, message->type, message->payload, message->size);
    if (status != CU264_OK) error = error_of(avctx, status);
  }
  if (error >= 0) error = fill_packet(avctx, out, packet, picture ? picture->frame : NULL);
  free_picture(picture);
  cu264_packet_release(packet);
  return error;
}

/* Returns AVERROR(EAGAIN) if there is no packet without another call. `sleeps`: waits for what is on its way.
 */
static int receive(AVCodecContext* avctx, AVPacket* out, int sleeps) {
  Cu264Context* own = avctx->priv_data;
  cu264_packet* packet = NULL;
  const cu264_status status =
      sleeps ? cu264_encoder_wait(own->encoder, -1, &packet) : cu264_encoder_receive(own->encoder, &packet);
  if (status == CU264_AGAIN) return AVERROR(EAGAIN);
  return status == CU264_OK ? give_packet(avctx, out, packet) : error_of(avctx, status);
}

static int cu264_receive_packet(AVCodecContext* avctx, AVPacket* out) {
  Cu264Context* own = avctx->priv_data;
  const int low_delay = !!(avctx->flags & AV_CODEC_FLAG_LOW_DELAY);
  for (;;) {
    int error = 0;
    if (!own->waiting && !own->flushed) {
      error = fetch(avctx);
      if (error == AVERROR(EAGAIN)) return receive(avctx, out, 0);
      if (error == AVERROR_EOF) {
        const cu264_status status = cu264_encoder_flush(own->encoder);
        if (status != CU264_OK) return error_of(avctx, status);
        own->flushed = 1;
      } else if (error < 0) {
        return error;
      }
    }
    if (own->waiting) {
      error = send_waiting(avctx);
      if (error < 0 && error != AVERROR(EAGAIN)) return error;
    }
    /* Waits by itself if the encoder is full or was flushed. */
    error = receive(avctx, out, low_delay && !own->flushed);
    if (error != AVERROR(EAGAIN)) return error;
    if (own->flushed) return AVERROR_EOF;
  }
}

/* Forgets what was sent; the next frame begins another stream. */
static av_cold void cu264_forget(AVCodecContext* avctx) {
  Cu264Context* own = avctx->priv_data;
  cu264_packet* packet = NULL;
  if (cu264_encoder_flush(own->encoder) == CU264_OK)
    while (cu264_encoder_receive(own->encoder, &packet) == CU264_OK) cu264_packet_release(packet);
  free_pictures(own);
  own->flushed = 0;
}

static av_cold int cu264_close(AVCodecContext* avctx) {
  Cu264Context* own = avctx->priv_data;
  cu264_encoder_destroy(own->encoder); /* from here on it reads no frame */
  own->encoder = NULL;
  free_pictures(own);
  return 0;
}

/* ---- The codec ----------------------------------------------------------------------------------------- */

#define OFFSET(member) offsetof(Cu264Context, member)
#define VE AV_OPT_FLAG_VIDEO_PARAM | AV_OPT_FLAG_ENCODING_PARAM
static const AVOption options[] = {
    {"qp", "Constant quantiser", OFFSET(qp), AV_OPT_TYPE_INT, {.i64 = -1}, -1, 51, VE},
    {"crf", "Constant quality, on x264's scale", OFFSET(crf), AV_OPT_TYPE_FLOAT, {.dbl = -1}, -1, 51, VE},
    {"preset",
     "Effort of the search: fast, balanced or best",
     OFFSET(preset),
     AV_OPT_TYPE_STRING,
     {.str = NULL},
     0,
     0,
     VE},
    {"profile", "auto, baseline, main or high", OFFSET(profile), AV_OPT_TYPE_STRING, {.str = NULL}, 0, 0, VE},
    {"level",
     "The level that the stream keeps to, as 4.1",
     OFFSET(level),
     AV_OPT_TYPE_STRING,
     {.str = NULL},
     0,
     0,
     VE},
    {"aq-mode",
     "Adaptive quantisation: auto, variance, steps, edges or off",
     OFFSET(aq),
     AV_OPT_TYPE_STRING,
     {.str = NULL},
     0,
     0,
     VE},
    {"aq-strength",
     "Of the kinds steps and edges",
     OFFSET(aq_strength),
     AV_OPT_TYPE_INT,
     {.i64 = 0},
     0,
     3,
     VE},
    {"cbr", "Constant bitrate, by filler data", OFFSET(cbr), AV_OPT_TYPE_BOOL, {.i64 = 0}, 0, 1, VE},
    {"lookahead",
     "Pictures that a bitrate looks ahead at",
     OFFSET(lookahead),
     AV_OPT_TYPE_INT,
     {.i64 = -1},
     -1,
     250,
     VE},
    {"headers_first",
     "SPS and PPS before the first picture alone, instead of every key picture",
     OFFSET(headers_first),
     AV_OPT_TYPE_BOOL,
     {.i64 = 0},
     0,
     1,
     VE},
    {"backend",
     "What encodes: auto, cuda or cpu",
     OFFSET(backend),
     AV_OPT_TYPE_STRING,
     {.str = NULL},
     0,
     0,
     VE},
    {"device",
     "CUDA devices that share the work, as 0 or 0,1",
     OFFSET(device),
     AV_OPT_TYPE_STRING,
     {.str = NULL},
     0,
     0,
     VE},
    {"batch",
     "Pictures that a device encodes together; 0 fills it",
     OFFSET(batch),
     AV_OPT_TYPE_INT,
     {.i64 = -1},
     -1,
     INT_MAX,
     VE},
    {"forced-idr",
     "Accepted; key pictures that are asked for are IDR pictures in any case",
     OFFSET(forced_idr),
     AV_OPT_TYPE_BOOL,
     {.i64 = 0},
     0,
     1,
     VE},
    {"a53cc", "Keep A53 closed captions", OFFSET(a53_cc), AV_OPT_TYPE_BOOL, {.i64 = 1}, 0, 1, VE},
    {"cu264-params",
     "Any other options of cu264, as name=value:name=value",
     OFFSET(params),
     AV_OPT_TYPE_DICT,
     {.str = NULL},
     0,
     0,
     VE},
    {NULL},
};

static const AVClass cu264_class = {
    .class_name = "libcu264",
    .item_name = av_default_item_name,
    .option = options,
    .version = LIBAVUTIL_VERSION_INT,
};

/* Without a bitrate the constant quantiser holds, and without -g every picture is a key picture. */
static const FFCodecDefault defaults[] = {
    {"b", "0"},
    {"g", "1"},
    {NULL},
};

static const enum AVPixelFormat pixel_formats[] = {
    AV_PIX_FMT_YUV420P, AV_PIX_FMT_YUVJ420P, AV_PIX_FMT_NV12, AV_PIX_FMT_GRAY8, AV_PIX_FMT_RGB24,
    AV_PIX_FMT_BGR24,   AV_PIX_FMT_RGB0,     AV_PIX_FMT_BGR0, AV_PIX_FMT_GBRP,
#if CONFIG_CUDA
    AV_PIX_FMT_CUDA,
#endif
    AV_PIX_FMT_NONE,
};

#if CONFIG_CUDA
static const AVCodecHWConfigInternal* const hw_configs[] = {
    HW_CONFIG_ENCODER_FRAMES(CUDA, CUDA),
    HW_CONFIG_ENCODER_DEVICE(NONE, CUDA),
    NULL,
};
#endif

const FFCodec ff_libcu264_encoder = {
    .p.name = "libcu264",
    CODEC_LONG_NAME("libcu264 H.264"),
    .p.type = AVMEDIA_TYPE_VIDEO,
    .p.id = AV_CODEC_ID_H264,
    .p.capabilities = AV_CODEC_CAP_DR1 | AV_CODEC_CAP_DELAY | AV_CODEC_CAP_OTHER_THREADS |
#if CONFIG_CUDA
                      AV_CODEC_CAP_HARDWARE |
#endif
                      AV_CODEC_CAP_ENCODER_FLUSH | AV_CODEC_CAP_ENCODER_REORDERED_OPAQUE,
    .p.priv_class = &cu264_class,
    .p.wrapper_name = "libcu264",
    CODEC_PIXFMTS_ARRAY(pixel_formats),
    .priv_data_size = sizeof(Cu264Context),
    .defaults = defaults,
    .init = cu264_init,
    FF_CODEC_RECEIVE_PACKET_CB(cu264_receive_packet),
    .flush = cu264_forget,
    .close = cu264_close,
    .caps_internal = FF_CODEC_CAP_INIT_THREADSAFE | FF_CODEC_CAP_INIT_CLEANUP | FF_CODEC_CAP_AUTO_THREADS,
#if LIBAVCODEC_VERSION_MAJOR >= 61
    .color_ranges = AVCOL_RANGE_MPEG | AVCOL_RANGE_JPEG,
#endif
#if CONFIG_CUDA
    .hw_configs = hw_configs,
#endif
};
