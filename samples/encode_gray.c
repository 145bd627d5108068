/* Encodes raw gray pictures, 8 bits a sample, to an H.264 file, in C:
 *
 *   encode_gray INPUT.gray WIDTHxHEIGHT OUTPUT.264 [OPTION=VALUE]... */
#include <cu264/cu264.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(cu264_status status) {
  if (status == CU264_OK || status == CU264_AGAIN) return;
  fprintf(stderr, "encode_gray: %s\n", cu264_last_error());
  exit(1);
}

/* Writes the packets that are there; after flush, all. */
static void write_packets(cu264_encoder* encoder, FILE* output) {
  cu264_packet* packet;
  cu264_status status;
  while ((status = cu264_encoder_receive(encoder, &packet)) == CU264_OK) {
    if (fwrite(packet->data, 1, packet->size, output) != packet->size) perror("encode_gray"), exit(1);
    cu264_packet_release(packet);
  }
  check(status);
}

int main(int argc, char** argv) {
  cu264_config* config;
  cu264_encoder* encoder;
  cu264_frame frame = {.struct_size = sizeof frame, .format = CU264_FORMAT_GRAY8};
  if (argc < 4 || sscanf(argv[2], "%dx%d", &frame.width, &frame.height) != 2)
    return fprintf(stderr, "usage: encode_gray INPUT.gray WIDTHxHEIGHT OUTPUT.264 [OPTION=VALUE]...\n"), 2;
  check(cu264_config_create(&config));
  check(cu264_config_set(config, "size", argv[2]));
  for (int i = 4; i < argc; ++i) {
    char* const value = strchr(argv[i], '=');
    if (value != NULL) *value = 0;
    check(cu264_config_set(config, argv[i], value != NULL ? value + 1 : NULL));
  }
  check(cu264_encoder_open(config, &encoder));
  cu264_config_destroy(config);

  const size_t size = (size_t)frame.width * (size_t)frame.height;
  unsigned char* const samples = malloc(size);
  FILE* const input = fopen(argv[1], "rb");
  FILE* const output = fopen(argv[3], "wb");
  if (samples == NULL || input == NULL || output == NULL) return perror("encode_gray"), 1;
  frame.plane[0] = samples, frame.pitch[0] = frame.width;
  for (; fread(samples, 1, size, input) == size; ++frame.pts) {
    cu264_status status;
    while ((status = cu264_encoder_send(encoder, &frame)) == CU264_AGAIN) write_packets(encoder, output);
    check(status);
  }
  check(cu264_encoder_flush(encoder));
  write_packets(encoder, output);
  cu264_encoder_destroy(encoder);
  free(samples), fclose(input);
  return fclose(output) == 0 ? 0 : (perror("encode_gray"), 1);
}
