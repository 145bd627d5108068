"""Small files of each container, written byte by byte, so that a test decides what is in each packet.

A packet is a list of NAL units without start codes; `sets` are the parameter sets that the container keeps outside."""


def sized(unit):
    return len(unit).to_bytes(4, "big") + unit


def annexb(units):
    return b"".join(b"\0\0\0\1" + unit for unit in units)


def configuration(sets):
    """An AVCDecoderConfigurationRecord (ISO/IEC 14496-15)."""
    lists = [[unit for unit in sets if unit[:1] and unit[0] & 31 == 7], [unit for unit in sets if unit[:1] and unit[0] & 31 != 7]]
    first = lists[0][0] if lists[0] else bytes(4)
    record = b"\1" + first[1:4].ljust(3, b"\0") + b"\xff"
    for count, units in zip((0xe0 | len(lists[0]), len(lists[1])), lists):
        record += bytes([count]) + b"".join(len(unit).to_bytes(2, "big") + unit for unit in units)
    return record


def matroska(packets, sets, width, height, times=None):
    def element(number, *content):
        data = b"".join(content)
        return bytes.fromhex(number) + (len(data) | 1 << 56).to_bytes(8, "big") + data

    times = times or [40 * i for i in range(len(packets))]
    blocks = [element("a3", b"\x81", time.to_bytes(2, "big"), b"\x80", *map(sized, packet))
              for time, packet in zip(times, packets)]
    video = element("e0", element("b0", bytes([width])), element("ba", bytes([height])))
    track = element("ae", element("d7", b"\1"), element("73c5", b"\1"), element("83", b"\1"), element("86", b"V_MPEG4/ISO/AVC"),
                    element("63a2", configuration(sets)), video)
    segment = element("18538067", element("1549a966", element("2ad7b1", (1000000).to_bytes(3, "big"))),
                      element("1654ae6b", track), element("1f43b675", element("e7", b"\0"), *blocks))
    return element("1a45dfa3", element("4282", b"matroska")) + segment


def mp4(packets, sets, width, height, second=None):
    """`second` is the number of packets before a second description of the stream, and its parameter sets."""
    def box(kind, *content):
        data = b"".join(content)
        return (len(data) + 8).to_bytes(4, "big") + kind + data

    def numbers(*values):
        return b"".join(value.to_bytes(4, "big") for value in values)

    matrix = numbers(65536, 0, 0, 0, 65536, 0, 0, 0, 1 << 30)
    length = 40 * len(packets)
    samples = [b"".join(map(sized, packet)) for packet in packets]
    first = second[0] if second else len(packets)
    entries = [box(b"avc1", bytes(6) + b"\0\1" + bytes(16), width.to_bytes(2, "big"), height.to_bytes(2, "big"),
                   numbers(72 << 16, 72 << 16, 0), b"\0\1" + bytes(32) + b"\0\x18\xff\xff", box(b"avcC", configuration(own)))
               for own in ([sets, second[1]] if second else [sets])]
    head = box(b"ftyp", b"isom", numbers(0), b"isomavc1")
    chunks = [(first, len(head) + 8)]
    if second:
        chunks.append((len(packets) - first, len(head) + 8 + sum(map(len, samples[:first]))))
    table = box(b"stbl", box(b"stsd", numbers(0, len(entries)), *entries), box(b"stts", numbers(0, 1, len(samples), 40)),
                box(b"stsc", numbers(0, len(chunks)), *(numbers(i + 1, count, i + 1) for i, (count, _) in enumerate(chunks))),
                box(b"stsz", numbers(0, 0, len(samples), *map(len, samples))),
                box(b"stco", numbers(0, len(chunks), *(offset for _, offset in chunks))))
    information = box(b"minf", box(b"vmhd", numbers(1, 0, 0)),
                      box(b"dinf", box(b"dref", numbers(0, 1), box(b"url ", numbers(1)))), table)
    media = box(b"mdia", box(b"mdhd", numbers(0, 0, 0, 1000, length, 0x55c40000)),
                box(b"hdlr", numbers(0, 0), b"vide", bytes(13)), information)
    track = box(b"trak", box(b"tkhd", numbers(3, 0, 0, 1, 0, length, 0, 0, 0, 0), matrix, numbers(width << 16, height << 16)), media)
    movie = box(b"moov", box(b"mvhd", numbers(0, 0, 0, 1000, length, 65536, 0x01000000, 0, 0), matrix, bytes(24), numbers(2)), track)
    return head + box(b"mdat", *samples) + movie


def checksum(data):
    value = 0xffffffff
    for byte in data:
        value ^= byte << 24
        for _ in range(8):
            value = (value << 1 ^ (0x04c11db7 if value >> 31 else 0)) & 0xffffffff
    return value.to_bytes(4, "big")


def transport_stream(packets, times=None):
    times = times or [3600 * i for i in range(len(packets))]
    counters = {}

    def cells(pid, payload):
        out, first = b"", True
        while payload or first:
            counter = counters[pid] = (counters.get(pid, -1) + 1) % 16
            room = 184 - min(184, len(payload))
            adaptation = b"" if not room else bytes([room - 1]) + (b"\0" + b"\xff" * (room - 2) if room > 1 else b"")
            taken, payload = payload[:184 - room], payload[184 - room:]
            out += b"\x47" + (pid | (0x4000 if first else 0)).to_bytes(2, "big") + bytes([(0x30 if room else 0x10) | counter])
            out += adaptation + taken
            first = False
        return out

    def table(pid, kind, content):
        section = bytes([kind]) + (0xb000 | len(content) + 9).to_bytes(2, "big") + b"\0\1\xc1\0\0" + content
        return cells(pid, b"\0" + section + checksum(section))

    out = table(0, 0, b"\0\1\xf0\0") + table(0x1000, 2, b"\xe1\0\xf0\0" + b"\x1b\xe1\0\xf0\0")
    for time, packet in zip(times, packets):
        time += 90000
        stamp = bytes([0x21 | time >> 29 & 14, time >> 22 & 255, time >> 14 & 254 | 1, time >> 7 & 255, time << 1 & 254 | 1])
        out += cells(0x100, b"\0\0\1\xe0\0\0\x80\x80\5" + stamp + annexb(packet))
    return out
