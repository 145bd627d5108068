/* What programs that call libavcodec rely on, and the ffmpeg command does not show: encoders in threads, low
 * delay, opaque values, headers, a flush between streams. Prints what is wrong. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "libavcodec/avcodec.h"
#include "libavutil/opt.h"

enum { kWidth = 64, kHeight = 48, kPictures = 12, kForced = 7 };

static int failures = 0;

#define EXPECT(condition)                                                                          \
  do {                                                                                             \
    if (!(condition)) fprintf(stderr, "codec_calls.c:%d: %s\n", __LINE__, #condition), ++failures; \
  } while (0)

typedef struct Stream {
  AVPacket* packets[kPictures];
  int count;
} Stream;

/* A GOP of 0 is not set. */
static AVCodecContext* open_with_gop(int flags, const char* qp, int gop) {
  const AVCodec* const codec = avcodec_find_encoder_by_name("libcu264");
  AVCodecContext* const context = avcodec_alloc_context3(codec);
  context->width = kWidth, context->height = kHeight;
  context->pix_fmt = AV_PIX_FMT_GRAY8;
  context->time_base = (AVRational){1, 1000};
  context->framerate = (AVRational){25, 1};
  context->flags = flags;
  if (gop > 0) context->gop_size = gop;
  EXPECT(av_opt_set(context->priv_data, "qp", qp, 0) == 0);
  EXPECT(avcodec_open2(context, codec, NULL) == 0);
  EXPECT(context->has_b_frames == 0);
  return context;
}

static AVCodecContext* open_encoder(int flags, const char* qp) {
  return open_with_gop(flags, qp, 0);
}

static AVFrame* made_frame(int number) {
  AVFrame* const frame = av_frame_alloc();
  frame->format = AV_PIX_FMT_GRAY8, frame->width = kWidth, frame->height = kHeight;
  EXPECT(av_frame_get_buffer(frame, 0) == 0);
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x)
      frame->data[0][y * frame->linesize[0] + x] = (uint8_t)(3 * x + y * y / 5 + 9 * number);
  frame->pts = 40 * number;
  if (number == kForced) frame->pict_type = AV_PICTURE_TYPE_I;
  frame->opaque = (void*)(intptr_t)(1000 + number);
#ifndef AV_CODEC_FLAG_COPY_OPAQUE
  frame->reordered_opaque = 1000 + number;
#endif
  return frame;
}

/* A picture of type I begins a GOP. */
static int is_key(const AVCodecContext* context, int number) {
  return (number < kForced ? number : number - kForced) % context->gop_size == 0;
}

/* The type in the side data that encoders tell of a packet: bytes 4 of AV_PKT_DATA_QUALITY_STATS. */
static void check_type(const AVPacket* packet, int key) {
  const uint8_t* const stats = av_packet_get_side_data(packet, AV_PKT_DATA_QUALITY_STATS, NULL);
  EXPECT(stats != NULL && stats[4] == (key ? AV_PICTURE_TYPE_I : AV_PICTURE_TYPE_P));
}

static void take(AVCodecContext* context, Stream* stream) {
  AVPacket* packet = av_packet_alloc();
  while (avcodec_receive_packet(context, packet) == 0) {
    const int number = stream->count;
    EXPECT(number < kPictures && packet->pts == 40 * number && packet->dts == packet->pts);
    const int key = is_key(context, number);
    EXPECT(!!(packet->flags & AV_PKT_FLAG_KEY) == key && packet->size > 4);
    check_type(packet, key);
#ifdef AV_CODEC_FLAG_COPY_OPAQUE
    EXPECT(packet->opaque == (void*)(intptr_t)(1000 + number));
#else
    EXPECT(context->reordered_opaque == 1000 + number);
#endif
    stream->packets[stream->count++] = packet;
    packet = av_packet_alloc();
  }
  av_packet_free(&packet);
}

/* Null ends the stream. */
static void send_frame(AVCodecContext* context, const AVFrame* frame, Stream* stream) {
  int status;
  while ((status = avcodec_send_frame(context, frame)) == AVERROR(EAGAIN)) take(context, stream);
  EXPECT(status == 0);
}

static void send(AVCodecContext* context, int number, Stream* stream) {
  AVFrame* frame = made_frame(number);
  send_frame(context, frame, stream);
  av_frame_free(&frame);
}

static void encode(AVCodecContext* context, Stream* stream) {
  for (int i = 0; i < kPictures; ++i) {
    send(context, i, stream);
    if (context->flags & AV_CODEC_FLAG_LOW_DELAY) {
      take(context, stream);
      EXPECT(stream->count == i + 1);
    }
  }
  send_frame(context, NULL, stream);
  take(context, stream);
  EXPECT(stream->count == kPictures);
}

static int equal(const Stream* a, const Stream* b) {
  for (int i = 0; i < kPictures; ++i)
    if (a->packets[i]->size != b->packets[i]->size ||
        memcmp(a->packets[i]->data, b->packets[i]->data, a->packets[i]->size) != 0)
      return 0;
  return 1;
}

static void clear(Stream* stream) {
  while (stream->count > 0) av_packet_free(&stream->packets[--stream->count]);
}

static int common_flags(void) {
#ifdef AV_CODEC_FLAG_COPY_OPAQUE
  return AV_CODEC_FLAG_COPY_OPAQUE;
#else
  return 0;
#endif
}

static void* encode_apart(void* stream) {
  AVCodecContext* context = open_encoder(common_flags(), "30");
  encode(context, stream);
  avcodec_free_context(&context);
  return NULL;
}

int main(void) {
  Stream first = {.count = 0}, other = {.count = 0};
  AVCodecContext* context = open_encoder(common_flags(), "30");
  av_log_set_level(AV_LOG_ERROR);
  EXPECT(context->extradata_size == 0);
  encode(context, &first);

  /* The next stream of the same encoder, after a flush with pictures on their way. */
  avcodec_flush_buffers(context);
  send(context, 0, &other);
  clear(&other);
  avcodec_flush_buffers(context);
  encode(context, &other);
  EXPECT(equal(&first, &other));
  clear(&other);
  avcodec_free_context(&context);

  /* Each packet with its frame. */
  context = open_encoder(common_flags() | AV_CODEC_FLAG_LOW_DELAY, "30");
  encode(context, &other);
  EXPECT(equal(&first, &other));
  clear(&other);
  /* Closed with pictures on their way. */
  avcodec_free_context(&context);
  context = open_encoder(common_flags(), "30");
  send(context, 0, &other);
  clear(&other);
  avcodec_free_context(&context);

  context = open_with_gop(common_flags(), "30", 4);
  encode(context, &other);
  EXPECT(!equal(&first, &other));
  clear(&other);
  avcodec_free_context(&context);

  context = open_encoder(AV_CODEC_FLAG_GLOBAL_HEADER, "30");
  EXPECT(context->extradata_size > 8 && (context->extradata[4] & 31) == 7 && context->profile == 100);
  avcodec_free_context(&context);

  enum { kThreads = 4 };
  pthread_t threads[kThreads];
  Stream streams[kThreads] = {{.count = 0}};
  for (int i = 0; i < kThreads; ++i)
    EXPECT(pthread_create(&threads[i], NULL, encode_apart, &streams[i]) == 0);
  for (int i = 0; i < kThreads; ++i) {
    EXPECT(pthread_join(threads[i], NULL) == 0);
    EXPECT(equal(&first, &streams[i]));
    clear(&streams[i]);
  }
  clear(&first);
  if (failures == 0) printf("libavcodec's calls work\n");
  return failures != 0;
}
