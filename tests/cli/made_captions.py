"""Closed captions for the tests, put into a bare H.264 stream as ATSC A/53 part 4 has them."""
import re


def triples(number):
    """Returns what a picture says: two bytes of CEA-608, and some of CEA-708 with zeros among them; 40 triples in one picture."""
    count = 40 if number == 7 else 3
    words = [(0xfc, 0x41 + number % 26, 0x20)] + [(0xfe, number, value) for value in range(count - 1)]
    return b"".join(bytes(word) for word in words)


def sei_units(data):
    """user_data_registered_itu_t_t35() with 31 triples at most in each."""
    units = []
    for at in range(0, len(data), 93):
        part = data[at:at + 93]
        payload = b"\xb5\x00\x31GA94\x03" + bytes([0xc0 | len(part) // 3, 0xff]) + part + b"\xff"
        body = bytes([6, 4, len(payload)]) + payload + b"\x80"
        units.append(b"\x00\x00\x01" + re.sub(rb"\x00\x00(?=[\x00-\x03])", b"\x00\x00\x03", body))
    return b"".join(units)


def captioned(path):
    """Puts captions into a stream of one slice a picture."""
    with open(path, "rb") as file:
        data = file.read()
    number = -1

    def with_captions(start):
        nonlocal number
        if start.group()[3] & 31 not in (1, 5):
            return start.group()
        number += 1
        return sei_units(triples(number)) + start.group()

    data = re.sub(rb"(?s)\x00\x00\x01.", with_captions, data)
    with open(path, "wb") as file:
        file.write(data)
