"""Parse EXIF as far as it defines how an image is rotated (CIPA DC-008)."""

import struct


def read_orientation(exif: bytes) -> int:
    """Return the EXIF orientation; 1 (upright) if there is none."""
    order = {b"II*\0": "<", b"MM\0*": ">"}.get(exif[:4])
    if not order:
        return 1
    try:
        (at,) = struct.unpack_from(order + "I", exif, 4)
        (count,) = struct.unpack_from(order + "H", exif, at)
        for entry in range(at + 2, at + 2 + 12 * count, 12):
            tag, kind, _, value = struct.unpack_from(order + "HHIH", exif, entry)
            if tag == 0x0112 and kind == 3:
                return value if 1 <= value <= 8 else 1
    except struct.error:
        pass
    return 1
