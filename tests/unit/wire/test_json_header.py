"""JSON headers: release 5.5.0 read each text, and gave the expected value."""

from collections import UserDict
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketwire.codes import LanguageCode
from rocketwire.errors import DecodeError, EncodeError, LimitExceededError
from rocketwire.wire.header_fields import HeaderFields, Language
from rocketwire.wire.json.fastjson import Dialect
from rocketwire.wire.json_header import decode_json_header, encode_json_header
from tests.support.tables import cases

NOTHING = HeaderFields(
    code=0, language=LanguageCode.JAVA, version=0, opaque=0, flag=0, remark=None, ext_fields=None
)

# NettyEncoder of 5.3.3, request 105
ROUTE_REQUEST = (
    b'{"code":105,"extFields":{"topic":"TopicTest"},"flag":0,"language":"JAVA","opaque":7,'
    b'"serializeTypeCurrentRPC":"JSON","version":479}'
)
# NettyEncoder of 5.5.0, response 17
ERROR_RESPONSE = (
    '{"code":17,"extFields":{"a\\u0001":"\\"\\\\/é\x7f\u2028"},"flag":1,"language":"JAVA","opaque":-5,'
    '"remark":"No topic\\n\\u000b","serializeTypeCurrentRPC":"JSON","version":513}'
).encode()


def encode_fields(fields: HeaderFields, dialect: Dialect = Dialect.FASTJSON2) -> bytes:
    return encode_json_header(**fields._asdict(), dialect=dialect)


def test_a_request_as_java_writes_it() -> None:
    expected = NOTHING._replace(code=105, ext_fields={"topic": "TopicTest"}, opaque=7, version=479)
    assert expected == decode_json_header(ROUTE_REQUEST)
    assert encode_fields(expected) == ROUTE_REQUEST


def test_a_response_as_java_writes_it() -> None:
    expected = NOTHING._replace(
        code=17,
        ext_fields={"a\x01": '"\\/é\x7f\u2028'},
        flag=1,
        opaque=-5,
        remark="No topic\n\x0b",
        version=513,
    )
    assert expected == decode_json_header(ERROR_RESPONSE)
    assert encode_fields(expected) == ERROR_RESPONSE


def test_the_older_release_escapes_more() -> None:
    fields = NOTHING._replace(ext_fields={"a": "\x0b\x7f"}, remark="\u2028/", language="Ö\x85")
    expected = (
        '{"code":0,"extFields":{"a":"\\u000B\\u007F"},"flag":0,"language":"Ö\\u0085","opaque":0,'
        '"remark":"\\u2028/","serializeTypeCurrentRPC":"JSON","version":0}'
    )
    assert expected.encode() == encode_fields(fields, Dialect.FASTJSON1)


def test_only_members_of_none_are_omitted() -> None:
    without_members = b'{"code":0,"flag":0,"opaque":0,"serializeTypeCurrentRPC":"JSON","version":0}'
    assert without_members == encode_fields(NOTHING._replace(language=None))
    with_empty_members = (
        b'{"code":0,"extFields":{},"flag":0,"language":"JAVA","opaque":0,"remark":"",'
        b'"serializeTypeCurrentRPC":"JSON","version":0}'
    )
    assert with_empty_members == encode_fields(NOTHING._replace(ext_fields={}, remark=""))


def test_half_a_surrogate_pair_is_written_as_a_question_mark() -> None:
    fields = NOTHING._replace(ext_fields={"a": "\ud800"}, remark="\udc00", language=None)
    assert b'{"code":0,"extFields":{"a":"?"},"flag":0,"opaque":0,"remark":"?",' in encode_fields(
        fields
    )


def test_other_mappings_than_dict_can_be_written() -> None:
    ext_fields: UserDict[str, str] = UserDict(a="b")
    header = encode_json_header(
        code=0, language=None, version=0, opaque=0, flag=0, remark=None, ext_fields=ext_fields
    )
    assert b'"extFields":{"a":"b"}' in header


@pytest.mark.parametrize(
    "changes",
    [
        *({"code": 2**31}, {"version": -(2**31) - 1}, {"opaque": 2**40}, {"flag": -(2**40)}),
        *({"language": LanguageCode(99)}, {"ext_fields": {"a": 1}}, {"ext_fields": {"a": None}}),
    ],
)
def test_values_without_a_form_are_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(EncodeError) as caught:
        encode_json_header(**{**NOTHING._asdict(), **changes})
    assert str(caught.value.path).startswith("header")


INTEGERS = dict(
    cases(
        (106, "106", "106.0", '"106"', '"+106"', '"106.9"'),
        (-1, "-1"),
        (-106, "-106.9"),
        (100, "1e2"),
        (1, "1L", "1F", "true", "[1]", "[1.5]", "'1'", '"true"'),
        (0, "-0", "1e-400", "false", "null", "{}", '{"a":1}', "0.99999999999999999"),
        (0, '"0.99999999999999999"', '".5"', '""', '"null"', '"false"'),
        (2**31 - 1, "2147483647"),
        (-(2**31), "-2147483648", "-2147483648.99999999"),
        (7, '["7"]'),
        (10, '"010"'),
        (-15, '"-1.5e1"'),
    )
)


@pytest.mark.parametrize("text", INTEGERS)
@pytest.mark.parametrize("name", ["code", "version", "opaque", "flag"])
def test_integers_are_read_from_the_values_that_java_takes(name: str, text: str) -> None:
    fields = decode_json_header(f'{{"{name}":{text}}}'.encode())
    assert INTEGERS[text] == fields._asdict()[name]
    other_fields: dict[str, Any] = {**fields._asdict(), name: 0}
    assert HeaderFields(**other_fields) == NOTHING


@pytest.mark.parametrize(
    "text",
    [
        *('" 106"', '"106 "', '"abc"', '"TRUE"', '"1L"', '"0x10"', '"1_000"', '"1,00"', '"1,000"'),
        *('"-1,000,000"', "+106", "010", "5.", ".5", '"\u0663"', '"NaN"', "[]", "[1,2]", "[[3]]"),
        *("[true]", "[null]", '[""]', '["x"]', "[{}]", "NaN", "Infinity", "undefined"),
        *("2147483648", "-2147483649", '"2147483648"', "99999999999999999999", "[2147483648]"),
        *("1e400", "9" * 400, '"%s"' % ("9" * 40), "0x10", "--1", "-", "abc"),
    ],
)
@pytest.mark.parametrize("name", ["code", "version", "opaque", "flag"])
def test_other_values_than_int32_are_refused(name: str, text: str) -> None:
    with pytest.raises(DecodeError) as caught:
        decode_json_header(f'{{"{name}":{text}}}'.encode())
    assert caught.value.path in ("header", f"header.{name}")


@pytest.mark.parametrize("text", ["1e10", "2147483648.0", "-3000000000.5"])
def test_reals_beyond_int32_are_refused_though_java_clamps_or_wraps_them(text: str) -> None:
    with pytest.raises(DecodeError, match="beyond 32 bits"):
        decode_json_header(f'{{"opaque":{text}}}'.encode())


LANGUAGES: dict[str, Language] = dict(
    cases(
        (LanguageCode.PYTHON, '"PYTHON"', '"pYtHoN"', "3", "3.7", '"3"', '"+03"'),
        (LanguageCode.NODE_JS, '"node_js"', '"nodejs"', '"Node-JS"', "13"),
        (LanguageCode.JAVA, '" J A V A"', "-0"),
        (LanguageCode.RUBY, '"-R- _UBY"'),
        (None, "null"),
        # Java has null for all of these; the text is kept here
        *((text, f'"{text}"') for text in ("XX", "", "99", "-1", "3.0", "NODE__JS", "JAVA ")),
        ("ru\u017ft", '"ru\u017ft"'),
    )
)


@pytest.mark.parametrize("text", LANGUAGES)
def test_languages_are_read_by_name_and_by_number(text: str) -> None:
    expected = NOTHING._replace(language=LANGUAGES[text])
    assert expected == decode_json_header(f'{{"language":{text}}}'.encode())


@pytest.mark.parametrize(
    "text", ["14", "99", "-1", "1e10", "NaN", "9" * 400, "true", "{}", "[]", '["CPP"]', "[3]"]
)
def test_languages_without_a_name_are_refused(text: str) -> None:
    with pytest.raises(DecodeError) as caught:
        decode_json_header(f'{{"language":{text}}}'.encode())
    assert caught.value.path == "header.language" or text == "NaN"


TEXTS: dict[str, str | None] = dict(
    cases(
        ("x", '"x"', '["x"]'),
        ("", '""'),
        (None, "null", "[null]"),
        ("1", "1", "1L"),
        ("0", "-0"),
        ("1.0", "1F"),
        ("0.0", "-0.0"),
        ("1000.0", "1e3"),
        ("Infinity", "1E400"),
        ("1.0E-8", "0.1e-7"),
        ('{"a":1.10,"b":[1000.0,null,"x/"]}', '{"a":1.10,"b":[1e3,null,"x/"],"c":null}'),
        *((text, text) for text in ("1.10", "99999999999999999999", "true", "{}", "[]", "[1,2]")),
        *((text, text) for text in ("[1]", '["x","y"]', '{{"x":1}:2}', '{"$ref":"$"}')),
    )
)


@pytest.mark.parametrize("text", TEXTS)
def test_text_members_take_any_value_as_its_text(text: str) -> None:
    expected = TEXTS[text]
    assert expected == decode_json_header(f'{{"remark":{text}}}'.encode()).remark
    ext_fields = decode_json_header(f'{{"extFields":{{"k":"v","a":{text}}}}}'.encode()).ext_fields
    assert {"k": "v"} | ({} if expected is None else {"a": expected}) == ext_fields


@pytest.mark.parametrize(
    ("text", "expected"),
    [*[("null", None), ('""', None), ('"null"', None)], *[("{}", {}), ('{"a":"b"}', {"a": "b"})]],
)
def test_ext_fields_may_be_missing_or_empty(text: str, expected: dict[str, str] | None) -> None:
    assert expected == decode_json_header(f'{{"extFields":{text}}}'.encode()).ext_fields


@pytest.mark.parametrize(
    "text",
    [
        *('"x"', '"NULL"', '" null"', '"{}"', "1", "true", "[]", "[{}]", "{a:1}", "{,}", '{"a"}'),
        '{"a":NaN x}',
    ],
)
def test_ext_fields_that_are_no_map_are_refused(text: str) -> None:
    with pytest.raises(DecodeError) as caught:
        decode_json_header(f'{{"extFields":{text}}}'.encode())
    assert caught.value.path in ("header", "header.extFields")


OWN = {"code": "5", "flag": "0", "opaque": "9", "version": "0", "serializeTypeCurrentRPC": "JSON"}


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ('"extFields":{"$ref":"$"},"remark":"r"', {**OWN, "language": "JAVA", "remark": "r"}),
        ('"extFields":{"$ref":"@"},"language":"XX"', OWN),
        ('"extFields":{"$ref":"$.nope"}', None),
        ('"extFields":{"$ref":"$.remark"}', None),
        ('"extFields":{"$ref":"$x"}', None),
        ('"extFields":{"$ref":"x"}', {"$ref": "x"}),
        ('"extFields":{"$ref":""}', {"$ref": ""}),
        ('"extFields":{"$ref":1}', {"$ref": "1"}),
        ('"extFields":{"a":"b","$ref":"$"}', {"a": "b", "$ref": "$"}),
    ],
)
def test_a_reference_in_place_of_ext_fields(members: str, expected: dict[str, str] | None) -> None:
    header = f'{{"code":5,"opaque":9,{members}}}'.encode()
    assert expected == decode_json_header(header).ext_fields


@pytest.mark.parametrize(
    "text", ['{"$ref":".."}', '{"$ref":"$","a":"b"}', '{"$ref":"$.code"}', '{"$ref":"@.code"}']
)
def test_a_reference_that_leads_to_no_map_is_refused(text: str) -> None:
    with pytest.raises(DecodeError) as caught:
        decode_json_header(f'{{"extFields":{text}}}'.encode())
    assert caught.value.path == "header.extFields"


@pytest.mark.parametrize(
    "text",
    [
        '{"code":1,"flag":2}',
        ' \n{"code" : 1 , "flag":2}',
        "{'code':1,'flag':2}",
        '{"code":1,"flag":2,}',
        '{"code":7,"flag":2,"code":1}',
        '{"co\\u0064e":1,"flag":2,"zzz":{"a":[1]},"Code":3,"FLAG":4,"serializeTypeCurrentRPC":"?"}',
        '{"code":1,"flag":2,"@type":"java.util.HashMap"}',
    ],
)
def test_the_writing_that_5_5_0_tolerates(text: str) -> None:
    assert NOTHING._replace(code=1, flag=2) == decode_json_header(text.encode())


@pytest.mark.parametrize(
    "header",
    [
        *(b"", b" ", b"null", b"12", b"hello", b"[1]", b"[]", b'"x"', b"true", b'"{}"', b"{"),
        *(b'{"code":1', b"{}x", b"{}{}", b"{}}", b"\xef\xbb\xbf{}", b"{code:1}", b'{,"code":1}'),
        *(b'{"code":1,,}', b'{"code"=1}', b'{"code":1;}', b'{"remark":"\xff"}'),
        *(b'{"remark":"\xed\xa0\x80"}', b'{"remark":"\\q"}'),
    ],
)
def test_invalid_headers_are_refused(header: bytes) -> None:
    with pytest.raises(DecodeError) as caught:
        decode_json_header(header)
    assert caught.value.path == "header"


def test_a_value_of_a_megabyte_may_hold_json_itself() -> None:
    fields = NOTHING._replace(ext_fields={"value": '{"a":["\\\n"]}' * 20_000 + "v" * 1_000_000})
    assert fields == decode_json_header(encode_fields(fields))


@pytest.mark.parametrize(
    "header",
    [
        b'{"zzz":[%b]}' % (b"[]," * 70_000),
        b'{"zzz":' + b"[" * 5000 + b"]" * 5000 + b"}",
        b'{"extFields":{"a":' + b"[" * 100 + b"]" * 100 + b"}}",
        b'{"code":%b}' % (b"1" * 5000),
        b'{"remark":"%b",}' % (b"\\n" * 40_000),
        b'{"remark":[%b0]}' % (b"0," * 2_000),
        b'{"remark":"%b","code":[]}' % (b"a" * 70_000),
    ],
)
def test_an_expensive_header_is_refused(header: bytes) -> None:
    with pytest.raises(LimitExceededError) as caught:
        decode_json_header(header)
    assert caught.value.path == "header"


int32 = st.integers(-(2**31), 2**31 - 1)
texts = st.text()


@given(
    st.builds(
        HeaderFields,
        code=int32,
        language=st.sampled_from(LanguageCode) | st.none(),
        version=int32,
        opaque=int32,
        flag=int32,
        remark=texts | st.none(),
        ext_fields=st.none() | st.dictionaries(texts.filter(lambda key: key != "$ref"), texts),
    )
)
def test_written_values_are_read_back(fields: HeaderFields) -> None:
    for dialect in Dialect:
        header = encode_fields(fields, dialect)
        if fields.language is None:
            header = b'{"language":null,' + header[1:]
        assert fields == decode_json_header(header)
