"""Parsers and builders of the layouts; ``derive`` writes this file."""

from __future__ import annotations

from struct import Struct
from struct import error as StructError
from typing import Any, Final

from rocketwire.wire.buffer import Buffer
from rocketwire.wire.java_utf8 import decode_utf8, encode_utf8
from rocketwire.wire.layouts.runtime.build_errors import invalid, unfit, wrong_size
from rocketwire.wire.layouts.runtime.entries import build_entries, decode_buffer, parse_entries
from rocketwire.wire.layouts.runtime.parse_errors import bad_count, bad_length, refused, short

LENGTH_SIZE = 4
PREFIX_SIZE = 8
ITEM_LENGTH_SIZE = 4
MAX_EXT_FIELDS = 16384
MAGIC_V1 = 3668123815
MAGIC_V2 = 3668123819
BINARY_HEADER_FIXED = (('code', 'i2'), ('language', 'u1'), ('version', 'i2'), ('opaque', 'i4'), ('flag', 'i4'))
REMARK_LENGTH_SIZE = 4
EXT_FIELDS_LENGTH_SIZE = 4
KEY_LENGTH_SIZE = 2
VALUE_LENGTH_SIZE = 4
PREFIX_STRUCT = Struct('>lBBH')
pack_Llllqqlq: Final = Struct('>Llllqqlq').pack
pack_b: Final = Struct('>b').pack
pack_h: Final = Struct('>h').pack
pack_hBhlll: Final = Struct('>hBhlll').pack
pack_l: Final = Struct('>l').pack
pack_lBBH: Final = Struct('>lBBH').pack
pack_llll: Final = Struct('>llll').pack
pack_llql: Final = Struct('>llql').pack
pack_lq: Final = Struct('>lq').pack
unpack_L: Final = Struct('>L').unpack_from
unpack_h: Final = Struct('>h').unpack_from
unpack_hBhlll: Final = Struct('>hBhlll').unpack_from
unpack_l: Final = Struct('>l').unpack_from
unpack_lBBH: Final = Struct('>lBBH').unpack_from
unpack_llll: Final = Struct('>llll').unpack_from
unpack_lllqqlq: Final = Struct('>lllqqlq').unpack_from
unpack_llql: Final = Struct('>llql').unpack_from
unpack_lq: Final = Struct('>lq').unpack_from

def parse_length(buf: Buffer, pos: int = 0, end: int | None = None) -> tuple[Any, int]:
    p = pos
    if end is None or end > len(buf):
        end = len(buf)
    if p + 4 > end:
        raise short(buf, p, end, (('', 4),))
    value, = unpack_l(buf, p)
    p += 4
    return value, p

def parse_prefix(buf: Buffer, pos: int = 0, end: int | None = None) -> tuple[Any, int]:
    p = pos
    if end is None or end > len(buf):
        end = len(buf)
    if p + 8 > end:
        raise short(buf, p, end, (('length', 4), ('header_type', 5), ('header_length', 6), ('header_length', 8)))
    length_1, header_type_2, high4, header_length_3, = unpack_lBBH(buf, p)
    p += 8
    header_length_3 |= high4 << 16
    value = (length_1, header_type_2, header_length_3, )
    return value, p

def parse_register_head(buf: Buffer, pos: int = 0, end: int | None = None) -> tuple[Any, int]:
    p = pos
    if end is None or end > len(buf):
        end = len(buf)
    if p + 4 > end:
        raise short(buf, p, end, (('data_version', 4),))
    length3, = unpack_l(buf, p)
    p += 4
    stop4 = p + length3
    if stop4 > end or length3 < 0:
        raise bad_length(buf, p, end, length3, 'data_version')
    data_version_1 = buf[p:stop4]
    p = stop4
    if p + 4 > end:
        raise short(buf, p, end, (('topics', 4),))
    topics_2, = unpack_l(buf, p)
    p += 4
    value = (data_version_1, topics_2, )
    return value, p

def parse_register_item(buf: Buffer, pos: int = 0, end: int | None = None) -> tuple[Any, int]:
    p = pos
    if end is None or end > len(buf):
        end = len(buf)
    if p + 4 > end:
        raise short(buf, p, end, (('', 4),))
    length1, = unpack_l(buf, p)
    p += 4
    stop2 = p + length1
    if stop2 > end or length1 < 0:
        raise bad_length(buf, p, end, length1, '')
    value = buf[p:stop2]
    p = stop2
    return value, p

def parse_register_tail(buf: Buffer, pos: int = 0, end: int | None = None) -> tuple[Any, int]:
    p = pos
    if end is None or end > len(buf):
        end = len(buf)
    if p + 4 > end:
        raise short(buf, p, end, (('filter_servers', 4),))
    length2, = unpack_l(buf, p)
    p += 4
    stop3 = p + length2
    if stop3 > end or length2 < 0:
        raise bad_length(buf, p, end, length2, 'filter_servers')
    filter_servers_1 = buf[p:stop3]
    p = stop3
    value = (filter_servers_1, )
    return value, p

def parse_register_tail_with_mappings(buf: Buffer, pos: int = 0, end: int | None = None) -> tuple[Any, int]:
    p = pos
    if end is None or end > len(buf):
        end = len(buf)
    if p + 4 > end:
        raise short(buf, p, end, (('filter_servers', 4),))
    length3, = unpack_l(buf, p)
    p += 4
    stop4 = p + length3
    if stop4 > end or length3 < 0:
        raise bad_length(buf, p, end, length3, 'filter_servers')
    filter_servers_1 = buf[p:stop4]
    p = stop4
    if p + 4 > end:
        raise short(buf, p, end, (('mappings', 4),))
    count5, = unpack_l(buf, p)
    p += 4
    if count5 * 4 > end - p:
        raise bad_count(count5, end - p, 4, 'mappings', p)
    mappings_2 = []
    add6 = mappings_2.append
    for _ in range(count5):
        if p + 4 > end:
            raise short(buf, p, end, (('mappings[]', 4),))
        length8, = unpack_l(buf, p)
        p += 4
        stop9 = p + length8
        if stop9 > end or length8 < 0:
            raise bad_length(buf, p, end, length8, 'mappings[]')
        element7 = buf[p:stop9]
        p = stop9
        add6(element7)
    value = (filter_servers_1, mappings_2, )
    return value, p

def parse_stored_message_raw(buf: Buffer, pos: int = 0, end: int | None = None) -> tuple[Any, int]:
    p = pos
    if end is None or end > len(buf):
        end = len(buf)
    if p + 4 > end:
        raise short(buf, p, end, (('', 4),))
    length1, = unpack_l(buf, p)
    p += 4
    length1 -= 4
    stop2 = p + length1
    if stop2 > end or length1 < 0:
        raise bad_length(buf, p, end, length1, '')
    if p + 4 > stop2:
        raise short(buf, p, stop2, (('magic', 4),))
    magic_3, = unpack_L(buf, p)
    p += 4
    if not ((magic_3 == 3668123815) | (magic_3 == 3668123819)):
        raise refused(buf, p, stop2, 'invalid value', 'magic')
    if p + 40 > stop2:
        raise short(buf, p, stop2, (('body_crc', 4), ('queue_id', 8), ('flag', 12), ('queue_offset', 20), ('physical_offset', 28), ('sys_flag', 32), ('born_timestamp', 40)))
    body_crc_4, queue_id_5, flag_6, queue_offset_7, physical_offset_8, sys_flag_9, born_timestamp_10, = unpack_lllqqlq(buf, p)
    p += 40
    if (sys_flag_9 & 16):
        stop22 = p + 16
        if stop22 > stop2:
            raise bad_length(buf, p, stop2, 16, 'born_address')
        born_address_11 = buf[p:stop22]
        p = stop22
    else:
        stop23 = p + 4
        if stop23 > stop2:
            raise bad_length(buf, p, stop2, 4, 'born_address')
        born_address_11 = buf[p:stop23]
        p = stop23
    if p + 12 > stop2:
        raise short(buf, p, stop2, (('born_port', 4), ('store_timestamp', 12)))
    born_port_12, store_timestamp_13, = unpack_lq(buf, p)
    p += 12
    if (sys_flag_9 & 32):
        stop24 = p + 16
        if stop24 > stop2:
            raise bad_length(buf, p, stop2, 16, 'store_address')
        store_address_14 = buf[p:stop24]
        p = stop24
    else:
        stop25 = p + 4
        if stop25 > stop2:
            raise bad_length(buf, p, stop2, 4, 'store_address')
        store_address_14 = buf[p:stop25]
        p = stop25
    if p + 20 > stop2:
        raise short(buf, p, stop2, (('store_port', 4), ('reconsume_times', 8), ('prepared_transaction_offset', 16), ('body', 20)))
    store_port_15, reconsume_times_16, prepared_transaction_offset_17, length26, = unpack_llql(buf, p)
    p += 20
    body_18 = None
    if length26:
        stop27 = p + length26
        if stop27 > stop2 or length26 < 0:
            raise bad_length(buf, p, stop2, length26, 'body')
        body_18 = buf[p:stop27]
        p = stop27
    if (magic_3 == 3668123819):
        if p + 2 > stop2:
            raise short(buf, p, stop2, (('topic', 2),))
        length28, = unpack_h(buf, p)
        p += 2
        stop29 = p + length28
        if stop29 > stop2 or length28 < 0:
            raise bad_length(buf, p, stop2, length28, 'topic')
        topic_19 = buf[p:stop29]
        p = stop29
    else:
        if p + 1 > stop2:
            raise short(buf, p, stop2, (('topic', 1),))
        length30 = (buf[p] ^ 128) - 128
        p += 1
        stop31 = p + length30
        if stop31 > stop2 or length30 < 0:
            raise bad_length(buf, p, stop2, length30, 'topic')
        topic_19 = buf[p:stop31]
        p = stop31
    if p + 2 > stop2:
        raise short(buf, p, stop2, (('properties', 2),))
    length32, = unpack_h(buf, p)
    p += 2
    properties_20 = None
    if length32:
        stop33 = p + length32
        if stop33 > stop2 or length32 < 0:
            raise bad_length(buf, p, stop2, length32, 'properties')
        properties_20 = buf[p:stop33]
        p = stop33
    if p != stop2:
        raise refused(buf, p, stop2, f'{stop2 - p} bytes left over', '')
    value = (magic_3, body_crc_4, queue_id_5, flag_6, queue_offset_7, physical_offset_8, sys_flag_9, born_timestamp_10, born_address_11, born_port_12, store_timestamp_13, store_address_14, store_port_15, reconsume_times_16, prepared_transaction_offset_17, body_18, topic_19, properties_20, )
    p = stop2
    return value, p

def parse_envelope(buf: Buffer, pos: int = 0, end: int | None = None) -> tuple[Any, int]:
    p = pos
    if end is None or end > len(buf):
        end = len(buf)
    if p + 8 > end:
        raise short(buf, p, end, (('length', 4), ('header_type', 5), ('header_length', 6), ('header_length', 8)))
    length_1, header_type_2, high6, header_length_3, = unpack_lBBH(buf, p)
    p += 8
    header_length_3 |= high6 << 16
    length7 = header_length_3
    stop8 = p + length7
    if stop8 > end or length7 < 0:
        raise bad_length(buf, p, end, length7, 'header')
    header_4 = buf[p:stop8]
    p = stop8
    length9 = ((length_1 - header_length_3) - 4)
    stop10 = p + length9
    if stop10 > end or length9 < 0:
        raise bad_length(buf, p, end, length9, 'body')
    body_5 = buf[p:stop10]
    p = stop10
    value = (header_type_2, header_4, body_5, )
    return value, p

def parse_binary_header(buf: Buffer, pos: int = 0, end: int | None = None) -> tuple[Any, int]:
    p = pos
    if end is None or end > len(buf):
        end = len(buf)
    text = decode_utf8 if buf.__class__ is bytes else decode_buffer
    if p + 17 > end:
        raise short(buf, p, end, (('code', 2), ('language', 3), ('version', 5), ('opaque', 9), ('flag', 13), ('remark', 17)))
    code_1, language_2, version_3, opaque_4, flag_5, length8, = unpack_hBhlll(buf, p)
    p += 17
    stop9 = p + length8
    if stop9 > end or length8 < 0:
        raise bad_length(buf, p, end, length8, 'remark')
    remark_6 = text(buf[p:stop9])
    p = stop9
    if p + 4 > end:
        raise short(buf, p, end, (('ext_fields', 4),))
    total10, = unpack_l(buf, p)
    p += 4
    ext_fields_7 = None
    if total10 > 0:
        stop11 = p + total10
        if stop11 > end:
            raise bad_length(buf, p, end, total10, 'ext_fields')
        ext_fields_7, p = parse_entries(buf, p, stop11, end, 16384, 'ext_fields')
    value = (code_1, language_2, version_3, opaque_4, flag_5, remark_6, ext_fields_7, )
    return value, p

def parse_register_body(buf: Buffer, pos: int = 0, end: int | None = None) -> tuple[Any, int]:
    p = pos
    if end is None or end > len(buf):
        end = len(buf)
    if p + 4 > end:
        raise short(buf, p, end, (('data_version', 4),))
    length4, = unpack_l(buf, p)
    p += 4
    stop5 = p + length4
    if stop5 > end or length4 < 0:
        raise bad_length(buf, p, end, length4, 'data_version')
    data_version_1 = buf[p:stop5]
    p = stop5
    if p + 4 > end:
        raise short(buf, p, end, (('topics', 4),))
    count6, = unpack_l(buf, p)
    p += 4
    if count6 * 4 > end - p:
        raise bad_count(count6, end - p, 4, 'topics', p)
    topics_2 = []
    add7 = topics_2.append
    for _ in range(count6):
        if p + 4 > end:
            raise short(buf, p, end, (('topics[]', 4),))
        length9, = unpack_l(buf, p)
        p += 4
        stop10 = p + length9
        if stop10 > end or length9 < 0:
            raise bad_length(buf, p, end, length9, 'topics[]')
        element8 = buf[p:stop10]
        p = stop10
        add7(element8)
    if p + 4 > end:
        raise short(buf, p, end, (('filter_servers', 4),))
    length11, = unpack_l(buf, p)
    p += 4
    stop12 = p + length11
    if stop12 > end or length11 < 0:
        raise bad_length(buf, p, end, length11, 'filter_servers')
    filter_servers_3 = buf[p:stop12]
    p = stop12
    value = (data_version_1, topics_2, filter_servers_3, )
    return value, p

def parse_register_body_with_mappings(buf: Buffer, pos: int = 0, end: int | None = None) -> tuple[Any, int]:
    p = pos
    if end is None or end > len(buf):
        end = len(buf)
    if p + 4 > end:
        raise short(buf, p, end, (('data_version', 4),))
    length5, = unpack_l(buf, p)
    p += 4
    stop6 = p + length5
    if stop6 > end or length5 < 0:
        raise bad_length(buf, p, end, length5, 'data_version')
    data_version_1 = buf[p:stop6]
    p = stop6
    if p + 4 > end:
        raise short(buf, p, end, (('topics', 4),))
    count7, = unpack_l(buf, p)
    p += 4
    if count7 * 4 > end - p:
        raise bad_count(count7, end - p, 4, 'topics', p)
    topics_2 = []
    add8 = topics_2.append
    for _ in range(count7):
        if p + 4 > end:
            raise short(buf, p, end, (('topics[]', 4),))
        length10, = unpack_l(buf, p)
        p += 4
        stop11 = p + length10
        if stop11 > end or length10 < 0:
            raise bad_length(buf, p, end, length10, 'topics[]')
        element9 = buf[p:stop11]
        p = stop11
        add8(element9)
    if p + 4 > end:
        raise short(buf, p, end, (('filter_servers', 4),))
    length12, = unpack_l(buf, p)
    p += 4
    stop13 = p + length12
    if stop13 > end or length12 < 0:
        raise bad_length(buf, p, end, length12, 'filter_servers')
    filter_servers_3 = buf[p:stop13]
    p = stop13
    if p + 4 > end:
        raise short(buf, p, end, (('mappings', 4),))
    count14, = unpack_l(buf, p)
    p += 4
    if count14 * 4 > end - p:
        raise bad_count(count14, end - p, 4, 'mappings', p)
    mappings_4 = []
    add15 = mappings_4.append
    for _ in range(count14):
        if p + 4 > end:
            raise short(buf, p, end, (('mappings[]', 4),))
        length17, = unpack_l(buf, p)
        p += 4
        stop18 = p + length17
        if stop18 > end or length17 < 0:
            raise bad_length(buf, p, end, length17, 'mappings[]')
        element16 = buf[p:stop18]
        p = stop18
        add15(element16)
    value = (data_version_1, topics_2, filter_servers_3, mappings_4, )
    return value, p

def parse_stored_message(buf: Buffer, pos: int = 0, end: int | None = None) -> tuple[Any, int]:
    p = pos
    if end is None or end > len(buf):
        end = len(buf)
    text = decode_utf8 if buf.__class__ is bytes else decode_buffer
    if p + 4 > end:
        raise short(buf, p, end, (('', 4),))
    length1, = unpack_l(buf, p)
    p += 4
    length1 -= 4
    stop2 = p + length1
    if stop2 > end or length1 < 0:
        raise bad_length(buf, p, end, length1, '')
    if p + 4 > stop2:
        raise short(buf, p, stop2, (('magic', 4),))
    magic_3, = unpack_L(buf, p)
    p += 4
    if not ((magic_3 == 3668123815) | (magic_3 == 3668123819)):
        raise refused(buf, p, stop2, 'invalid value', 'magic')
    if p + 40 > stop2:
        raise short(buf, p, stop2, (('body_crc', 4), ('queue_id', 8), ('flag', 12), ('queue_offset', 20), ('physical_offset', 28), ('sys_flag', 32), ('born_timestamp', 40)))
    body_crc_4, queue_id_5, flag_6, queue_offset_7, physical_offset_8, sys_flag_9, born_timestamp_10, = unpack_lllqqlq(buf, p)
    p += 40
    if (sys_flag_9 & 16):
        stop22 = p + 16
        if stop22 > stop2:
            raise bad_length(buf, p, stop2, 16, 'born_address')
        born_address_11 = buf[p:stop22]
        p = stop22
    else:
        stop23 = p + 4
        if stop23 > stop2:
            raise bad_length(buf, p, stop2, 4, 'born_address')
        born_address_11 = buf[p:stop23]
        p = stop23
    if p + 12 > stop2:
        raise short(buf, p, stop2, (('born_port', 4), ('store_timestamp', 12)))
    born_port_12, store_timestamp_13, = unpack_lq(buf, p)
    p += 12
    if (sys_flag_9 & 32):
        stop24 = p + 16
        if stop24 > stop2:
            raise bad_length(buf, p, stop2, 16, 'store_address')
        store_address_14 = buf[p:stop24]
        p = stop24
    else:
        stop25 = p + 4
        if stop25 > stop2:
            raise bad_length(buf, p, stop2, 4, 'store_address')
        store_address_14 = buf[p:stop25]
        p = stop25
    if p + 20 > stop2:
        raise short(buf, p, stop2, (('store_port', 4), ('reconsume_times', 8), ('prepared_transaction_offset', 16), ('body', 20)))
    store_port_15, reconsume_times_16, prepared_transaction_offset_17, length26, = unpack_llql(buf, p)
    p += 20
    body_18 = None
    if length26:
        stop27 = p + length26
        if stop27 > stop2 or length26 < 0:
            raise bad_length(buf, p, stop2, length26, 'body')
        body_18 = buf[p:stop27]
        p = stop27
    if (magic_3 == 3668123819):
        if p + 2 > stop2:
            raise short(buf, p, stop2, (('topic', 2),))
        length28, = unpack_h(buf, p)
        p += 2
        stop29 = p + length28
        if stop29 > stop2 or length28 < 0:
            raise bad_length(buf, p, stop2, length28, 'topic')
        topic_19 = text(buf[p:stop29])
        p = stop29
    else:
        if p + 1 > stop2:
            raise short(buf, p, stop2, (('topic', 1),))
        length30 = (buf[p] ^ 128) - 128
        p += 1
        stop31 = p + length30
        if stop31 > stop2 or length30 < 0:
            raise bad_length(buf, p, stop2, length30, 'topic')
        topic_19 = text(buf[p:stop31])
        p = stop31
    if p + 2 > stop2:
        raise short(buf, p, stop2, (('properties', 2),))
    length32, = unpack_h(buf, p)
    p += 2
    properties_20 = None
    if length32:
        stop33 = p + length32
        if stop33 > stop2 or length32 < 0:
            raise bad_length(buf, p, stop2, length32, 'properties')
        properties_20 = text(buf[p:stop33])
        p = stop33
    if p != stop2:
        raise refused(buf, p, stop2, f'{stop2 - p} bytes left over', '')
    value = (magic_3, body_crc_4, queue_id_5, flag_6, queue_offset_7, physical_offset_8, sys_flag_9, born_timestamp_10, born_address_11, born_port_12, store_timestamp_13, store_address_14, store_port_15, reconsume_times_16, prepared_transaction_offset_17, body_18, topic_19, properties_20, )
    p = stop2
    return value, p

def parse_batch(buf: Buffer, pos: int = 0, end: int | None = None) -> tuple[Any, int]:
    p = pos
    if end is None or end > len(buf):
        end = len(buf)
    text = decode_utf8 if buf.__class__ is bytes else decode_buffer
    value = []
    add1 = value.append
    while p < end:
        if p + 4 > end:
            raise short(buf, p, end, (('[]', 4),))
        length3, = unpack_l(buf, p)
        p += 4
        length3 -= 4
        stop4 = p + length3
        if stop4 > end or length3 < 0:
            raise bad_length(buf, p, end, length3, '[]')
        if p + 16 > stop4:
            raise short(buf, p, stop4, (('[].magic', 4), ('[].body_crc', 8), ('[].flag', 12), ('[].body', 16)))
        magic_5, body_crc_6, flag_7, length10, = unpack_llll(buf, p)
        p += 16
        stop11 = p + length10
        if stop11 > stop4 or length10 < 0:
            raise bad_length(buf, p, stop4, length10, '[].body')
        body_8 = buf[p:stop11]
        p = stop11
        if p + 2 > stop4:
            raise short(buf, p, stop4, (('[].properties', 2),))
        length12, = unpack_h(buf, p)
        p += 2
        stop13 = p + length12
        if stop13 > stop4 or length12 < 0:
            raise bad_length(buf, p, stop4, length12, '[].properties')
        properties_9 = text(buf[p:stop13])
        p = stop13
        if p != stop4:
            raise refused(buf, p, stop4, f'{stop4 - p} bytes left over', '[]')
        element2 = (flag_7, body_8, properties_9, )
        p = stop4
        add1(element2)
    return value, p

def build_envelope(header_type_: Any, header_: Any, body_: Any) -> bytes:
    derived1 = ((len(header_) + len(body_)) + 4)
    derived2 = len(header_)
    try:
        fixed3 = pack_lBBH(derived1, header_type_, derived2 >> 16, derived2 & 0xFFFF)
    except StructError as error:
        raise unfit((('length', 'l'), ('header_type', 'B'), ('header_length', 'I')), derived1, header_type_, derived2) from error
    if len(body_) != ((derived1 - derived2) - 4):
        raise wrong_size('body', len(body_), ((derived1 - derived2) - 4))
    return b''.join((fixed3, header_, body_, ))

def build_binary_header(code_: Any, language_: Any, version_: Any, opaque_: Any, flag_: Any, remark_: Any, ext_fields_: Any) -> bytes:
    text2 = encode_utf8(remark_)
    data1 = text2
    try:
        fixed3 = pack_hBhlll(code_, language_, version_, opaque_, flag_, len(data1))
    except StructError as error:
        raise unfit((('code', 'h'), ('language', 'B'), ('version', 'h'), ('opaque', 'l'), ('flag', 'l'), ('remark', 'l')), code_, language_, version_, opaque_, flag_, len(data1)) from error
    data4 = build_entries(ext_fields_, 'ext_fields') if ext_fields_ else b''
    try:
        fixed5 = pack_l(len(data4))
    except StructError as error:
        raise unfit((('ext_fields', 'l'),), len(data4)) from error
    return b''.join((fixed3, data1, fixed5, data4, ))

def build_register_body(data_version_: Any, topics_: Any, filter_servers_: Any) -> bytes:
    data1 = data_version_
    try:
        fixed2 = pack_l(len(data1))
    except StructError as error:
        raise unfit((('data_version', 'l'),), len(data1)) from error
    try:
        fixed3 = pack_l(len(topics_))
    except StructError as error:
        raise unfit((('topics', 'l'),), len(topics_)) from error
    parts4 = []
    for element5 in topics_:
        data6 = element5
        try:
            fixed7 = pack_l(len(data6))
        except StructError as error:
            raise unfit((('topics[]', 'l'),), len(data6)) from error
        parts4 += (fixed7, data6, )
    data8 = filter_servers_
    try:
        fixed9 = pack_l(len(data8))
    except StructError as error:
        raise unfit((('filter_servers', 'l'),), len(data8)) from error
    return b''.join((fixed2, data1, fixed3, b''.join(parts4), fixed9, data8, ))

def build_register_body_with_mappings(data_version_: Any, topics_: Any, filter_servers_: Any, mappings_: Any) -> bytes:
    data1 = data_version_
    try:
        fixed2 = pack_l(len(data1))
    except StructError as error:
        raise unfit((('data_version', 'l'),), len(data1)) from error
    try:
        fixed3 = pack_l(len(topics_))
    except StructError as error:
        raise unfit((('topics', 'l'),), len(topics_)) from error
    parts4 = []
    for element5 in topics_:
        data6 = element5
        try:
            fixed7 = pack_l(len(data6))
        except StructError as error:
            raise unfit((('topics[]', 'l'),), len(data6)) from error
        parts4 += (fixed7, data6, )
    data8 = filter_servers_
    try:
        fixed9 = pack_l(len(data8))
    except StructError as error:
        raise unfit((('filter_servers', 'l'),), len(data8)) from error
    try:
        fixed10 = pack_l(len(mappings_))
    except StructError as error:
        raise unfit((('mappings', 'l'),), len(mappings_)) from error
    parts11 = []
    for element12 in mappings_:
        data13 = element12
        try:
            fixed14 = pack_l(len(data13))
        except StructError as error:
            raise unfit((('mappings[]', 'l'),), len(data13)) from error
        parts11 += (fixed14, data13, )
    return b''.join((fixed2, data1, fixed3, b''.join(parts4), fixed9, data8, fixed10, b''.join(parts11), ))

def build_stored_message(value: Any) -> bytes:
    magic_2, body_crc_3, queue_id_4, flag_5, queue_offset_6, physical_offset_7, sys_flag_8, born_timestamp_9, born_address_10, born_port_11, store_timestamp_12, store_address_13, store_port_14, reconsume_times_15, prepared_transaction_offset_16, body_17, topic_18, properties_19, = value
    if not ((magic_2 == 3668123815) | (magic_2 == 3668123819)):
        raise invalid('magic')
    try:
        fixed20 = pack_Llllqqlq(magic_2, body_crc_3, queue_id_4, flag_5, queue_offset_6, physical_offset_7, sys_flag_8, born_timestamp_9)
    except StructError as error:
        raise unfit((('magic', 'L'), ('body_crc', 'l'), ('queue_id', 'l'), ('flag', 'l'), ('queue_offset', 'q'), ('physical_offset', 'q'), ('sys_flag', 'l'), ('born_timestamp', 'q')), magic_2, body_crc_3, queue_id_4, flag_5, queue_offset_6, physical_offset_7, sys_flag_8, born_timestamp_9) from error
    if (sys_flag_8 & 16):
        if len(born_address_10) != 16:
            raise wrong_size('born_address', len(born_address_10), 16)
        data21 = born_address_10
    else:
        if len(born_address_10) != 4:
            raise wrong_size('born_address', len(born_address_10), 4)
        data21 = born_address_10
    try:
        fixed22 = pack_lq(born_port_11, store_timestamp_12)
    except StructError as error:
        raise unfit((('born_port', 'l'), ('store_timestamp', 'q')), born_port_11, store_timestamp_12) from error
    if (sys_flag_8 & 32):
        if len(store_address_13) != 16:
            raise wrong_size('store_address', len(store_address_13), 16)
        data23 = store_address_13
    else:
        if len(store_address_13) != 4:
            raise wrong_size('store_address', len(store_address_13), 4)
        data23 = store_address_13
    data24 = b''
    if body_17 is not None:
        data24 = body_17
    try:
        fixed25 = pack_llql(store_port_14, reconsume_times_15, prepared_transaction_offset_16, len(data24))
    except StructError as error:
        raise unfit((('store_port', 'l'), ('reconsume_times', 'l'), ('prepared_transaction_offset', 'q'), ('body', 'l')), store_port_14, reconsume_times_15, prepared_transaction_offset_16, len(data24)) from error
    if (magic_2 == 3668123819):
        text28 = encode_utf8(topic_18)
        data27 = text28
        try:
            fixed29 = pack_h(len(data27))
        except StructError as error:
            raise unfit((('topic', 'h'),), len(data27)) from error
        data26 = b''.join((fixed29, data27, ))
    else:
        text31 = encode_utf8(topic_18)
        data30 = text31
        try:
            fixed32 = pack_b(len(data30))
        except StructError as error:
            raise unfit((('topic', 'b'),), len(data30)) from error
        data26 = b''.join((fixed32, data30, ))
    data33 = b''
    if properties_19 is not None:
        text34 = encode_utf8(properties_19)
        data33 = text34
    try:
        fixed35 = pack_h(len(data33))
    except StructError as error:
        raise unfit((('properties', 'h'),), len(data33)) from error
    data1 = b''.join((fixed20, data21, fixed22, data23, fixed25, data24, data26, fixed35, data33, ))
    try:
        fixed36 = pack_l(len(data1) + 4)
    except StructError as error:
        raise unfit((('', 'l'),), len(data1) + 4) from error
    return b''.join((fixed36, data1, ))

def build_batch(value: Any) -> bytes:
    parts1 = []
    for element2 in value:
        flag_4, body_5, properties_6, = element2
        data7 = body_5
        try:
            fixed8 = pack_llll(0, 0, flag_4, len(data7))
        except StructError as error:
            raise unfit((('[].magic', 'l'), ('[].body_crc', 'l'), ('[].flag', 'l'), ('[].body', 'l')), 0, 0, flag_4, len(data7)) from error
        text10 = encode_utf8(properties_6)
        data9 = text10
        try:
            fixed11 = pack_h(len(data9))
        except StructError as error:
            raise unfit((('[].properties', 'h'),), len(data9)) from error
        data3 = b''.join((fixed8, data7, fixed11, data9, ))
        try:
            fixed12 = pack_l(len(data3) + 4)
        except StructError as error:
            raise unfit((('[]', 'l'),), len(data3) + 4) from error
        parts1 += (fixed12, data3, )
    return b''.join(parts1)
