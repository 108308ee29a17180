-- What a dissector of RocketMQ's remoting protocol does; the table T above was made from the codec's own tables.
--
-- Rules of this file: content decides, a port only asks for it to be looked at; a length is looked at before anything is
-- done with it; nothing of Lua 5.3 or later and no library of bits, so that old and new Wireshark run it.

local proto = Proto("rocketmq", "RocketMQ remoting")
local LENGTH, KIND, HEADER = T.prefix[1], T.prefix[2], T.prefix[3]
local SERIALIZATIONS = T.header_types
local JSON_TYPE = 0

-- ------------------------------------------------------------------ fields

local F = {
    length = ProtoField.uint32("rocketmq.length", "Length", base.DEC, nil, nil, "Bytes behind this word"),
    header_type = ProtoField.uint8("rocketmq.header_type", "Header type", base.DEC, SERIALIZATIONS),
    header_length = ProtoField.uint24("rocketmq.header_length", "Header length", base.DEC),
    header = ProtoField.none("rocketmq.header", "Header"),
    kind = ProtoField.string("rocketmq.kind", "Kind", base.NONE, "request, oneway or response"),
    code = ProtoField.int32("rocketmq.code", "Code", base.DEC),
    code_name = ProtoField.string("rocketmq.code_name", "Name of the code"),
    language = ProtoField.string("rocketmq.language", "Language"),
    version = ProtoField.int32("rocketmq.version", "Version", base.DEC, T.versions),
    opaque = ProtoField.int32("rocketmq.opaque", "Opaque", base.DEC),
    flag = ProtoField.int32("rocketmq.flag", "Flag", base.DEC),
    flag_response = ProtoField.bool("rocketmq.flag.response", "Response"),
    flag_oneway = ProtoField.bool("rocketmq.flag.oneway", "One-way"),
    remark = ProtoField.string("rocketmq.remark", "Remark"),
    topic = ProtoField.string("rocketmq.topic", "Topic"),
    group = ProtoField.string("rocketmq.group", "Group"),
    queue_id = ProtoField.string("rocketmq.queue_id", "Queue"),
    class = ProtoField.string("rocketmq.header_class", "Header class", base.NONE, "Java's name of what extFields hold"),
    other = ProtoField.string("rocketmq.ext", "Field"),
    body = ProtoField.bytes("rocketmq.body", "Body"),
    body_length = ProtoField.uint32("rocketmq.body_length", "Body length", base.DEC),
    message = ProtoField.none("rocketmq.message", "Stored message"),
    proxy = ProtoField.string("rocketmq.proxy", "PROXY header"),
    request_in = ProtoField.framenum("rocketmq.request_in", "Request in", base.NONE, frametype.REQUEST),
    response_in = ProtoField.framenum("rocketmq.response_in", "Response in", base.NONE, frametype.RESPONSE),
    request_code = ProtoField.int32("rocketmq.request_code", "Code of the request", base.DEC, T.requests),
    time = ProtoField.relative_time("rocketmq.time", "Time since the request"),
}
local EXT, OF_MESSAGE = {}, {}
for name, what in pairs(T.fields) do
    local make = what.integer and ProtoField.int64 or ProtoField.string
    EXT[name] = make("rocketmq.ext." .. name, name)
end
for _, node in ipairs(T.stored) do
    local make = node.text and ProtoField.string or node.int == 8 and ProtoField.int64
        or node.int and (node.signed and ProtoField.int32 or ProtoField.uint32) or ProtoField.bytes
    if node.name then OF_MESSAGE[node.name] = make("rocketmq.message." .. node.name, node.name) end
end

local X = {
    bad_length = ProtoExpert.new(
        "rocketmq.bad_length", "The lengths contradict each other", expert.group.MALFORMED, expert.severity.ERROR),
    bad_header = ProtoExpert.new(
        "rocketmq.bad_header", "The header cannot be read", expert.group.MALFORMED, expert.severity.ERROR),
    no_frame = ProtoExpert.new(
        "rocketmq.no_frame", "These bytes begin no frame", expert.group.UNDECODED, expert.severity.WARN),
    cut = ProtoExpert.new(
        "rocketmq.cut", "Not all of this frame is here", expert.group.UNDECODED, expert.severity.NOTE),
    error = ProtoExpert.new(
        "rocketmq.error", "The answer is an error", expert.group.RESPONSE_CODE, expert.severity.NOTE),
    no_request = ProtoExpert.new(
        "rocketmq.no_request", "Its request was not seen", expert.group.SEQUENCE, expert.severity.NOTE),
}

local function all_of(...)
    local all = {}
    for _, part in ipairs({ ... }) do
        for _, each in pairs(part) do all[#all + 1] = each end
    end
    return all
end
proto.fields = all_of(F, EXT, OF_MESSAGE)
proto.experts = all_of(X)
proto.prefs.ports = Pref.range("TCP ports", T.ports, "Looked into first; any other port is recognised by its content", 65535)
proto.prefs.messages = Pref.bool("Show stored messages", true, "Take the messages of pulled bodies apart")
local stream_of = Field.new("tcp.stream")

-- ------------------------------------------------------------------ text

local function utf8_of(code)
    if code < 0x80 then return string.char(code) end
    if code < 0x800 then return string.char(0xC0 + math.floor(code / 64), 0x80 + code % 64) end
    local low = string.char(0x80 + math.floor(code / 64) % 64, 0x80 + code % 64)
    if code < 0x10000 then return string.char(0xE0 + math.floor(code / 4096)) .. low end
    return string.char(0xF0 + math.floor(code / 262144), 0x80 + math.floor(code / 4096) % 64) .. low
end

local ESCAPES = { b = "\b", f = "\f", n = "\n", r = "\r", t = "\t" }

local function unescaped(text)
    local parts, at = {}, 1
    while true do
        local found = text:find("\\", at, true)
        if not found then break end
        parts[#parts + 1] = text:sub(at, found - 1)
        local letter = text:sub(found + 1, found + 1)
        at = found + 2
        local hex = letter == "u" and text:match("^%x%x%x%x", at)
        if hex then
            local code = tonumber(hex, 16)
            at = at + 4
            local low = code >= 0xD800 and code < 0xDC00 and text:match("^\\u([dD][c-fC-F]%x%x)", at)
            if low then
                code = 0x10000 + (code - 0xD800) * 1024 + tonumber(low, 16) - 0xDC00
                at = at + 6
            end
            parts[#parts + 1] = utf8_of(code)
        else
            parts[#parts + 1] = ESCAPES[letter] or letter
        end
    end
    parts[#parts + 1] = text:sub(at)
    return table.concat(parts)
end

-- A JSON text that begins at a quotation mark: its value and the position behind it.
local function json_text(s, at)
    local from, escapes = at + 1, false
    local next_one = from
    while true do
        local found = s:find('["\\]', next_one)
        if not found then return nil end
        if s:byte(found) == 34 then
            local text = s:sub(from, found - 1)
            return escapes and unescaped(text) or text, found + 1
        end
        escapes, next_one = true, found + 2
    end
end

-- The position behind an object or array that begins there.
local function json_behind(s, at)
    local depth = 0
    while true do
        local found = s:find('["%[%]{}]', at)
        if not found then return nil end
        local byte = s:byte(found)
        at = found + 1
        if byte == 34 then
            local _, behind = json_text(s, found)
            if not behind then return nil end
            at = behind
        else
            depth = depth + ((byte == 91 or byte == 123) and 1 or -1)
            if depth == 0 then return at end
        end
    end
end

local LITERALS = { ["true"] = true, ["false"] = true, ["null"] = true }

-- The members of an object that begins there: a list of name, value, position and length; nil if it is none.
local function json_members(s, at, depth)
    local found = {}
    at = s:match("^{%s*()", at)
    if not at then return nil end
    if s:sub(at, at) == "}" then return found, at + 1 end
    while true do
        local name, colon
        if s:byte(at) ~= 34 then return nil end
        name, colon = json_text(s, at)
        local value_at = colon and s:match("^%s*:%s*()", colon)
        if not value_at then return nil end
        local first, value, behind = s:byte(value_at), nil, nil
        if first == 34 then
            value, behind = json_text(s, value_at)
        elseif first == 123 and depth > 0 then
            value, behind = json_members(s, value_at, depth - 1)
        elseif first == 123 or first == 91 then
            behind = json_behind(s, value_at)
            value = behind and s:sub(value_at, behind - 1)
        else
            value, behind = s:match("^(-?%d[%d.eE+-]*)()", value_at)
            if not behind then value, behind = s:match("^(%l+)()", value_at) end
            if not LITERALS[value] and not tonumber(value) then return nil end
            if value == "null" then value = nil end
        end
        if not behind then return nil end
        found[#found + 1] = { name = name, value = value, at = at - 1, length = behind - at }
        local mark
        mark, at = s:match("^%s*([,}])%s*()", behind)
        if mark == "}" then return found, at end
        if not mark then return nil end
    end
end

-- ------------------------------------------------------------------ layouts of the grammar

local function number(tvb, at, node)
    local range = tvb(at, node.int)
    if node.int > 4 then return range:int64() end
    return node.signed and range:int() or range:uint()
end

-- Position and length of what a node holds; nil if it reaches too far.
local function extent(node, tvb, at, stop)
    local length = node.int or node.bytes
    if node.counted then
        if at + node.counted > stop then return nil end
        length = tvb(at, node.counted):int()
        at = at + node.counted
        if length < 0 and node.optional then length = 0 end
    end
    if length < 0 or at + length > stop then return nil end
    return at, length
end

-- Walk a layout; calls take(node, value, position, length) for each part.  Returns the position behind it, or nil.
local function walk(layout, tvb, at, stop, take)
    local values = {}
    for _, part in ipairs(layout) do
        if part.check then
            if not part.check(values) then return nil end
        else
            local node = part
            if part.choice then node = part.choice(values) and part.yes or part.no end
            local data, length = extent(node, tvb, at, stop)
            if not data then return nil end
            local value
            if node.int then value = number(tvb, data, node) end
            if node.text then value = length > 0 and tvb(data, length):string(ENC_UTF_8) or "" end
            values[part.name] = value
            take(part, value, data, length)
            at = data + length
        end
    end
    return at
end

local function entries(tvb, at, stop, widths)
    local found = {}
    while at < stop do
        local from, texts = at, {}
        for i, width in ipairs(widths) do
            if at + width > stop then return nil end
            local length = tvb(at, width):int()
            at = at + width
            if length < 0 or at + length > stop then return nil end
            texts[i] = length > 0 and tvb(at, length):string(ENC_UTF_8) or ""
            at = at + length
        end
        found[#found + 1] = { name = texts[1], value = texts[2], at = from, length = at - from }
    end
    return found
end

-- ------------------------------------------------------------------ headers

-- Both forms come out alike: members by name with value, position and length; extFields' value is a list of such.

local function read_json(tvb, at, length)
    local found = json_members(tvb:raw(at, length), 1, 1)
    if not found then return nil end
    local members = {}
    for _, each in ipairs(found) do
        each.at = each.at + at
        members[each.name] = each
        if type(each.value) == "table" then
            for _, field in ipairs(each.value) do field.at = field.at + at end
        end
    end
    if members.extFields and type(members.extFields.value) ~= "table" then members.extFields = nil end
    return members
end

local function read_rocketmq(tvb, at, length)
    local members, fields = {}, {}
    local stop = at + length
    local behind = walk(T.binary_header, tvb, at, stop, function(node, value, from, size)
        if node.entries then
            fields = entries(tvb, from, from + size, node.entries)
            value = fields
        end
        if value ~= "" then members[node.name] = { name = node.name, value = value, at = from, length = size } end
    end)
    if not behind or not fields then return nil end
    members.language.value = T.languages[members.language.value] or tostring(members.language.value)
    return members
end

-- ------------------------------------------------------------------ where frames begin

-- true: a frame begins there; false: none does; nil: too few bytes to tell.
local function begins(tvb, at)
    local room = tvb:len() - at
    if room < T.prefix_size then return nil end
    local length = tvb(at + LENGTH.at, LENGTH.int):uint()
    local kind = tvb(at + KIND.at, KIND.int):uint()
    local header = tvb(at + HEADER.at, HEADER.int):uint()
    if length > T.largest or header + T.prefix_size - LENGTH.int > length or not SERIALIZATIONS[kind] then return false end
    if header < 2 then return false end
    local data = at + T.prefix_size
    if kind == JSON_TYPE then return room <= T.prefix_size or tvb(data, 1):uint() == 123 end
    if room < T.prefix_size + T.binary_size then return header >= T.binary_size and nil end
    local seen = {}
    walk(T.binary_fixed, tvb, data, data + T.binary_size, function(node, value) seen[node.name] = value end)
    return T.languages[seen.language] ~= nil and seen.flag >= 0 and seen.flag <= T.all_flags and seen.code >= 0
end

-- Position of the next JSON frame from there on; nil if none begins.
local function next_frame(tvb, at)
    local raw = tvb:raw()
    while true do
        local found = raw:find('%z...%z...{"', at + 1)
        if not found then return nil end
        if begins(tvb, found - 1) then return found - 1 end
        at = found
    end
end

local PROXY_V2 = "\r\n\r\n\0\r\nQUIT\n"

-- Bytes of a PROXY header at the front; 0 if there is none.
local function proxy_header(tvb)
    local front = tvb:raw(0, math.min(tvb:len(), 108))
    if front:sub(1, 6) == "PROXY " then
        local stop = front:find("\r\n", 1, true)
        return stop and stop + 1 or 0
    end
    if front:sub(1, 12) == PROXY_V2 and #front >= 16 then return 16 + tvb(14, 2):uint() end
    return 0
end

-- ------------------------------------------------------------------ requests and answers

local waiting, known = {}, {}

function proto.init()
    waiting, known = {}, {}
end

-- What is known of the other side of an exchange: frame, code, time; remembered for the passes after the first.
local function paired(pinfo, members, kind)
    local stream = stream_of()
    local opaque = members.opaque and members.opaque.value
    if not stream or not opaque or kind == "oneway" then return {} end
    local asker = kind == "request" and pinfo.src_port or pinfo.dst_port
    local key = tostring(stream.value) .. ":" .. asker .. ":" .. opaque
    local place = pinfo.number .. ":" .. kind .. ":" .. key
    local found = known[place]
    if found then return found end
    found = {}
    known[place] = found
    if kind == "request" then
        found.code, found.number, found.time = tonumber(members.code.value), pinfo.number, pinfo.rel_ts
        waiting[key] = found
    else
        local request = waiting[key]
        waiting[key] = nil
        if request then
            request.response_in = pinfo.number
            found.request, found.passed = request, pinfo.rel_ts - request.time
        end
    end
    return found
end

-- ------------------------------------------------------------------ showing

local function kind_of(members)
    local flag = members.flag and tonumber(members.flag.value) or 0
    if flag % 2 == 1 then return "response", flag end
    return math.floor(flag / 2) % 2 == 1 and "oneway" or "request", flag
end

local function add(tree, field, tvb, member)
    if member and member.value ~= nil then
        return tree:add(field, tvb(member.at, member.length), member.value)
    end
end

local function add_number(tree, field, tvb, member)
    local value = member and tonumber(member.value)
    if value and value == math.floor(value) and value >= -2147483648 and value < 2147483648 then
        return tree:add(field, tvb(member.at, member.length), value)
    end
end

local function class_of(operation, kind)
    if not operation then return nil end
    return kind == "response" and operation.response or operation.request
end

local function show_field(tree, tvb, each, class)
    local range = tvb(each.at, each.length)
    local name = class and class.renamed and class.renamed[each.name] or each.name
    local field, value = EXT[name], each.value
    local written = type(value) == "string" and value or ""
    if not field then
        local item = tree:add(F.other, range, each.name .. "=" .. written)
        return item:set_text(each.name .. ": " .. written)
    end
    local item
    if T.fields[name].integer then
        local digits = written:match("^-?%d+$")
        if not digits or #digits > 15 then
            item = tree:add(F.other, range, each.name .. "=" .. written)
        else
            item = tree:add(field, range, Int64.new(tonumber(digits)))
        end
    else
        item = tree:add(field, range, written)
    end
    local label = name == each.name and name or name .. " (" .. each.name .. ")"
    item:set_text(label .. ": " .. written)
end

-- Show the extension fields; returns topic, group and queue as far as they are said.
local function show_fields(tree, tvb, members, class)
    local said, list = {}, members.extFields or members.ext_fields
    if not list then return said end
    local branch = tree:add(tvb(list.at, list.length), "Fields: " .. #list.value)
    if class then branch:add(F.class, class.name):set_generated() end
    for _, each in ipairs(list.value) do
        show_field(branch, tvb, each, class)
        local name = class and class.renamed and class.renamed[each.name] or each.name
        local role = T.roles[name]
        if role and type(each.value) == "string" and each.value ~= "" and not said[role] then
            said[role] = each.value
            tree:add(F[role], tvb(each.at, each.length), each.value)
        end
    end
    return said
end

local function show_header(tree, tvb, members)
    local kind, flag = kind_of(members)
    tree:add(F.kind, kind):set_generated()
    local code = members.code and tonumber(members.code.value)
    local names = kind == "response" and T.responses or T.requests
    local name = names[code]
    local item = add_number(tree, F.code, tvb, members.code)
    if item and name then
        item:append_text(" (" .. name .. ")")
        tree:add(F.code_name, tvb(members.code.at, members.code.length), name)
    end
    add(tree, F.language, tvb, members.language)
    add_number(tree, F.version, tvb, members.version)
    add_number(tree, F.opaque, tvb, members.opaque)
    item = add_number(tree, F.flag, tvb, members.flag)
    if item then
        item:add(F.flag_response, tvb(members.flag.at, members.flag.length), flag % 2 == 1)
        item:add(F.flag_oneway, tvb(members.flag.at, members.flag.length), math.floor(flag / 2) % 2 == 1)
    end
    add(tree, F.remark, tvb, members.remark)
    return kind, code, name
end

local function show_messages(tree, tvb, at, stop)
    local size = T.stored_size.int
    while at + size <= stop do
        local length = tvb(at, size):uint()
        if length <= size or at + length > stop then return end
        local branch = tree:add(F.message, tvb(at, length))
        local behind = walk(T.stored, tvb, at + size, at + length, function(node, value, from, width)
            if width > 0 then
                branch:add(OF_MESSAGE[node.name], tvb(from, width))
                if node.name == "topic" then branch:append_text(": " .. tostring(value)) end
            end
        end)
        if behind ~= at + length then return end
        at = at + length
    end
end

local json = Dissector.get("json")

local function show_body(tree, tvb, pinfo, at, stop, holds)
    if stop <= at then return end
    local branch = tree:add(F.body, tvb(at, stop - at))
    if holds == "stored" then
        if proto.prefs.messages then show_messages(branch, tvb, at, stop) end
    elseif holds == "json" then
        local info, protocol = tostring(pinfo.cols.info), tostring(pinfo.cols.protocol)
        pcall(json.call, json, tvb(at, stop - at):tvb(), pinfo, branch)
        pinfo.cols.info, pinfo.cols.protocol = info, protocol
    end
end

local function show_pair(tree, pinfo, members, kind)
    local found = paired(pinfo, members, kind)
    if kind == "response" then
        if not found.request then
            tree:add_proto_expert_info(X.no_request)
            return nil
        end
        tree:add(F.request_in, found.request.number):set_generated()
        if found.request.code then tree:add(F.request_code, found.request.code):set_generated() end
        if found.passed >= 0 then
            local seconds = math.floor(found.passed)
            local time = NSTime.new(seconds, math.floor((found.passed - seconds) * 1e9 + 0.5))
            tree:add(F.time, time):set_generated()
        end
        return found.request.code
    end
    if found.response_in then tree:add(F.response_in, found.response_in):set_generated() end
    return members.code and tonumber(members.code.value)
end

local function summary(kind, code, name, asked, members, said)
    local words = { kind, (name or "?") .. "(" .. tostring(code) .. ")" }
    if kind == "response" then words[#words + 1] = "to " .. (asked and (T.requests[asked] or asked) or "?") end
    words[#words + 1] = "opaque=" .. tostring(members.opaque and members.opaque.value)
    for _, role in ipairs({ "topic", "group", "queue_id" }) do
        if said[role] then words[#words + 1] = role .. "=" .. said[role] end
    end
    if members.remark and members.remark.value then
        words[#words + 1] = '"' .. tostring(members.remark.value):sub(1, 80):gsub("%c", " ") .. '"'
    end
    return table.concat(words, " ")
end

-- Show the frame that begins there, of which everything up to stop is there; returns a line about it.
local function show_frame(tvb, pinfo, tree, at, stop, whole)
    local length = tvb(at + LENGTH.at, LENGTH.int):uint()
    local header = tvb(at + HEADER.at, HEADER.int):uint()
    local branch = tree:add(proto, tvb(at, stop - at))
    branch:add(F.length, tvb(at + LENGTH.at, LENGTH.int))
    branch:add(F.header_type, tvb(at + KIND.at, KIND.int))
    branch:add(F.header_length, tvb(at + HEADER.at, HEADER.int))
    local data = at + T.prefix_size
    local body = data + header
    branch:add(F.body_length, length + LENGTH.int - T.prefix_size - header):set_generated()
    if not whole then branch:add_proto_expert_info(X.cut) end
    if body > stop then return "header not captured" end
    local read = tvb(at + KIND.at, KIND.int):uint() == JSON_TYPE and read_json or read_rocketmq
    local good, members = pcall(read, tvb, data, header)
    local under = branch:add(F.header, tvb(data, header))
    if not good or not members then
        under:add_proto_expert_info(X.bad_header)
        return "unreadable header"
    end
    local kind, code, name = show_header(under, tvb, members)
    local asked = show_pair(branch, pinfo, members, kind)
    local operation = T.operations[asked]
    local said = show_fields(under, tvb, members, class_of(operation, kind))
    if kind == "response" and code ~= 0 then branch:add_proto_expert_info(X.error) end
    local answered = kind ~= "response" or code == 0
    local holds = operation and answered and (kind == "response" and operation.answer or operation.body)
    show_body(branch, tvb, pinfo, body, stop, holds)
    local line = summary(kind, code, name, asked, members, said)
    branch:append_text(": " .. line)
    return line
end

-- ------------------------------------------------------------------ the stream

local shown_in = -1

local function say(pinfo, lines)
    if #lines == 0 then return end
    pinfo.cols.protocol = "RocketMQ"
    local text = table.concat(lines, " | ")
    if shown_in == pinfo.number then
        pinfo.cols.info:append(" | " .. text)
    else
        pinfo.cols.info = text
    end
    shown_in = pinfo.number
end

-- Ask for more bytes of a frame, or show what is there if there will not be more; returns whether it was shown.
local function incomplete(tvb, pinfo, tree, at, wanted, lines)
    local room = tvb:len() - at
    if pinfo.can_desegment > 0 and tvb:len() == tvb:reported_len() then
        pinfo.desegment_offset = at
        pinfo.desegment_len = wanted and wanted - room or DESEGMENT_ONE_MORE_SEGMENT
        return
    end
    if room >= T.prefix_size then lines[#lines + 1] = show_frame(tvb, pinfo, tree, at, tvb:len(), false) end
end

local function dissect(tvb, pinfo, tree)
    local at, stop, lines = proxy_header(tvb), tvb:len(), {}
    if at > 0 and at <= stop then tree:add(F.proxy, tvb(0, at)) end
    while at < stop do
        local answer = begins(tvb, at)
        if answer == false then
            local next_one = next_frame(tvb, at)
            if #lines == 0 and not next_one then return 0 end
            local item = tree:add(proto, tvb(at, (next_one or stop) - at), "RocketMQ: not understood")
            item:add_proto_expert_info(#lines > 0 and X.bad_length or X.no_frame)
            if not next_one then break end
            at = next_one
        end
        if answer == nil and stop - at < T.prefix_size then
            incomplete(tvb, pinfo, tree, at, nil, lines)
            break
        end
        local total = tvb(at + LENGTH.at, LENGTH.int):uint() + LENGTH.int
        if at + total > stop then
            incomplete(tvb, pinfo, tree, at, total, lines)
            break
        end
        lines[#lines + 1] = show_frame(tvb, pinfo, tree, at, at + total, true)
        at = at + total
    end
    say(pinfo, lines)
    return stop
end

function proto.dissector(tvb, pinfo, tree)
    return dissect(tvb, pinfo, tree)
end

-- A connection of any port, known by the first bytes that are seen of it.
local function recognise(tvb, pinfo, tree)
    local at = proxy_header(tvb)
    if at >= tvb:len() and at > 0 then
        pinfo.conversation = proto
        return dissect(tvb, pinfo, tree) > 0
    end
    if not begins(tvb, at) or tvb:len() - at < T.prefix_size + 2 then return false end
    pinfo.conversation = proto
    return dissect(tvb, pinfo, tree) > 0
end

proto:register_heuristic("tcp", recognise)

local bound = {}
local function bind()
    for _, name in ipairs({ "tcp.port", "tls.port" }) do
        local good, ports = pcall(DissectorTable.get, name)
        if good and ports then
            if bound[name] then ports:remove(bound[name], proto) end
            if proto.prefs.ports ~= "" then ports:add(proto.prefs.ports, proto) end
            bound[name] = proto.prefs.ports
        end
    end
end
proto.prefs_changed = bind
bind()
