"""Matroska files for the tests, written byte by byte: what no muxer would write."""
import struct


def size_of(size):
    return (size | 1 << 56).to_bytes(8, "big")  # always eight bytes


def element(identity, content):
    """`identity` in hexadecimal; an integer becomes eight bytes."""
    if isinstance(content, int):
        content = content.to_bytes(8, "big")
    if isinstance(content, str):
        content = content.encode()
    return bytes.fromhex(identity) + size_of(len(content)) + content


def block(track, milliseconds, data):
    """A SimpleBlock; its time counts from its cluster's."""
    return element("a3", bytes([0x80 | track]) + struct.pack(">h", milliseconds) + b"\x80" + data)


def cluster(milliseconds, *blocks):
    return element("1f43b675", element("e7", milliseconds) + b"".join(blocks))


def video_track(width, height):
    """Track 1: raw video of 4:2:0, 25 pictures a second."""
    return element("ae", element("d7", 1) + element("73c5", 1) + element("83", 1) + element("23e383", 40000000) +
                   element("86", "V_UNCOMPRESSED") +
                   element("e0", element("b0", width) + element("ba", height) + element("2eb524", b"I420")))


def sound_track(number=2):
    """A track of samples of 16 bits, 8000 a second."""
    return element("ae", element("d7", number) + element("73c5", number) + element("83", 2) + element("86", "A_PCM/INT/LIT") +
                   element("e1", element("b5", struct.pack(">d", 8000)) + element("9f", 1) + element("6264", 16)))


def tags(count):
    """As many names of tags, of the whole file. libavformat searches all of them before it adds one."""
    simple = b"".join(element("67c8", element("45a3", f"TAG{number}") + element("4487", "x")) for number in range(count))
    return element("1254c367", element("7373", element("63c0", b"") + simple))


def matroska(path, tracks, *rest):
    head = element("1a45dfa3", element("4286", 1) + element("42f7", 1) + element("42f2", 4) + element("42f3", 8) +
                   element("4282", "matroska") + element("4287", 4) + element("4285", 2))
    info = element("1549a966", element("2ad7b1", 1000000) + element("4d80", "x") + element("5741", "x"))
    with open(path, "wb") as file:
        file.write(head + element("18538067", info + element("1654ae6b", b"".join(tracks)) + b"".join(rest)))
    return path


def picture(number, width, height):
    return bytes((number * 5 + at) % 200 + 20 for at in range(width * height * 3 // 2))
