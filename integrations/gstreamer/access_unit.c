#include "access_unit.h"

#include <gst/base/base.h>
#include <string.h>

enum { kLastSliceType = 5, kSps = 7, kPps = 8 }; /* nal_unit_type, H.264 table 7-1 */

typedef struct {
  const guint8* data;
  gsize size;
} Bytes;

static guint type_of(Bytes nal_unit) {
  return nal_unit.data[0] & 31;
}

static gboolean is_parameter_set(Bytes nal_unit) {
  return type_of(nal_unit) == kSps || type_of(nal_unit) == kPps;
}

/* Where the next start code begins, or the end. A NAL unit holds none (7.4.1). */
static const guint8* find_start_code(const guint8* at, const guint8* end) {
  while (end - at >= 3) {
    const guint8* const one = memchr(at + 2, 1, (gsize)(end - at - 2));
    if (one == NULL) break;
    if (one[-1] == 0 && one[-2] == 0) return one - 2;
    at = one - 1;
  }
  return end;
}

/* Takes the first NAL unit from `rest`, without its start code. */
static gboolean next_nal_unit(Bytes* rest, Bytes* nal_unit) {
  const guint8* const end = rest->data + rest->size;
  const guint8* const code = find_start_code(rest->data, end);
  if (end - code <= 3) return FALSE;
  nal_unit->data = code + 3;
  const guint8* const next = find_start_code(nal_unit->data, end);
  *rest = (Bytes){next, (gsize)(end - next)};
  nal_unit->size = (gsize)(next - nal_unit->data);
  /* The zero byte of a start code of four bytes, and trailing zero bytes (B.1.1). */
  while (nal_unit->size > 1 && nal_unit->data[nal_unit->size - 1] == 0) --nal_unit->size;
  return TRUE;
}

/* With primary_pic_type 0, I slices alone, or 1, P and I slices (7.4.2.4). */
enum { kDelimiterSize = 2 };
static const guint8 kDelimiters[][kDelimiterSize] = {[DELIMITER_KEY] = {9, 0x10}, [DELIMITER_P] = {9, 0x30}};
static const guint8 kStartCode[4] = {0, 0, 0, 1};
G_STATIC_ASSERT(kDelimiterSize + sizeof kStartCode == ACCESS_UNIT_DELIMITER_SIZE);

GstBuffer* access_unit_extended(const guint8* data, gsize size, Delimiter delimiter,
                                GstBuffer* parameter_sets) {
  const gsize front = delimiter != DELIMITER_NONE ? ACCESS_UNIT_DELIMITER_SIZE : 0;
  const gsize sets = parameter_sets != NULL ? gst_buffer_get_size(parameter_sets) : 0;
  GstBuffer* const buffer = gst_buffer_new_allocate(NULL, front + sets + size, NULL);
  GstMapInfo map;
  gst_buffer_map(buffer, &map, GST_MAP_WRITE);
  if (delimiter != DELIMITER_NONE) {
    memcpy(map.data, kStartCode, sizeof kStartCode);
    memcpy(map.data + sizeof kStartCode, kDelimiters[delimiter], kDelimiterSize);
  }
  if (sets > 0) gst_buffer_extract(parameter_sets, 0, map.data + front, sets);
  memcpy(map.data + front + sets, data, size);
  gst_buffer_unmap(buffer, &map);
  return buffer;
}

static void put_with_length(GstByteWriter* writer, Bytes nal_unit) {
  gst_byte_writer_put_uint32_be(writer, (guint32)nal_unit.size);
  gst_byte_writer_put_data(writer, nal_unit.data, (guint)nal_unit.size);
}

GstBuffer* access_unit_with_lengths(const guint8* data, gsize size, Delimiter delimiter) {
  GstByteWriter writer;
  Bytes rest = {data, size}, nal_unit;
  gst_byte_writer_init_with_size(&writer, (guint)size + 64, FALSE);
  if (delimiter != DELIMITER_NONE) put_with_length(&writer, (Bytes){kDelimiters[delimiter], kDelimiterSize});
  while (next_nal_unit(&rest, &nal_unit))
    if (!is_parameter_set(nal_unit)) put_with_length(&writer, nal_unit);
  return gst_byte_writer_reset_and_get_buffer(&writer);
}

GstBuffer* access_unit_parameter_sets(const guint8* data, gsize size) {
  GstByteWriter writer;
  Bytes rest = {data, size}, nal_unit;
  gst_byte_writer_init(&writer);
  while (next_nal_unit(&rest, &nal_unit) && type_of(nal_unit) > kLastSliceType) {
    if (!is_parameter_set(nal_unit)) continue;
    gst_byte_writer_put_uint32_be(&writer, 1);
    gst_byte_writer_put_data(&writer, nal_unit.data, (guint)nal_unit.size);
  }
  return gst_byte_writer_reset_and_get_buffer(&writer);
}

static gboolean find_nal_unit(const GstMapInfo* map, guint type, Bytes* nal_unit) {
  Bytes rest = {map->data, map->size};
  while (next_nal_unit(&rest, nal_unit))
    if (type_of(*nal_unit) == type) return TRUE;
  return FALSE;
}

GstBuffer* access_unit_codec_data(GstBuffer* parameter_sets) {
  GstByteWriter writer;
  GstMapInfo map;
  Bytes sps, pps;
  gst_buffer_map(parameter_sets, &map, GST_MAP_READ);
  gst_byte_writer_init(&writer);
  if (find_nal_unit(&map, kSps, &sps) && find_nal_unit(&map, kPps, &pps)) {
    gst_byte_writer_put_uint8(&writer, 1);              /* configurationVersion */
    gst_byte_writer_put_data(&writer, sps.data + 1, 3); /* profile, constraints, level */
    gst_byte_writer_put_uint8(&writer, 0xfc | 3);       /* lengths have four bytes */
    gst_byte_writer_put_uint8(&writer, 0xe0 | 1);       /* one sequence parameter set */
    gst_byte_writer_put_uint16_be(&writer, (guint16)sps.size);
    gst_byte_writer_put_data(&writer, sps.data, (guint)sps.size);
    gst_byte_writer_put_uint8(&writer, 1); /* one picture parameter set */
    gst_byte_writer_put_uint16_be(&writer, (guint16)pps.size);
    gst_byte_writer_put_data(&writer, pps.data, (guint)pps.size);
    if (sps.data[1] == 100) { /* High: 4:2:0, 8 bits luma and chroma, no extensions of parameter sets */
      static const guint8 kFormat[4] = {0xfc | 1, 0xf8, 0xf8, 0};
      gst_byte_writer_put_data(&writer, kFormat, sizeof kFormat);
    }
  }
  gst_buffer_unmap(parameter_sets, &map);
  return gst_byte_writer_reset_and_get_buffer(&writer);
}

void access_unit_profile(GstBuffer* parameter_sets, guint8 profile[3]) {
  GstMapInfo map;
  Bytes sps;
  memset(profile, 0, 3);
  gst_buffer_map(parameter_sets, &map, GST_MAP_READ);
  if (find_nal_unit(&map, kSps, &sps) && sps.size >= 4) memcpy(profile, sps.data + 1, 3);
  gst_buffer_unmap(parameter_sets, &map);
}
