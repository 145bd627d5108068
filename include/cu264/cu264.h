/* cu264 for C, and for every language that calls C: frames in, H.264 access units out. docs/c.md is the
 * guide.
 *
 *   cu264_config* config;
 *   cu264_encoder* encoder;
 *   cu264_packet* packet;
 *   cu264_config_create(&config);
 *   cu264_config_set(config, "size", "1920x1080");
 *   cu264_encoder_open(config, &encoder);
 *   for (...) {
 *     while (cu264_encoder_send(encoder, &frame) == CU264_AGAIN)  // full: take a packet first
 *       if (cu264_encoder_receive(encoder, &packet) == CU264_OK) write_and_release(packet);
 *   }
 *   cu264_encoder_flush(encoder);
 *   while (cu264_encoder_receive(encoder, &packet) == CU264_OK) write_and_release(packet);
 *
 * Errors: a call that can fail returns a cu264_status. CU264_OK and CU264_AGAIN are no errors; for all others
 * cu264_last_error() has the text. A call that fails leaves what its out parameters point to as null or 0.
 * After an error of send, receive, wait, flush or drain an encoder can only be destroyed. Null where an
 * object is expected is CU264_INVALID_ARGUMENT; destroying or releasing null does nothing.
 *
 * Threads: an object must be used by one thread at a time, but a cu264_group by any number of them. Packets
 * and infos are objects of their own, which any thread may release, also when their encoder is gone.
 *
 * Stability: libcu264.so.0 keeps the functions, values and members of this header. Structs that the caller
 * fills begin with struct_size, which the caller sets to sizeof; members that an older caller does not know
 * count as 0. Structs that the library fills begin with struct_size too: the bytes that this library filled.
 * Later versions append members and values.
 */
#ifndef CU264_CU264_H
#define CU264_CU264_H

#include <stddef.h>
#include <stdint.h>

#include "cu264/version.h"

#if defined(__GNUC__)
#define CU264_API __attribute__((visibility("default")))
#else
#define CU264_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Status -------------------------------------------------------------------------------------------- */

typedef enum cu264_status {
  CU264_OK = 0,
  CU264_INVALID_ARGUMENT = 1,   /* a value outside its documented range, an unknown option or name */
  CU264_UNSUPPORTED = 2,        /* legal, but not available in this build, profile or backend */
  CU264_BAD_INPUT = 3,          /* the caller's pictures cannot be used as they are */
  CU264_BAD_OUTPUT = 4,         /* the destination cannot be written */
  CU264_OUT_OF_MEMORY = 5,      /* host or device memory */
  CU264_DEVICE_UNAVAILABLE = 6, /* no usable device, or its driver is too old */
  CU264_DEVICE_FAILURE = 7,     /* a device that worked stopped working */
  CU264_ENCODE_FAILURE = 8,     /* an internal contract was broken: please report it */
  CU264_VERIFY_FAILURE = 9,     /* what was written does not decode to the reconstruction */
  CU264_AGAIN = 100             /* no error: no room for the frame now, or no packet now */
} cu264_status;

/* The text of the calling thread's last error: "cause" or "cause (remedy)", one line. It is valid until the
 * thread's next error; a call that succeeds leaves it alone. "" if there was none. */
CU264_API const char* cu264_last_error(void);

/* The name of a status, as "invalid_argument"; "unknown" for other values. */
CU264_API const char* cu264_status_name(cu264_status status);

/* ---- The library --------------------------------------------------------------------------------------- */

/* The version of the linked library, as "0.1.0". It may differ from the macros of version.h. */
CU264_API const char* cu264_version(void);

/* How the library was built, one line: version, CUDA, compiler. */
CU264_API const char* cu264_build_info(void);

/* Gives back the memory of destroyed encoders, which is kept for those that are opened next. */
CU264_API void cu264_release_cached_memory(void);

/* ---- Configuration ------------------------------------------------------------------------------------- */

/* The settings of an encoder, or of a stream of a group. They are copied where they are used. */
typedef struct cu264_config cu264_config;

CU264_API cu264_status cu264_config_create(cu264_config** config);
CU264_API cu264_status cu264_config_copy(const cu264_config* from, cu264_config** config);
CU264_API void cu264_config_destroy(cu264_config* config);

/* Sets an option to a value given as text, as the command line does: "qp", "24". A null value stands for the
 * option's implicit_value. A name or value that is refused changes nothing, and the error lists what is
 * accepted. */
CU264_API cu264_status cu264_config_set(cu264_config* config, const char* name, const char* value);

typedef enum cu264_log_level { CU264_LOG_WARNING = 1, CU264_LOG_INFO = 2 } cu264_log_level;

/* Receives one line without an end of line, which is valid during the call. */
typedef void (*cu264_log_callback)(void* opaque, cu264_log_level level, const char* message);

/* Has what is worth telling about an encoder passed to a function: warnings, and which backend and profile
 * were chosen and why. It is called by the thread that opens or reconfigures an encoder or a stream, during
 * that call, and must return normally. The library itself never prints. Null: nothing is told. */
CU264_API cu264_status cu264_config_set_log(cu264_config* config, cu264_log_callback callback, void* opaque);

/* One option and its value. */
typedef struct cu264_setting {
  const char* name;
  const char* value; /* null: the implicit value */
} cu264_setting;

typedef enum cu264_option_group {
  CU264_GROUP_CODING = 0,
  CU264_GROUP_EXECUTION = 1,
  CU264_GROUP_INPUT = 2,
  CU264_GROUP_OUTPUT = 3,
  CU264_GROUP_DESCRIPTION = 4, /* of the pictures */
  CU264_GROUP_RATE = 5
} cu264_option_group;

typedef struct cu264_option {
  size_t struct_size;
  const char* name;
  const char* value;          /* a placeholder for the value, as "N" */
  const char* meaning;        /* the default is in parentheses */
  const char* implicit_value; /* what a null value stands for; null: a value is required */
  int32_t group;              /* cu264_option_group */
  int32_t reserved;
} cu264_option;

/* The options that cu264_config_set takes. They belong to the library and live as long as it. */
CU264_API size_t cu264_option_count(void);
CU264_API const cu264_option* cu264_option_at(size_t index); /* null beyond the last */

/* What the cuda backend allocates on each device, and for each device in page-locked host memory, when it
 * opens with this configuration, in bytes, and the pictures of a batch. Each pointer may be null. */
CU264_API cu264_status cu264_memory_required(const cu264_config* config, uint64_t* device, uint64_t* pinned,
                                             int32_t* batch);

/* ---- Frames -------------------------------------------------------------------------------------------- */

/* Samples have 8 bits unless stated otherwise. Chroma of 4:2:0 has (width + 1) / 2 by (height + 1) / 2
 * samples. The RGB formats need the option "input-format". */
typedef enum cu264_format {
  CU264_FORMAT_I420 = 0,       /* planes Y, U, V */
  CU264_FORMAT_NV12 = 1,       /* planes Y, UV interleaved */
  CU264_FORMAT_GRAY8 = 2,      /* plane Y */
  CU264_FORMAT_RGB24 = 3,      /* one plane of R, G, B */
  CU264_FORMAT_BGR24 = 4,      /* one plane of B, G, R */
  CU264_FORMAT_RGBA32 = 5,     /* one plane of R, G, B and a byte that is not read */
  CU264_FORMAT_RGB_PLANAR = 6, /* planes R, G, B */
  /* Floating-point numbers in float_range; planes and pitches are aligned to their size. */
  CU264_FORMAT_RGB_FLOAT_PLANAR = 7, /* planes R, G, B of IEEE 754 single */
  CU264_FORMAT_RGB_FLOAT = 8,
  CU264_FORMAT_RGB_HALF_PLANAR = 9, /* IEEE 754 half */
  CU264_FORMAT_RGB_HALF = 10,
  CU264_FORMAT_RGB_BFLOAT16_PLANAR = 11, /* the upper 16 bits of an IEEE 754 single */
  CU264_FORMAT_RGB_BFLOAT16 = 12,
  CU264_FORMAT_BGRA32 = 13 /* one plane of B, G, R and a byte that is not read */
} cu264_format;

typedef enum cu264_memory {
  CU264_MEMORY_HOST = 0,   /* copied before send or submit returns */
  CU264_MEMORY_PINNED = 1, /* page-locked host memory: unchanged until the frame's packet was received */
  CU264_MEMORY_DEVICE = 2  /* of the device that encodes (cuda backend only): unchanged likewise */
} cu264_memory;

typedef enum cu264_float_range {
  CU264_FLOAT_ZERO_TO_ONE = 0,
  CU264_FLOAT_MINUS_ONE_TO_ONE = 1
} cu264_float_range;

/* A picture to encode: a view of memory that the caller owns. Members may be left 0 where 0 has a meaning:
 *   cu264_frame frame = {.struct_size = sizeof frame, .width = w, .height = h, ...};
 * The width and height are those of the configuration, the format that of all frames of an encoder. */
typedef struct cu264_frame {
  size_t struct_size;
  int32_t format; /* cu264_format */
  int32_t memory; /* cu264_memory */
  int32_t width;  /* luma samples */
  int32_t height;
  const uint8_t* plane[3]; /* the first sample of each plane, top row first */
  ptrdiff_t pitch[3];      /* bytes between rows; negative: bottom-up */
  int64_t pts;             /* handed back unchanged in the packet */
  void* user_data;         /* handed back unchanged in the packet */
  /* Device memory only: the cudaStream_t (CUstream) whose work so far writes the planes, of any context of
   * the device; null is the default stream of the context that is current when the frame is sent. The device
   * waits for that work. The stream may be destroyed once the frame was sent, and a context of the caller's
   * own once the frame's packet was received. */
  void* stream;
  int64_t added_bytes; /* that the caller adds to the packet: limits, bitrates and the buffer count them */
  int32_t has_qp;      /* not 0: `qp` holds for this picture, instead of the configuration's */
  int32_t qp;          /* 0 to 51 */
  int32_t float_range; /* cu264_float_range */
  int32_t key;         /* not 0: a key picture (IDR), which begins a GOP wherever "gop" would have it begin */
  /* How long the picture is shown, in units of "time-base"; 0: one picture of "fps". "timed-bitrate" counts
   * it. */
  int64_t duration;
} cu264_frame;

/* ---- Packets ------------------------------------------------------------------------------------------- */

/* A coded picture. Only the library makes packets, and the caller releases them. */
typedef struct cu264_packet {
  size_t struct_size;
  const uint8_t* data; /* one access unit as a byte stream (H.264 annex B) */
  size_t size;
  int64_t pts;         /* of the frame */
  void* user_data;     /* of the frame */
  uint64_t index;      /* pictures in the order sent, from 0 */
  int32_t key;         /* 1: an IDR picture; 0: a P picture, which "gop" asks for */
  int32_t qp;          /* slice QP, 0 to 51 */
  double mean_qp;      /* with the fraction that comes of rows whose QP is higher by one */
  int64_t buffer_bits; /* what the HRD's buffer holds after the picture has left it; -1: there is none */
  /* With the option "device-output" the slices are here, in memory of the device, until the next call to the
   * encoder; `data` then holds what precedes them. */
  const uint8_t* device_data;
  size_t device_size;
  /* With "reconstruction": the decoded picture in planar 4:2:0, of the info's width x height, unpadded. */
  const uint8_t* reconstruction;
  size_t reconstruction_size;
  /* With "edge-maps": a byte for each luma sample of the frame, 255 for an edge and 0 for none. */
  const uint8_t* edges;
  size_t edges_size;
  int32_t codings;       /* how often the picture was coded until it kept to its limits */
  uint32_t intra4x4_mbs; /* macroblocks by kind */
  uint32_t intra8x8_mbs;
  uint32_t intra16x16_mbs;
  uint32_t pcm_mbs;
  uint32_t reserved;
  uint64_t header_bits;   /* of macroblocks; with CABAC residual_bits has them too */
  uint64_t residual_bits; /* of coefficients and I_PCM samples */
} cu264_packet;

/* Frees a packet. */
CU264_API void cu264_packet_release(cu264_packet* packet);

/* Puts an SEI message (H.264 D.1.1) into a packet, before its first slice. It changes the packet's data and
 * size; pointers that were read before are stale. */
CU264_API cu264_status cu264_packet_insert_sei(cu264_packet* packet, int32_t payload_type,
                                               const uint8_t* payload, size_t size);

/* The bytes by which cu264_packet_insert_sei makes a packet larger, for cu264_frame's added_bytes. */
CU264_API cu264_status cu264_sei_bytes(int32_t payload_type, const uint8_t* payload, size_t size,
                                       uint64_t* bytes);

/* ---- What was opened ----------------------------------------------------------------------------------- */

/* A snapshot, which the caller releases. */
typedef struct cu264_info {
  size_t struct_size;
  const char* backend;        /* "cpu" or "cuda" */
  const char* backend_reason; /* why, in a few words */
  const char* profile;        /* "baseline", "main" or "high" */
  const char* profile_reason;
  int32_t cabac; /* whether slices are coded with CABAC */
  int32_t width; /* of the decoded picture: rounded up to even numbers */
  int32_t height;
  int32_t batch;     /* pictures encoded together */
  int32_t level_idc; /* 10 x the level; 9 is level 1b */
  int32_t reserved;
  int64_t level_bit_rate; /* bits a second that the level allows; 0 if no level holds the stream */
  uint64_t dropped;       /* pictures of the clip that "on-overflow" left out so far */
  const uint8_t* headers; /* SPS, PPS and the SEI message that names the encoder, in annex B form */
  size_t headers_size;
  const char* const* warnings; /* one line each */
  size_t warning_count;
} cu264_info;

CU264_API void cu264_info_release(cu264_info* info);

/* ---- The encoder of one stream ------------------------------------------------------------------------- */

typedef struct cu264_encoder cu264_encoder;

/* Opens the backend. The result is a working encoder, or an error that tells why there is none. */
CU264_API cu264_status cu264_encoder_open(const cu264_config* config, cu264_encoder** encoder);
CU264_API void cu264_encoder_destroy(cu264_encoder* encoder);
CU264_API cu264_status cu264_encoder_info(const cu264_encoder* encoder, cu264_info** info);

/* Takes a picture. CU264_AGAIN: the pipeline is full, or packets are left from before flush or drain; receive
 * then has a packet. */
CU264_API cu264_status cu264_encoder_send(cu264_encoder* encoder, const cu264_frame* frame);

/* The next packet, in the order of the frames sent. Waits for it if the pipeline is full, or was flushed or
 * drained; otherwise takes only what is ready. CU264_AGAIN: more frames are needed or, after flush or drain,
 * all packets have been handed out. */
CU264_API cu264_status cu264_encoder_receive(cu264_encoder* encoder, cu264_packet** packet);

/* The next packet. Sleeps until it is ready or the time has passed; 0 never waits, a negative time waits for
 * as long as it takes. CU264_AGAIN: not in time, or no packet can come without another call. */
CU264_API cu264_status cu264_encoder_wait(cu264_encoder* encoder, int64_t timeout_ns, cu264_packet** packet);

/* A descriptor for poll, which the encoder owns. When it becomes readable, call wait(0) until it returns
 * CU264_AGAIN, which makes it unreadable again. */
CU264_API cu264_status cu264_encoder_ready_descriptor(cu264_encoder* encoder, int* descriptor);

/* Announces that no more frames of this clip will come. The next frame begins another clip, with headers
 * again, as another encoder would code it. */
CU264_API cu264_status cu264_encoder_flush(cu264_encoder* encoder);

/* Announces that no more frames come until the packets of all that were sent have been received. The clip
 * goes on with the next frame. */
CU264_API cu264_status cu264_encoder_drain(cu264_encoder* encoder);

/* Changes options of an open encoder: qp, crf, bitrate, maxrate, bufsize and max-frame-bytes from the next
 * frame on (what is off cannot come within a clip, nor go), size, preset and fps between two clips. Either
 * all settings change or none; the encoder goes on after an error. */
CU264_API cu264_status cu264_encoder_reconfigure(cu264_encoder* encoder, const cu264_setting* settings,
                                                 size_t count);

/* ---- Many streams in common batches -------------------------------------------------------------------- */

/* docs/many-streams.md says which streams share batches. Each stream has the bytes of an encoder of its own.
 */
typedef struct cu264_group cu264_group;

/* Opens a group. The settings, of which there may be none: backend, device, threads and batch as those of an
 * encoder, "batches-in-flight" (1 to 8), "longest-wait" (microseconds that a picture waits for pictures of
 * other streams) and "queue" (pictures of a stream that were submitted and not received, 1 to 1024). */
CU264_API cu264_status cu264_group_create(const cu264_setting* settings, size_t count, cu264_group** group);

/* Drops what was not received. No other thread may be using the group. */
CU264_API void cu264_group_destroy(cu264_group* group);

/* Opens a stream. The group's settings replace the configuration's backend, threads and batch. */
CU264_API cu264_status cu264_group_open(cu264_group* group, const cu264_config* config, uint32_t* stream);
CU264_API cu264_status cu264_group_info(const cu264_group* group, uint32_t stream, cu264_info** info);

/* Takes a picture, in host memory as cu264_encoder_send. CU264_AGAIN: the stream had no room in time. */
CU264_API cu264_status cu264_group_submit(cu264_group* group, uint32_t stream, const cu264_frame* frame,
                                          int64_t timeout_ns);

/* The stream's next packet. CU264_AGAIN: not in time, or no picture of the stream is on its way. An error is
 * that of one picture; the next picture follows. */
CU264_API cu264_status cu264_group_receive(cu264_group* group, uint32_t stream, int64_t timeout_ns,
                                           cu264_packet** packet);

/* The next packet of any stream, which `stream` then names, also with an error of one of its pictures. Waits
 * also while nothing is on its way. An error of the group itself leaves CU264_NO_STREAM there. */
#define CU264_NO_STREAM UINT32_MAX
CU264_API cu264_status cu264_group_receive_any(cu264_group* group, int64_t timeout_ns, uint32_t* stream,
                                               cu264_packet** packet);
CU264_API cu264_status cu264_group_ready_descriptor(cu264_group* group, int* descriptor);

/* Ends the stream's clip; the next picture begins another one. */
CU264_API cu264_status cu264_group_flush(cu264_group* group, uint32_t stream);

/* Ends the stream, and drops what was not received of it. */
CU264_API cu264_status cu264_group_close(cu264_group* group, uint32_t stream);

#ifdef __cplusplus
}
#endif

#endif
