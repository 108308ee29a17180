"""Parsers and builders of the layouts; written by ``rocketwire.wire.layouts.derive``, never by hand."""

from struct import Struct
from struct import error as StructError

from rocketwire.wire.layouts.runtime.build_errors import build_entries, impossible, unfit, wrong_size
from rocketwire.wire.layouts.runtime.entries import entries_reader, surplus_finder
from rocketwire.wire.layouts.runtime.lists import read_pieces
from rocketwire.wire.layouts.runtime.parse_errors import bad_count, bad_length, refused, short, too_many
from rocketwire.wire.java_utf8 import decode_damaged, decode_slice, encode_utf8

decode_bytes = bytes.decode

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

parse_length_steps1 = (('', 4),)
parse_length_unpack2 = Struct('>l').unpack_from
def parse_length(buf, pos=0, end=None):
    p = pos
    if end is None or end > len(buf):
        end = len(buf)
    if p + 4 > end:
        raise short(buf, p, end, parse_length_steps1)
    value, = parse_length_unpack2(buf, p)
    p += 4
    return value, p

parse_prefix_steps5 = (('length', 4), ('header_type', 5), ('header_length', 6), ('header_length', 8))
parse_prefix_unpack6 = Struct('>lBBH').unpack_from
def parse_prefix(buf, pos=0, end=None):
    p = pos
    if end is None or end > len(buf):
        end = len(buf)
    if p + 8 > end:
        raise short(buf, p, end, parse_prefix_steps5)
    length_1, header_type_2, high4, header_length_3, = parse_prefix_unpack6(buf, p)
    p += 8
    header_length_3 |= high4 << 16
    value = (length_1, header_type_2, header_length_3, )
    return value, p

parse_register_head_steps4 = (('data_version', 4),)
parse_register_head_unpack5 = Struct('>l').unpack_from
parse_register_head_steps7 = (('topics', 4),)
parse_register_head_unpack8 = Struct('>l').unpack_from
def parse_register_head(buf, pos=0, end=None):
    p = pos
    if end is None or end > len(buf):
        end = len(buf)
    if p + 4 > end:
        raise short(buf, p, end, parse_register_head_steps4)
    length3, = parse_register_head_unpack5(buf, p)
    p += 4
    stop6 = p + length3
    if stop6 > end or length3 < 0:
        raise bad_length(buf, p, end, length3, 'data_version')
    data_version_1 = buf[p:stop6]
    p = stop6
    if p + 4 > end:
        raise short(buf, p, end, parse_register_head_steps7)
    topics_2, = parse_register_head_unpack8(buf, p)
    p += 4
    value = (data_version_1, topics_2, )
    return value, p

parse_register_item_steps2 = (('', 4),)
parse_register_item_unpack3 = Struct('>l').unpack_from
def parse_register_item(buf, pos=0, end=None):
    p = pos
    if end is None or end > len(buf):
        end = len(buf)
    if p + 4 > end:
        raise short(buf, p, end, parse_register_item_steps2)
    length1, = parse_register_item_unpack3(buf, p)
    p += 4
    stop4 = p + length1
    if stop4 > end or length1 < 0:
        raise bad_length(buf, p, end, length1, '')
    value = buf[p:stop4]
    p = stop4
    return value, p

parse_register_tail_steps3 = (('filter_servers', 4),)
parse_register_tail_unpack4 = Struct('>l').unpack_from
def parse_register_tail(buf, pos=0, end=None):
    p = pos
    if end is None or end > len(buf):
        end = len(buf)
    if p + 4 > end:
        raise short(buf, p, end, parse_register_tail_steps3)
    length2, = parse_register_tail_unpack4(buf, p)
    p += 4
    stop5 = p + length2
    if stop5 > end or length2 < 0:
        raise bad_length(buf, p, end, length2, 'filter_servers')
    filter_servers_1 = buf[p:stop5]
    p = stop5
    value = (filter_servers_1, )
    return value, p

parse_register_tail_with_mappings_steps4 = (('filter_servers', 4),)
parse_register_tail_with_mappings_unpack5 = Struct('>l').unpack_from
parse_register_tail_with_mappings_steps8 = (('mappings', 4),)
parse_register_tail_with_mappings_unpack9 = Struct('>l').unpack_from
parse_register_tail_with_mappings_steps13 = (('mappings[]', 4),)
parse_register_tail_with_mappings_unpack14 = Struct('>l').unpack_from
def parse_register_tail_with_mappings(buf, pos=0, end=None):
    p = pos
    if end is None or end > len(buf):
        end = len(buf)
    if p + 4 > end:
        raise short(buf, p, end, parse_register_tail_with_mappings_steps4)
    length3, = parse_register_tail_with_mappings_unpack5(buf, p)
    p += 4
    stop6 = p + length3
    if stop6 > end or length3 < 0:
        raise bad_length(buf, p, end, length3, 'filter_servers')
    filter_servers_1 = buf[p:stop6]
    p = stop6
    if p + 4 > end:
        raise short(buf, p, end, parse_register_tail_with_mappings_steps8)
    count7, = parse_register_tail_with_mappings_unpack9(buf, p)
    p += 4
    if count7 * 4 > end - p:
        raise bad_count(count7, end - p, 4, 'mappings', p)
    mappings_2, p = read_pieces(buf, p, end, count7)
    if mappings_2 is None:
        mappings_2 = []
        add10 = mappings_2.append
        for _ in range(count7):
            if p + 4 > end:
                raise short(buf, p, end, parse_register_tail_with_mappings_steps13)
            length12, = parse_register_tail_with_mappings_unpack14(buf, p)
            p += 4
            stop15 = p + length12
            if stop15 > end or length12 < 0:
                raise bad_length(buf, p, end, length12, 'mappings[]')
            element11 = buf[p:stop15]
            p = stop15
            add10(element11)
    value = (filter_servers_1, mappings_2, )
    return value, p

parse_stored_message_raw_steps2 = (('', 4),)
parse_stored_message_raw_unpack3 = Struct('>l').unpack_from
parse_stored_message_raw_unpack25 = Struct('>Llllqqlq4slq4sllql').unpack_from
parse_stored_message_raw_steps27 = (('magic', 4),)
parse_stored_message_raw_unpack28 = Struct('>L').unpack_from
parse_stored_message_raw_steps29 = (('body_crc', 4), ('queue_id', 8), ('flag', 12), ('queue_offset', 20), ('physical_offset', 28), ('sys_flag', 32), ('born_timestamp', 40))
parse_stored_message_raw_unpack30 = Struct('>lllqqlq').unpack_from
parse_stored_message_raw_steps33 = (('born_port', 4), ('store_timestamp', 12))
parse_stored_message_raw_unpack34 = Struct('>lq').unpack_from
parse_stored_message_raw_steps37 = (('store_port', 4), ('reconsume_times', 8), ('prepared_transaction_offset', 16), ('body', 20))
parse_stored_message_raw_unpack38 = Struct('>llql').unpack_from
parse_stored_message_raw_steps41 = (('topic', 2),)
parse_stored_message_raw_unpack42 = Struct('>h').unpack_from
parse_stored_message_raw_steps45 = (('topic', 1),)
parse_stored_message_raw_steps48 = (('properties', 2),)
parse_stored_message_raw_unpack49 = Struct('>h').unpack_from
def parse_stored_message_raw(buf, pos=0, end=None):
    p = pos
    if end is None or end > len(buf):
        end = len(buf)
    if p + 4 > end:
        raise short(buf, p, end, parse_stored_message_raw_steps2)
    length1, = parse_stored_message_raw_unpack3(buf, p)
    p += 4
    length1 -= 4
    stop4 = p + length1
    if stop4 > end or length1 < 0:
        raise bad_length(buf, p, end, length1, '')
    usual26 = False
    if p + 84 <= stop4:
        magic_5, body_crc_6, queue_id_7, flag_8, queue_offset_9, physical_offset_10, sys_flag_11, born_timestamp_12, born_address_13, born_port_14, store_timestamp_15, store_address_16, store_port_17, reconsume_times_18, prepared_transaction_offset_19, length24, = parse_stored_message_raw_unpack25(buf, p)
        usual26 = ((magic_5 == 3668123815) | (magic_5 == 3668123819)) and not (sys_flag_11 & 16) and not (sys_flag_11 & 32)
    if usual26:
        p += 84
    else:
        if p + 4 > stop4:
            raise short(buf, p, stop4, parse_stored_message_raw_steps27)
        magic_5, = parse_stored_message_raw_unpack28(buf, p)
        p += 4
        if not ((magic_5 == 3668123815) | (magic_5 == 3668123819)):
            raise refused(buf, p, stop4, 'a value that cannot be', 'magic')
        if p + 40 > stop4:
            raise short(buf, p, stop4, parse_stored_message_raw_steps29)
        body_crc_6, queue_id_7, flag_8, queue_offset_9, physical_offset_10, sys_flag_11, born_timestamp_12, = parse_stored_message_raw_unpack30(buf, p)
        p += 40
        length31 = 16 if (sys_flag_11 & 16) else 4
        stop32 = p + length31
        if stop32 > stop4:
            raise bad_length(buf, p, stop4, length31, 'born_address')
        born_address_13 = buf[p:stop32]
        p = stop32
        if p + 12 > stop4:
            raise short(buf, p, stop4, parse_stored_message_raw_steps33)
        born_port_14, store_timestamp_15, = parse_stored_message_raw_unpack34(buf, p)
        p += 12
        length35 = 16 if (sys_flag_11 & 32) else 4
        stop36 = p + length35
        if stop36 > stop4:
            raise bad_length(buf, p, stop4, length35, 'store_address')
        store_address_16 = buf[p:stop36]
        p = stop36
        if p + 20 > stop4:
            raise short(buf, p, stop4, parse_stored_message_raw_steps37)
        store_port_17, reconsume_times_18, prepared_transaction_offset_19, length24, = parse_stored_message_raw_unpack38(buf, p)
        p += 20
    body_20 = None
    if length24:
        stop39 = p + length24
        if stop39 > stop4 or length24 < 0:
            raise bad_length(buf, p, stop4, length24, 'body')
        body_20 = buf[p:stop39]
        p = stop39
    if (magic_5 == 3668123819):
        if p + 2 > stop4:
            raise short(buf, p, stop4, parse_stored_message_raw_steps41)
        length40, = parse_stored_message_raw_unpack42(buf, p)
        p += 2
        stop43 = p + length40
        if stop43 > stop4 or length40 < 0:
            raise bad_length(buf, p, stop4, length40, 'topic')
        topic_21 = buf[p:stop43]
        p = stop43
    else:
        if p + 1 > stop4:
            raise short(buf, p, stop4, parse_stored_message_raw_steps45)
        length44 = (buf[p] ^ 128) - 128
        p += 1
        stop46 = p + length44
        if stop46 > stop4 or length44 < 0:
            raise bad_length(buf, p, stop4, length44, 'topic')
        topic_21 = buf[p:stop46]
        p = stop46
    if p + 2 > stop4:
        raise short(buf, p, stop4, parse_stored_message_raw_steps48)
    length47, = parse_stored_message_raw_unpack49(buf, p)
    p += 2
    properties_22 = None
    if length47:
        stop50 = p + length47
        if stop50 > stop4 or length47 < 0:
            raise bad_length(buf, p, stop4, length47, 'properties')
        properties_22 = buf[p:stop50]
        p = stop50
    if p != stop4:
        raise refused(buf, p, stop4, f'{stop4 - p} bytes left over', '')
    value = (magic_5, body_crc_6, queue_id_7, flag_8, queue_offset_9, physical_offset_10, sys_flag_11, born_timestamp_12, born_address_13, born_port_14, store_timestamp_15, store_address_16, store_port_17, reconsume_times_18, prepared_transaction_offset_19, body_20, topic_21, properties_22, )
    p = stop4
    return value, p

parse_envelope_steps7 = (('length', 4), ('header_type', 5), ('header_length', 6), ('header_length', 8))
parse_envelope_unpack8 = Struct('>lBBH').unpack_from
def parse_envelope(buf, pos=0, end=None):
    p = pos
    if end is None or end > len(buf):
        end = len(buf)
    if p + 8 > end:
        raise short(buf, p, end, parse_envelope_steps7)
    length_1, header_type_2, high6, header_length_3, = parse_envelope_unpack8(buf, p)
    p += 8
    header_length_3 |= high6 << 16
    length9 = header_length_3
    stop10 = p + length9
    if stop10 > end or length9 < 0:
        raise bad_length(buf, p, end, length9, 'header')
    header_4 = buf[p:stop10]
    p = stop10
    length11 = ((length_1 - header_length_3) - 4)
    stop12 = p + length11
    if stop12 > end or length11 < 0:
        raise bad_length(buf, p, end, length11, 'body')
    body_5 = buf[p:stop12]
    p = stop12
    value = (header_type_2, header_4, body_5, )
    return value, p

parse_binary_header_unpack10 = Struct('>hBhllll').unpack_from
parse_binary_header_steps12 = (('code', 2), ('language', 3), ('version', 5), ('opaque', 9), ('flag', 13), ('remark', 17))
parse_binary_header_unpack13 = Struct('>hBhlll').unpack_from
parse_binary_header_steps15 = (('ext_fields', 4),)
parse_binary_header_unpack16 = Struct('>l').unpack_from
parse_binary_header_unpack17 = Struct('>h').unpack_from
parse_binary_header_unpack18 = Struct('>l').unpack_from
parse_binary_header_read19 = entries_reader(Struct('>h'), Struct('>l'))
parse_binary_header_surplus20 = surplus_finder(Struct('>h'), Struct('>l'), 16384)
parse_binary_header_steps21 = (('ext_fields.key', 2),)
parse_binary_header_steps22 = (('ext_fields.value', 4),)
def parse_binary_header(buf, pos=0, end=None):
    p = pos
    if end is None or end > len(buf):
        end = len(buf)
    text = decode_bytes if buf.__class__ is bytes else decode_slice
    usual11 = False
    if p + 21 <= end:
        code_1, language_2, version_3, opaque_4, flag_5, length8, total9, = parse_binary_header_unpack10(buf, p)
        usual11 = not length8
    if usual11:
        p += 21
        remark_6 = ''
    else:
        if p + 17 > end:
            raise short(buf, p, end, parse_binary_header_steps12)
        code_1, language_2, version_3, opaque_4, flag_5, length8, = parse_binary_header_unpack13(buf, p)
        p += 17
        stop14 = p + length8
        if stop14 > end or length8 < 0:
            raise bad_length(buf, p, end, length8, 'remark')
        try:
            remark_6 = text(buf[p:stop14])
        except UnicodeDecodeError:
            remark_6 = decode_damaged(bytes(buf[p:stop14]))
        p = stop14
        if p + 4 > end:
            raise short(buf, p, end, parse_binary_header_steps15)
        total9, = parse_binary_header_unpack16(buf, p)
        p += 4
    ext_fields_7 = None
    if total9 > 0:
        until = p + total9
        if until > end:
            raise bad_length(buf, p, end, total9, 'ext_fields')
        ext_fields_7 = parse_binary_header_read19(bytes(buf[p:until])) if 24 <= total9 <= 98304 else None
        if total9 > 98304:
            q = parse_binary_header_surplus20(buf, p, until, end)
            if q is not None:
                raise too_many(16384, 'ext_fields', q)
        if ext_fields_7 is None:
            ext_fields_7 = {}
        else:
            p = until
        while p < until:
            if p + 2 > end:
                raise short(buf, p, end, parse_binary_header_steps21)
            (n,) = parse_binary_header_unpack17(buf, p)
            p += 2
            q = p + n
            if not p <= q <= end - 4 or n > total9:
                if n < 0 or n > total9 or q > end:
                    raise bad_length(buf, p, end, n, 'ext_fields' + '.key')
                raise short(buf, q, end, parse_binary_header_steps22)
            left = buf[p:q]
            (n,) = parse_binary_header_unpack18(buf, q)
            p = q + 4
            q = p + n
            if not p <= q <= end or n > total9:
                raise bad_length(buf, p, end, n, 'ext_fields' + '.value')
            if left:
                try:
                    left = text(left)
                    right = text(buf[p:q])
                except UnicodeDecodeError:
                    left = left if left.__class__ is str else decode_damaged(bytes(left))
                    right = decode_damaged(bytes(buf[p:q])) if n else ''
                if right:
                    ext_fields_7[left] = right
                else:
                    ext_fields_7.pop(left, None)
            p = q
    value = (code_1, language_2, version_3, opaque_4, flag_5, remark_6, ext_fields_7, )
    return value, p

parse_register_body_steps5 = (('data_version', 4),)
parse_register_body_unpack6 = Struct('>l').unpack_from
parse_register_body_steps9 = (('topics', 4),)
parse_register_body_unpack10 = Struct('>l').unpack_from
parse_register_body_steps14 = (('topics[]', 4),)
parse_register_body_unpack15 = Struct('>l').unpack_from
parse_register_body_steps18 = (('filter_servers', 4),)
parse_register_body_unpack19 = Struct('>l').unpack_from
def parse_register_body(buf, pos=0, end=None):
    p = pos
    if end is None or end > len(buf):
        end = len(buf)
    if p + 4 > end:
        raise short(buf, p, end, parse_register_body_steps5)
    length4, = parse_register_body_unpack6(buf, p)
    p += 4
    stop7 = p + length4
    if stop7 > end or length4 < 0:
        raise bad_length(buf, p, end, length4, 'data_version')
    data_version_1 = buf[p:stop7]
    p = stop7
    if p + 4 > end:
        raise short(buf, p, end, parse_register_body_steps9)
    count8, = parse_register_body_unpack10(buf, p)
    p += 4
    if count8 * 4 > end - p:
        raise bad_count(count8, end - p, 4, 'topics', p)
    topics_2, p = read_pieces(buf, p, end, count8)
    if topics_2 is None:
        topics_2 = []
        add11 = topics_2.append
        for _ in range(count8):
            if p + 4 > end:
                raise short(buf, p, end, parse_register_body_steps14)
            length13, = parse_register_body_unpack15(buf, p)
            p += 4
            stop16 = p + length13
            if stop16 > end or length13 < 0:
                raise bad_length(buf, p, end, length13, 'topics[]')
            element12 = buf[p:stop16]
            p = stop16
            add11(element12)
    if p + 4 > end:
        raise short(buf, p, end, parse_register_body_steps18)
    length17, = parse_register_body_unpack19(buf, p)
    p += 4
    stop20 = p + length17
    if stop20 > end or length17 < 0:
        raise bad_length(buf, p, end, length17, 'filter_servers')
    filter_servers_3 = buf[p:stop20]
    p = stop20
    value = (data_version_1, topics_2, filter_servers_3, )
    return value, p

parse_register_body_with_mappings_steps6 = (('data_version', 4),)
parse_register_body_with_mappings_unpack7 = Struct('>l').unpack_from
parse_register_body_with_mappings_steps10 = (('topics', 4),)
parse_register_body_with_mappings_unpack11 = Struct('>l').unpack_from
parse_register_body_with_mappings_steps15 = (('topics[]', 4),)
parse_register_body_with_mappings_unpack16 = Struct('>l').unpack_from
parse_register_body_with_mappings_steps19 = (('filter_servers', 4),)
parse_register_body_with_mappings_unpack20 = Struct('>l').unpack_from
parse_register_body_with_mappings_steps23 = (('mappings', 4),)
parse_register_body_with_mappings_unpack24 = Struct('>l').unpack_from
parse_register_body_with_mappings_steps28 = (('mappings[]', 4),)
parse_register_body_with_mappings_unpack29 = Struct('>l').unpack_from
def parse_register_body_with_mappings(buf, pos=0, end=None):
    p = pos
    if end is None or end > len(buf):
        end = len(buf)
    if p + 4 > end:
        raise short(buf, p, end, parse_register_body_with_mappings_steps6)
    length5, = parse_register_body_with_mappings_unpack7(buf, p)
    p += 4
    stop8 = p + length5
    if stop8 > end or length5 < 0:
        raise bad_length(buf, p, end, length5, 'data_version')
    data_version_1 = buf[p:stop8]
    p = stop8
    if p + 4 > end:
        raise short(buf, p, end, parse_register_body_with_mappings_steps10)
    count9, = parse_register_body_with_mappings_unpack11(buf, p)
    p += 4
    if count9 * 4 > end - p:
        raise bad_count(count9, end - p, 4, 'topics', p)
    topics_2, p = read_pieces(buf, p, end, count9)
    if topics_2 is None:
        topics_2 = []
        add12 = topics_2.append
        for _ in range(count9):
            if p + 4 > end:
                raise short(buf, p, end, parse_register_body_with_mappings_steps15)
            length14, = parse_register_body_with_mappings_unpack16(buf, p)
            p += 4
            stop17 = p + length14
            if stop17 > end or length14 < 0:
                raise bad_length(buf, p, end, length14, 'topics[]')
            element13 = buf[p:stop17]
            p = stop17
            add12(element13)
    if p + 4 > end:
        raise short(buf, p, end, parse_register_body_with_mappings_steps19)
    length18, = parse_register_body_with_mappings_unpack20(buf, p)
    p += 4
    stop21 = p + length18
    if stop21 > end or length18 < 0:
        raise bad_length(buf, p, end, length18, 'filter_servers')
    filter_servers_3 = buf[p:stop21]
    p = stop21
    if p + 4 > end:
        raise short(buf, p, end, parse_register_body_with_mappings_steps23)
    count22, = parse_register_body_with_mappings_unpack24(buf, p)
    p += 4
    if count22 * 4 > end - p:
        raise bad_count(count22, end - p, 4, 'mappings', p)
    mappings_4, p = read_pieces(buf, p, end, count22)
    if mappings_4 is None:
        mappings_4 = []
        add25 = mappings_4.append
        for _ in range(count22):
            if p + 4 > end:
                raise short(buf, p, end, parse_register_body_with_mappings_steps28)
            length27, = parse_register_body_with_mappings_unpack29(buf, p)
            p += 4
            stop30 = p + length27
            if stop30 > end or length27 < 0:
                raise bad_length(buf, p, end, length27, 'mappings[]')
            element26 = buf[p:stop30]
            p = stop30
            add25(element26)
    value = (data_version_1, topics_2, filter_servers_3, mappings_4, )
    return value, p

parse_stored_message_steps2 = (('', 4),)
parse_stored_message_unpack3 = Struct('>l').unpack_from
parse_stored_message_unpack25 = Struct('>Llllqqlq4slq4sllql').unpack_from
parse_stored_message_steps27 = (('magic', 4),)
parse_stored_message_unpack28 = Struct('>L').unpack_from
parse_stored_message_steps29 = (('body_crc', 4), ('queue_id', 8), ('flag', 12), ('queue_offset', 20), ('physical_offset', 28), ('sys_flag', 32), ('born_timestamp', 40))
parse_stored_message_unpack30 = Struct('>lllqqlq').unpack_from
parse_stored_message_steps33 = (('born_port', 4), ('store_timestamp', 12))
parse_stored_message_unpack34 = Struct('>lq').unpack_from
parse_stored_message_steps37 = (('store_port', 4), ('reconsume_times', 8), ('prepared_transaction_offset', 16), ('body', 20))
parse_stored_message_unpack38 = Struct('>llql').unpack_from
parse_stored_message_steps41 = (('topic', 2),)
parse_stored_message_unpack42 = Struct('>h').unpack_from
parse_stored_message_steps45 = (('topic', 1),)
parse_stored_message_steps48 = (('properties', 2),)
parse_stored_message_unpack49 = Struct('>h').unpack_from
def parse_stored_message(buf, pos=0, end=None):
    p = pos
    if end is None or end > len(buf):
        end = len(buf)
    text = decode_bytes if buf.__class__ is bytes else decode_slice
    if p + 4 > end:
        raise short(buf, p, end, parse_stored_message_steps2)
    length1, = parse_stored_message_unpack3(buf, p)
    p += 4
    length1 -= 4
    stop4 = p + length1
    if stop4 > end or length1 < 0:
        raise bad_length(buf, p, end, length1, '')
    usual26 = False
    if p + 84 <= stop4:
        magic_5, body_crc_6, queue_id_7, flag_8, queue_offset_9, physical_offset_10, sys_flag_11, born_timestamp_12, born_address_13, born_port_14, store_timestamp_15, store_address_16, store_port_17, reconsume_times_18, prepared_transaction_offset_19, length24, = parse_stored_message_unpack25(buf, p)
        usual26 = ((magic_5 == 3668123815) | (magic_5 == 3668123819)) and not (sys_flag_11 & 16) and not (sys_flag_11 & 32)
    if usual26:
        p += 84
    else:
        if p + 4 > stop4:
            raise short(buf, p, stop4, parse_stored_message_steps27)
        magic_5, = parse_stored_message_unpack28(buf, p)
        p += 4
        if not ((magic_5 == 3668123815) | (magic_5 == 3668123819)):
            raise refused(buf, p, stop4, 'a value that cannot be', 'magic')
        if p + 40 > stop4:
            raise short(buf, p, stop4, parse_stored_message_steps29)
        body_crc_6, queue_id_7, flag_8, queue_offset_9, physical_offset_10, sys_flag_11, born_timestamp_12, = parse_stored_message_unpack30(buf, p)
        p += 40
        length31 = 16 if (sys_flag_11 & 16) else 4
        stop32 = p + length31
        if stop32 > stop4:
            raise bad_length(buf, p, stop4, length31, 'born_address')
        born_address_13 = buf[p:stop32]
        p = stop32
        if p + 12 > stop4:
            raise short(buf, p, stop4, parse_stored_message_steps33)
        born_port_14, store_timestamp_15, = parse_stored_message_unpack34(buf, p)
        p += 12
        length35 = 16 if (sys_flag_11 & 32) else 4
        stop36 = p + length35
        if stop36 > stop4:
            raise bad_length(buf, p, stop4, length35, 'store_address')
        store_address_16 = buf[p:stop36]
        p = stop36
        if p + 20 > stop4:
            raise short(buf, p, stop4, parse_stored_message_steps37)
        store_port_17, reconsume_times_18, prepared_transaction_offset_19, length24, = parse_stored_message_unpack38(buf, p)
        p += 20
    body_20 = None
    if length24:
        stop39 = p + length24
        if stop39 > stop4 or length24 < 0:
            raise bad_length(buf, p, stop4, length24, 'body')
        body_20 = buf[p:stop39]
        p = stop39
    if (magic_5 == 3668123819):
        if p + 2 > stop4:
            raise short(buf, p, stop4, parse_stored_message_steps41)
        length40, = parse_stored_message_unpack42(buf, p)
        p += 2
        stop43 = p + length40
        if stop43 > stop4 or length40 < 0:
            raise bad_length(buf, p, stop4, length40, 'topic')
        try:
            topic_21 = text(buf[p:stop43])
        except UnicodeDecodeError:
            topic_21 = decode_damaged(bytes(buf[p:stop43]))
        p = stop43
    else:
        if p + 1 > stop4:
            raise short(buf, p, stop4, parse_stored_message_steps45)
        length44 = (buf[p] ^ 128) - 128
        p += 1
        stop46 = p + length44
        if stop46 > stop4 or length44 < 0:
            raise bad_length(buf, p, stop4, length44, 'topic')
        try:
            topic_21 = text(buf[p:stop46])
        except UnicodeDecodeError:
            topic_21 = decode_damaged(bytes(buf[p:stop46]))
        p = stop46
    if p + 2 > stop4:
        raise short(buf, p, stop4, parse_stored_message_steps48)
    length47, = parse_stored_message_unpack49(buf, p)
    p += 2
    properties_22 = None
    if length47:
        stop50 = p + length47
        if stop50 > stop4 or length47 < 0:
            raise bad_length(buf, p, stop4, length47, 'properties')
        try:
            properties_22 = text(buf[p:stop50])
        except UnicodeDecodeError:
            properties_22 = decode_damaged(bytes(buf[p:stop50]))
        p = stop50
    if p != stop4:
        raise refused(buf, p, stop4, f'{stop4 - p} bytes left over', '')
    value = (magic_5, body_crc_6, queue_id_7, flag_8, queue_offset_9, physical_offset_10, sys_flag_11, born_timestamp_12, born_address_13, born_port_14, store_timestamp_15, store_address_16, store_port_17, reconsume_times_18, prepared_transaction_offset_19, body_20, topic_21, properties_22, )
    p = stop4
    return value, p

parse_batch_steps4 = (('[]', 4),)
parse_batch_unpack5 = Struct('>l').unpack_from
parse_batch_steps13 = (('[].magic', 4), ('[].body_crc', 8), ('[].flag', 12), ('[].body', 16))
parse_batch_unpack14 = Struct('>llll').unpack_from
parse_batch_steps17 = (('[].properties', 2),)
parse_batch_unpack18 = Struct('>h').unpack_from
def parse_batch(buf, pos=0, end=None):
    p = pos
    if end is None or end > len(buf):
        end = len(buf)
    text = decode_bytes if buf.__class__ is bytes else decode_slice
    value = []
    add1 = value.append
    while p < end:
        if p + 4 > end:
            raise short(buf, p, end, parse_batch_steps4)
        length3, = parse_batch_unpack5(buf, p)
        p += 4
        length3 -= 4
        stop6 = p + length3
        if stop6 > end or length3 < 0:
            raise bad_length(buf, p, end, length3, '[]')
        if p + 16 > stop6:
            raise short(buf, p, stop6, parse_batch_steps13)
        magic_7, body_crc_8, flag_9, length12, = parse_batch_unpack14(buf, p)
        p += 16
        stop15 = p + length12
        if stop15 > stop6 or length12 < 0:
            raise bad_length(buf, p, stop6, length12, '[].body')
        body_10 = buf[p:stop15]
        p = stop15
        if p + 2 > stop6:
            raise short(buf, p, stop6, parse_batch_steps17)
        length16, = parse_batch_unpack18(buf, p)
        p += 2
        stop19 = p + length16
        if stop19 > stop6 or length16 < 0:
            raise bad_length(buf, p, stop6, length16, '[].properties')
        try:
            properties_11 = text(buf[p:stop19])
        except UnicodeDecodeError:
            properties_11 = decode_damaged(bytes(buf[p:stop19]))
        p = stop19
        if p != stop6:
            raise refused(buf, p, stop6, f'{stop6 - p} bytes left over', '[]')
        element2 = (flag_9, body_10, properties_11, )
        p = stop6
        add1(element2)
    return value, p

build_envelope_pack3 = Struct('>lBBH').pack
build_envelope_letters4 = (('length', 'l'), ('header_type', 'B'), ('header_length', 'I'))
def build_envelope(header_type_, header_, body_):
    derived1 = ((len(header_) + len(body_)) + 4)
    derived2 = len(header_)
    try:
        fixed5 = build_envelope_pack3(derived1, header_type_, derived2 >> 16, derived2 & 0xFFFF)
    except StructError as error:
        raise unfit(build_envelope_letters4, derived1, header_type_, derived2) from error
    if len(body_) != ((derived1 - derived2) - 4):
        raise wrong_size('body', len(body_), ((derived1 - derived2) - 4))
    return b''.join((fixed5, header_, body_, ))

build_binary_header_pack3 = Struct('>hBhlll').pack
build_binary_header_letters4 = (('code', 'h'), ('language', 'B'), ('version', 'h'), ('opaque', 'l'), ('flag', 'l'), ('remark', 'l'))
build_binary_header_pack7 = Struct('>h').pack
build_binary_header_pack8 = Struct('>l').pack
build_binary_header_pack9 = Struct('>l').pack
build_binary_header_letters10 = (('ext_fields', 'l'),)
def build_binary_header(code_, language_, version_, opaque_, flag_, remark_, ext_fields_):
    text2 = encode_utf8(remark_)
    data1 = text2
    try:
        fixed5 = build_binary_header_pack3(code_, language_, version_, opaque_, flag_, len(data1))
    except StructError as error:
        raise unfit(build_binary_header_letters4, code_, language_, version_, opaque_, flag_, len(data1)) from error
    data6 = build_entries(ext_fields_, build_binary_header_pack7, build_binary_header_pack8, 'ext_fields') if ext_fields_ else b''
    try:
        fixed11 = build_binary_header_pack9(len(data6))
    except StructError as error:
        raise unfit(build_binary_header_letters10, len(data6)) from error
    return b''.join((fixed5, data1, fixed11, data6, ))

build_register_body_pack2 = Struct('>l').pack
build_register_body_letters3 = (('data_version', 'l'),)
build_register_body_pack5 = Struct('>l').pack
build_register_body_letters6 = (('topics', 'l'),)
build_register_body_pack11 = Struct('>l').pack
build_register_body_letters12 = (('topics[]', 'l'),)
build_register_body_pack15 = Struct('>l').pack
build_register_body_letters16 = (('filter_servers', 'l'),)
def build_register_body(data_version_, topics_, filter_servers_):
    data1 = data_version_
    try:
        fixed4 = build_register_body_pack2(len(data1))
    except StructError as error:
        raise unfit(build_register_body_letters3, len(data1)) from error
    try:
        fixed7 = build_register_body_pack5(len(topics_))
    except StructError as error:
        raise unfit(build_register_body_letters6, len(topics_)) from error
    parts8 = []
    for element9 in topics_:
        data10 = element9
        try:
            fixed13 = build_register_body_pack11(len(data10))
        except StructError as error:
            raise unfit(build_register_body_letters12, len(data10)) from error
        parts8 += (fixed13, data10, )
    data14 = filter_servers_
    try:
        fixed17 = build_register_body_pack15(len(data14))
    except StructError as error:
        raise unfit(build_register_body_letters16, len(data14)) from error
    return b''.join((fixed4, data1, fixed7, b''.join(parts8), fixed17, data14, ))

build_register_body_with_mappings_pack2 = Struct('>l').pack
build_register_body_with_mappings_letters3 = (('data_version', 'l'),)
build_register_body_with_mappings_pack5 = Struct('>l').pack
build_register_body_with_mappings_letters6 = (('topics', 'l'),)
build_register_body_with_mappings_pack11 = Struct('>l').pack
build_register_body_with_mappings_letters12 = (('topics[]', 'l'),)
build_register_body_with_mappings_pack15 = Struct('>l').pack
build_register_body_with_mappings_letters16 = (('filter_servers', 'l'),)
build_register_body_with_mappings_pack18 = Struct('>l').pack
build_register_body_with_mappings_letters19 = (('mappings', 'l'),)
build_register_body_with_mappings_pack24 = Struct('>l').pack
build_register_body_with_mappings_letters25 = (('mappings[]', 'l'),)
def build_register_body_with_mappings(data_version_, topics_, filter_servers_, mappings_):
    data1 = data_version_
    try:
        fixed4 = build_register_body_with_mappings_pack2(len(data1))
    except StructError as error:
        raise unfit(build_register_body_with_mappings_letters3, len(data1)) from error
    try:
        fixed7 = build_register_body_with_mappings_pack5(len(topics_))
    except StructError as error:
        raise unfit(build_register_body_with_mappings_letters6, len(topics_)) from error
    parts8 = []
    for element9 in topics_:
        data10 = element9
        try:
            fixed13 = build_register_body_with_mappings_pack11(len(data10))
        except StructError as error:
            raise unfit(build_register_body_with_mappings_letters12, len(data10)) from error
        parts8 += (fixed13, data10, )
    data14 = filter_servers_
    try:
        fixed17 = build_register_body_with_mappings_pack15(len(data14))
    except StructError as error:
        raise unfit(build_register_body_with_mappings_letters16, len(data14)) from error
    try:
        fixed20 = build_register_body_with_mappings_pack18(len(mappings_))
    except StructError as error:
        raise unfit(build_register_body_with_mappings_letters19, len(mappings_)) from error
    parts21 = []
    for element22 in mappings_:
        data23 = element22
        try:
            fixed26 = build_register_body_with_mappings_pack24(len(data23))
        except StructError as error:
            raise unfit(build_register_body_with_mappings_letters25, len(data23)) from error
        parts21 += (fixed26, data23, )
    return b''.join((fixed4, data1, fixed7, b''.join(parts8), fixed17, data14, fixed20, b''.join(parts21), ))

build_stored_message_pack20 = Struct('>Llllqqlq').pack
build_stored_message_letters21 = (('magic', 'L'), ('body_crc', 'l'), ('queue_id', 'l'), ('flag', 'l'), ('queue_offset', 'q'), ('physical_offset', 'q'), ('sys_flag', 'l'), ('born_timestamp', 'q'))
build_stored_message_pack24 = Struct('>lq').pack
build_stored_message_letters25 = (('born_port', 'l'), ('store_timestamp', 'q'))
build_stored_message_pack29 = Struct('>llql').pack
build_stored_message_letters30 = (('store_port', 'l'), ('reconsume_times', 'l'), ('prepared_transaction_offset', 'q'), ('body', 'l'))
build_stored_message_pack35 = Struct('>h').pack
build_stored_message_letters36 = (('topic', 'h'),)
build_stored_message_pack40 = Struct('>b').pack
build_stored_message_letters41 = (('topic', 'b'),)
build_stored_message_pack45 = Struct('>h').pack
build_stored_message_letters46 = (('properties', 'h'),)
build_stored_message_pack48 = Struct('>l').pack
build_stored_message_letters49 = (('', 'l'),)
def build_stored_message(value):
    magic_2, body_crc_3, queue_id_4, flag_5, queue_offset_6, physical_offset_7, sys_flag_8, born_timestamp_9, born_address_10, born_port_11, store_timestamp_12, store_address_13, store_port_14, reconsume_times_15, prepared_transaction_offset_16, body_17, topic_18, properties_19, = value
    if not ((magic_2 == 3668123815) | (magic_2 == 3668123819)):
        raise impossible('magic')
    try:
        fixed22 = build_stored_message_pack20(magic_2, body_crc_3, queue_id_4, flag_5, queue_offset_6, physical_offset_7, sys_flag_8, born_timestamp_9)
    except StructError as error:
        raise unfit(build_stored_message_letters21, magic_2, body_crc_3, queue_id_4, flag_5, queue_offset_6, physical_offset_7, sys_flag_8, born_timestamp_9) from error
    if (sys_flag_8 & 16):
        if len(born_address_10) != 16:
            raise wrong_size('born_address', len(born_address_10), 16)
        data23 = born_address_10
    else:
        if len(born_address_10) != 4:
            raise wrong_size('born_address', len(born_address_10), 4)
        data23 = born_address_10
    try:
        fixed26 = build_stored_message_pack24(born_port_11, store_timestamp_12)
    except StructError as error:
        raise unfit(build_stored_message_letters25, born_port_11, store_timestamp_12) from error
    if (sys_flag_8 & 32):
        if len(store_address_13) != 16:
            raise wrong_size('store_address', len(store_address_13), 16)
        data27 = store_address_13
    else:
        if len(store_address_13) != 4:
            raise wrong_size('store_address', len(store_address_13), 4)
        data27 = store_address_13
    data28 = b''
    if body_17 is not None:
        data28 = body_17
    try:
        fixed31 = build_stored_message_pack29(store_port_14, reconsume_times_15, prepared_transaction_offset_16, len(data28))
    except StructError as error:
        raise unfit(build_stored_message_letters30, store_port_14, reconsume_times_15, prepared_transaction_offset_16, len(data28)) from error
    if (magic_2 == 3668123819):
        text34 = encode_utf8(topic_18)
        data33 = text34
        try:
            fixed37 = build_stored_message_pack35(len(data33))
        except StructError as error:
            raise unfit(build_stored_message_letters36, len(data33)) from error
        data32 = b''.join((fixed37, data33, ))
    else:
        text39 = encode_utf8(topic_18)
        data38 = text39
        try:
            fixed42 = build_stored_message_pack40(len(data38))
        except StructError as error:
            raise unfit(build_stored_message_letters41, len(data38)) from error
        data32 = b''.join((fixed42, data38, ))
    data43 = b''
    if properties_19 is not None:
        text44 = encode_utf8(properties_19)
        data43 = text44
    try:
        fixed47 = build_stored_message_pack45(len(data43))
    except StructError as error:
        raise unfit(build_stored_message_letters46, len(data43)) from error
    data1 = b''.join((fixed22, data23, fixed26, data27, fixed31, data28, data32, fixed47, data43, ))
    try:
        fixed50 = build_stored_message_pack48(len(data1) + 4)
    except StructError as error:
        raise unfit(build_stored_message_letters49, len(data1) + 4) from error
    return b''.join((fixed50, data1, ))

build_batch_pack8 = Struct('>llll').pack
build_batch_letters9 = (('[].magic', 'l'), ('[].body_crc', 'l'), ('[].flag', 'l'), ('[].body', 'l'))
build_batch_pack13 = Struct('>h').pack
build_batch_letters14 = (('[].properties', 'h'),)
build_batch_pack16 = Struct('>l').pack
build_batch_letters17 = (('[]', 'l'),)
def build_batch(value):
    parts1 = []
    for element2 in value:
        flag_4, body_5, properties_6, = element2
        data7 = body_5
        try:
            fixed10 = build_batch_pack8(0, 0, flag_4, len(data7))
        except StructError as error:
            raise unfit(build_batch_letters9, 0, 0, flag_4, len(data7)) from error
        text12 = encode_utf8(properties_6)
        data11 = text12
        try:
            fixed15 = build_batch_pack13(len(data11))
        except StructError as error:
            raise unfit(build_batch_letters14, len(data11)) from error
        data3 = b''.join((fixed10, data7, fixed15, data11, ))
        try:
            fixed18 = build_batch_pack16(len(data3) + 4)
        except StructError as error:
            raise unfit(build_batch_letters17, len(data3) + 4) from error
        parts1 += (fixed18, data3, )
    return b''.join(parts1)
