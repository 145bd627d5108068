/* The API as a C program uses it: every kind of error has a status and a text, and a stream is coded. */
#include <cu264/cu264.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;

static void fail(int line, const char* what) {
  fprintf(stderr, "c_calls.c:%d: %s; the last error is \"%s\"\n", line, what, cu264_last_error());
  ++failures;
}

#define EXPECT(condition)                         \
  do {                                            \
    if (!(condition)) fail(__LINE__, #condition); \
  } while (0)

/* A call must fail with this status and say these words. */
#define EXPECT_ERROR(call, status, words)              \
  do {                                                 \
    EXPECT((call) == (status));                        \
    EXPECT(strstr(cu264_last_error(), words) != NULL); \
  } while (0)

enum { kWidth = 48, kHeight = 32, kPictures = 5 };

static uint8_t samples[kPictures][kHeight][kWidth];

static cu264_frame frame_of(int picture) {
  cu264_frame frame = {.struct_size = sizeof frame, .format = CU264_FORMAT_GRAY8};
  frame.width = kWidth, frame.height = kHeight;
  frame.plane[0] = samples[picture][0], frame.pitch[0] = kWidth;
  frame.pts = 100 + 3 * picture;
  frame.user_data = &samples[picture];
  return frame;
}

static void count_lines(void* opaque, cu264_log_level level, const char* message) {
  int* const lines = opaque;
  EXPECT(level == CU264_LOG_WARNING || level == CU264_LOG_INFO);
  EXPECT(strchr(message, '\n') == NULL && message[0] != 0);
  ++lines[level];
}

static cu264_config* config_of(const char* size) {
  cu264_config* config = NULL;
  EXPECT(cu264_config_create(&config) == CU264_OK);
  EXPECT(cu264_config_set(config, "size", size) == CU264_OK);
  EXPECT(cu264_config_set(config, "backend", "cpu") == CU264_OK);
  EXPECT(cu264_config_set(config, "threads", "2") == CU264_OK);
  return config;
}

static void test_library(void) {
  char macros[32];
  snprintf(macros, sizeof macros, "%d.%d.%d", CU264_VERSION_MAJOR, CU264_VERSION_MINOR, CU264_VERSION_PATCH);
  EXPECT(strcmp(cu264_version(), macros) == 0);
  EXPECT(strstr(cu264_build_info(), macros) != NULL);
  EXPECT(strcmp(cu264_last_error(), "") == 0); /* before anything failed */
  EXPECT(strcmp(cu264_status_name(CU264_OUT_OF_MEMORY), "out_of_memory") == 0);
  EXPECT(strcmp(cu264_status_name((cu264_status)77), "unknown") == 0);
  cu264_release_cached_memory();
}

static void test_options(void) {
  cu264_config* config = config_of("48x32");
  int qp = 0, time_base = 0;
  for (size_t i = 0; i < cu264_option_count(); ++i) {
    const cu264_option* const option = cu264_option_at(i);
    EXPECT(option != NULL && option->struct_size == sizeof *option);
    EXPECT(option->name[0] != 0 && option->value[0] != 0 && option->meaning[0] != 0);
    EXPECT(option->group >= CU264_GROUP_CODING && option->group <= CU264_GROUP_RATE);
    qp += strcmp(option->name, "qp") == 0, time_base += strcmp(option->name, "time-base") == 0;
    EXPECT_ERROR(cu264_config_set(config, option->name, "no such value"), CU264_INVALID_ARGUMENT, "use ");
    if (option->implicit_value == NULL)
      EXPECT_ERROR(cu264_config_set(config, option->name, NULL), CU264_INVALID_ARGUMENT, "needs a value");
    else
      EXPECT(cu264_config_set(config, option->name, NULL) == CU264_OK);
  }
  EXPECT(qp == 1 && time_base == 1);
  EXPECT(cu264_option_at(cu264_option_count()) == NULL);
  EXPECT_ERROR(cu264_config_set(config, "qq", "1"), CU264_INVALID_ARGUMENT,
               "unknown option \"qq\" (use one of qp");
  EXPECT(strstr(cu264_last_error(), "time-base") != NULL);
  EXPECT_ERROR(cu264_config_set(config, "qp", "52"), CU264_INVALID_ARGUMENT, "bad qp \"52\"");
  EXPECT_ERROR(cu264_config_set(config, "time-base", "1/0"), CU264_INVALID_ARGUMENT, "time-base");
  EXPECT_ERROR(cu264_config_set(config, NULL, "1"), CU264_INVALID_ARGUMENT, "is null");
  EXPECT_ERROR(cu264_config_set(NULL, "qp", "1"), CU264_INVALID_ARGUMENT, "config is null");
  EXPECT_ERROR(cu264_config_create(NULL), CU264_INVALID_ARGUMENT, "config is null");
  EXPECT_ERROR(cu264_config_set_log(NULL, NULL, NULL), CU264_INVALID_ARGUMENT, "config is null");
  cu264_config* copy = config;
  EXPECT_ERROR(cu264_config_copy(NULL, &copy), CU264_INVALID_ARGUMENT, "from is null");
  EXPECT(copy == NULL);
  EXPECT_ERROR(cu264_config_copy(config, NULL), CU264_INVALID_ARGUMENT, "config is null");
  EXPECT(cu264_config_copy(config, &copy) == CU264_OK && copy != NULL);
  cu264_config_destroy(copy);
  cu264_config_destroy(config);
  cu264_config_destroy(NULL);
}

static void test_open(void) {
  cu264_config* config = NULL;
  cu264_encoder* encoder = (cu264_encoder*)&config;
  EXPECT(cu264_config_create(&config) == CU264_OK);
  EXPECT_ERROR(cu264_encoder_open(config, &encoder), CU264_INVALID_ARGUMENT, "width 0");
  EXPECT(encoder == NULL);
  EXPECT_ERROR(cu264_encoder_open(NULL, &encoder), CU264_INVALID_ARGUMENT, "config is null");
  EXPECT_ERROR(cu264_encoder_open(config, NULL), CU264_INVALID_ARGUMENT, "encoder is null");
  EXPECT_ERROR(cu264_memory_required(NULL, NULL, NULL, NULL), CU264_INVALID_ARGUMENT, "config is null");
  EXPECT_ERROR(cu264_memory_required(config, NULL, NULL, NULL), CU264_INVALID_ARGUMENT, "width 0");
  cu264_config_destroy(config);

  int lines[3] = {0, 0, 0};
  config = config_of("47x32");
  EXPECT(cu264_config_set_log(config, count_lines, lines) == CU264_OK);
  EXPECT(cu264_encoder_open(config, &encoder) == CU264_OK);
  EXPECT(lines[CU264_LOG_WARNING] == 1 && lines[CU264_LOG_INFO] == 1); /* the odd width; the backend */
  cu264_info* info = NULL;
  EXPECT(cu264_encoder_info(encoder, &info) == CU264_OK);
  EXPECT(info->struct_size == sizeof *info);
  EXPECT(strcmp(info->backend, "cpu") == 0 && info->backend_reason[0] != 0);
  EXPECT(strcmp(info->profile, "high") == 0 && info->cabac == 1 && info->profile_reason[0] != 0);
  EXPECT(info->width == 48 && info->height == 32 && info->level_idc == 10 && info->dropped == 0);
  EXPECT(info->headers_size > 8 && info->headers[0] == 0);
  EXPECT(info->warning_count == 1 && strstr(info->warnings[0], "47") != NULL);
  cu264_info_release(info);
  EXPECT_ERROR(cu264_encoder_info(NULL, &info), CU264_INVALID_ARGUMENT, "encoder is null");
  EXPECT(info == NULL);
  EXPECT(cu264_encoder_info(encoder, &info) == CU264_OK);
  cu264_encoder_destroy(encoder);
  EXPECT(strcmp(info->backend, "cpu") == 0); /* it outlives its encoder */
  cu264_info_release(info);
  cu264_info_release(NULL);
  cu264_encoder_destroy(NULL);
  cu264_config_destroy(config);
}

static void test_nulls(cu264_encoder* encoder) {
  cu264_packet* packet = NULL;
  int descriptor = 0;
  uint64_t bytes = 0;
  const uint8_t payload[1] = {0};
  EXPECT_ERROR(cu264_encoder_send(encoder, NULL), CU264_INVALID_ARGUMENT, "cu264_frame is null");
  EXPECT_ERROR(cu264_encoder_receive(encoder, NULL), CU264_INVALID_ARGUMENT, "packet is null");
  EXPECT_ERROR(cu264_encoder_wait(encoder, 0, NULL), CU264_INVALID_ARGUMENT, "packet is null");
  EXPECT_ERROR(cu264_encoder_info(encoder, NULL), CU264_INVALID_ARGUMENT, "info is null");
  EXPECT_ERROR(cu264_encoder_ready_descriptor(encoder, NULL), CU264_INVALID_ARGUMENT, "descriptor is null");
  EXPECT_ERROR(cu264_encoder_reconfigure(encoder, NULL, 1), CU264_INVALID_ARGUMENT, "settings is null");
  const cu264_frame frame = frame_of(0);
  EXPECT_ERROR(cu264_encoder_send(NULL, &frame), CU264_INVALID_ARGUMENT, "encoder is null");
  EXPECT_ERROR(cu264_encoder_receive(NULL, &packet), CU264_INVALID_ARGUMENT, "encoder is null");
  EXPECT_ERROR(cu264_encoder_wait(NULL, 0, &packet), CU264_INVALID_ARGUMENT, "encoder is null");
  EXPECT_ERROR(cu264_encoder_flush(NULL), CU264_INVALID_ARGUMENT, "encoder is null");
  EXPECT_ERROR(cu264_encoder_drain(NULL), CU264_INVALID_ARGUMENT, "encoder is null");
  EXPECT_ERROR(cu264_encoder_ready_descriptor(NULL, &descriptor), CU264_INVALID_ARGUMENT, "encoder is null");
  EXPECT(descriptor == -1);
  EXPECT_ERROR(cu264_encoder_reconfigure(NULL, NULL, 0), CU264_INVALID_ARGUMENT, "encoder is null");
  EXPECT_ERROR(cu264_packet_insert_sei(NULL, 5, payload, 1), CU264_INVALID_ARGUMENT, "packet is null");
  EXPECT_ERROR(cu264_sei_bytes(5, NULL, 1, &bytes), CU264_INVALID_ARGUMENT, "payload is null");
  EXPECT_ERROR(cu264_sei_bytes(5, payload, 1, NULL), CU264_INVALID_ARGUMENT, "bytes is null");
  EXPECT_ERROR(cu264_sei_bytes(-1, payload, 1, &bytes), CU264_INVALID_ARGUMENT, "payload_type -1");
  cu264_packet_release(NULL);
}

static int receive_all(cu264_encoder* encoder, int first) {
  cu264_packet* packet = NULL;
  int count = first;
  while (cu264_encoder_receive(encoder, &packet) == CU264_OK) {
    EXPECT(packet->struct_size == sizeof *packet);
    EXPECT(packet->size > 4 && packet->data[0] == 0 && packet->key == 1);
    EXPECT(packet->index == (uint64_t)count && packet->pts == 100 + 3 * count);
    EXPECT(packet->user_data == &samples[count] && packet->qp == (count == 1 ? 40 : 30));
    EXPECT(packet->intra4x4_mbs + packet->intra8x8_mbs + packet->intra16x16_mbs + packet->pcm_mbs == 6);
    const uint8_t payload[3] = {1, 2, 3};
    uint64_t grows = 0;
    const size_t before = packet->size;
    EXPECT(cu264_sei_bytes(5, payload, 3, &grows) == CU264_OK);
    EXPECT(cu264_packet_insert_sei(packet, 5, payload, 3) == CU264_OK);
    EXPECT(packet->size == before + grows);
    cu264_packet_release(packet);
    ++count;
  }
  EXPECT(packet == NULL);
  return count - first;
}

static void test_stream(void) {
  for (int i = 0; i < kPictures * kHeight * kWidth; ++i)
    (&samples[0][0][0])[i] = (uint8_t)(i % kWidth * 3 + i / kWidth * 5 + i / 1000);
  cu264_config* const config = config_of("48x32");
  cu264_encoder* encoder = NULL;
  EXPECT(cu264_config_set(config, "qp", "30") == CU264_OK);
  EXPECT(cu264_encoder_open(config, &encoder) == CU264_OK);
  cu264_config_destroy(config);
  test_nulls(encoder);

  int descriptor = -1;
  EXPECT(cu264_encoder_ready_descriptor(encoder, &descriptor) == CU264_OK && descriptor >= 0);
  int count = 0;
  for (int i = 0; i < kPictures; ++i) {
    cu264_frame frame = frame_of(i);
    frame.has_qp = i == 1, frame.qp = 40;
    cu264_status status;
    while ((status = cu264_encoder_send(encoder, &frame)) == CU264_AGAIN)
      count += receive_all(encoder, count);
    EXPECT(status == CU264_OK);
    if (i == 2) {
      struct pollfd ready = {.fd = descriptor, .events = POLLIN};
      EXPECT(poll(&ready, 1, 60000) == 1);
      EXPECT(cu264_encoder_drain(encoder) == CU264_OK);
      count += receive_all(encoder, count);
      EXPECT(count == 3);
    }
  }
  EXPECT(cu264_encoder_flush(encoder) == CU264_OK);
  count += receive_all(encoder, count);
  EXPECT(count == kPictures);

  /* The next clip, of another size. */
  const cu264_setting next[] = {{"size", "32x32"}, {"qp", "20"}, {"preset", "fast"}, {"fps", "50"}};
  EXPECT(cu264_encoder_reconfigure(encoder, next, 4) == CU264_OK);
  cu264_frame frame = frame_of(0);
  frame.width = 32;
  EXPECT(cu264_encoder_send(encoder, &frame) == CU264_OK);
  const cu264_setting late[] = {{"qp", "25"}, {"size", "48x32"}};
  EXPECT_ERROR(cu264_encoder_reconfigure(encoder, late, 2), CU264_INVALID_ARGUMENT, "within a clip");
  const cu264_setting never[] = {{"slices", "2"}};
  EXPECT_ERROR(cu264_encoder_reconfigure(encoder, never, 1), CU264_INVALID_ARGUMENT,
               "cannot change its slices");
  const cu264_setting wrong[] = {{"qp", "many"}};
  EXPECT_ERROR(cu264_encoder_reconfigure(encoder, wrong, 1), CU264_INVALID_ARGUMENT, "bad qp \"many\"");
  const cu264_setting nameless[] = {{NULL, "1"}};
  EXPECT_ERROR(cu264_encoder_reconfigure(encoder, nameless, 1), CU264_INVALID_ARGUMENT, "is null");
  EXPECT(cu264_encoder_flush(encoder) == CU264_OK);
  cu264_packet* packet = NULL;
  EXPECT(cu264_encoder_wait(encoder, -1, &packet) == CU264_OK && packet->qp == 20 && packet->index == 0);
  cu264_encoder_destroy(encoder);
  EXPECT(packet->size > 4 && packet->data[packet->size - 1] != 0); /* it outlives its encoder */
  cu264_packet_release(packet);
}

int main(void) {
  test_library();
  test_options();
  test_open();
  test_stream();
  if (failures == 0) printf("the C API does what its header says\n");
  return failures == 0 ? 0 : 1;
}
