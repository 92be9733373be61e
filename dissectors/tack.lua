-- Packets of the TACK transport for Wireshark and tshark:
--
--   tshark -X lua_script:dissectors/tack.lua -r out/capture.pcapng -O tack
--
-- Of protected packets, between real hosts, only the head is readable. No form tells that they are those of TACK, so that the port has to:
--
--   tshark -X lua_script:dissectors/tack.lua -d udp.port==4433,tack -i eth0
--
-- The format stands in crates/wire/src/tack.rs. Captures that keep headers alone end with the header of the last stream frame.

local tack = Proto("tack", "TACK transport")

local f = {
  version = ProtoField.uint8("tack.version", "Version", base.DEC, nil, 0xf0),
  reserved = ProtoField.uint8("tack.reserved", "Reserved", base.DEC, nil, 0x0f),
  level = ProtoField.uint8("tack.level", "Protected by the keys of level", base.DEC,
    { [0] = "Session", [1] = "Initial", [2] = "Handshake" }, 0x0c),
  connection = ProtoField.uint64("tack.connection", "Connection id", base.HEX),
  number = ProtoField.uint32("tack.pkt_seq", "PKT.SEQ"),
  departed = ProtoField.uint32("tack.departed", "Time of departure (µs)"),
  tag = ProtoField.bytes("tack.tag", "Authentication tag"),
  kind = ProtoField.uint8("tack.frame", "Frame", base.HEX),
  stream = ProtoField.uint32("tack.stream", "Stream"),
  offset = ProtoField.uint64("tack.offset", "Offset"),
  length = ProtoField.uint16("tack.length", "Length"),
  fin = ProtoField.bool("tack.end", "End of the stream"),
  data = ProtoField.bytes("tack.data", "Data"),
  next = ProtoField.uint32("tack.next", "Everything below has arrived or is not waited for"),
  acked = ProtoField.string("tack.acked", "Acked list"),
  lost = ProtoField.string("tack.lost", "Unacked list"),
  unlisted = ProtoField.uint32("tack.unlisted", "Packets beyond that are not listed"),
  late = ProtoField.uint32("tack.late", "Packets that arrived after they were reported lost"),
  echo = ProtoField.uint32("tack.echo", "Time of departure t0* that is echoed (µs)"),
  delay = ProtoField.uint32("tack.delay", "TACK delay Δt* (µs)"),
  delivered = ProtoField.uint32("tack.delivered", "Octets delivered"),
  interval = ProtoField.uint32("tack.interval", "in an interval of (µs)"),
  rate = ProtoField.double("tack.rate", "Delivery rate (Mbps)"),
  after = ProtoField.uint32("tack.loss.after", "Second-largest PKT.SEQ"),
  before = ProtoField.uint32("tack.loss.before", "Largest PKT.SEQ"),
  ect0 = ProtoField.uint32("tack.ecn.ect0", "Arrived as ECT(0)"),
  ce = ProtoField.uint32("tack.ecn.ce", "Arrived as CE"),
  arrived = ProtoField.uint32("tack.loss.arrived", "Arrived from there on"),
  limit = ProtoField.uint64("tack.limit", "Offsets below may be sent"),
  rtt_min = ProtoField.uint32("tack.rtt_min", "RTTmin (µs)"),
  ack_loss = ProtoField.uint16("tack.ack_loss", "ρ′ (65536ths)"),
  packets = ProtoField.uint32("tack.l", "L"),
  beta = ProtoField.uint32("tack.beta", "β"),
  below = ProtoField.uint32("tack.below", "Nothing below is waited for"),
  size = ProtoField.uint64("tack.size", "Octets sent"),
  code = ProtoField.uint32("tack.code", "Code"),
  source = ProtoField.uint64("tack.source", "Connection id of the sender", base.HEX),
  window = ProtoField.uint64("tack.window", "Window of each stream"),
  streams = ProtoField.uint32("tack.streams", "Streams that the peer may open"),
  payload = ProtoField.uint16("tack.payload", "Largest UDP payload"),
  idle = ProtoField.uint32("tack.idle", "Idle timeout (ms)"),
  parameter = ProtoField.bytes("tack.parameter", "Unknown parameter"),
  token = ProtoField.bytes("tack.token", "Token"),
  challenge = ProtoField.uint64("tack.challenge", "Challenge", base.HEX),
  extension = ProtoField.bytes("tack.extension", "Unknown frame"),
  versions = ProtoField.bytes("tack.versions", "Versions that the server knows"),
}
tack.fields = f

local HEADER, TAG = 17, 16
local kinds = {
  [0x00] = "Padding", [0x01] = "Ping", [0x02] = "Stream", [0x03] = "Stream", [0x04] = "TACK", [0x05] = "Loss IACK",
  [0x06] = "Window", [0x07] = "Blocked", [0x08] = "Sync", [0x09] = "Forget", [0x0a] = "Reset", [0x0b] = "Close",
  [0x0c] = "Open", [0x0d] = "Accept", [0x0e] = "ECN counts",
  [0x0f] = "Streams", [0x10] = "Crypto", [0x11] = "Token", [0x12] = "Challenge", [0x13] = "Response",
  [0x14] = "Stop",
}
-- Types from here on are followed by their length.
local FIRST_EXTENSION = 0x40
local VERSION, NEGOTIATION = 1, 0

-- A cursor over the octets of a frame.
local Cursor = {}
Cursor.__index = Cursor

function Cursor:take(count)
  local range = self.buffer(self.at, count)
  self.at = self.at + count
  return range
end

-- An integer of variable length (RFC 9000, §16): its range and its value.
function Cursor:varint()
  local first = self.buffer(self.at, 1):uint()
  local length = 2 ^ bit.rshift(first, 6)
  local range = self:take(length)
  if length == 1 then return range, first end
  if length == 2 then return range, bit.band(range:uint(), 0x3fff) end
  if length == 4 then return range, bit.band(range:uint(), 0x3fffffff) end
  return range, range(4, 4):uint()
end

local function runs(cursor, tree, field, next)
  local from = cursor.at
  local _, count = cursor:varint()
  local texts, reached = {}, next
  for _ = 1, count do
    local _, skip = cursor:varint()
    local _, length = cursor:varint()
    local start = reached + skip
    reached = start + length
    texts[#texts + 1] = length == 1 and tostring(start) or string.format("%d–%d", start, reached - 1)
  end
  tree:add(field, cursor.buffer(from, cursor.at - from), table.concat(texts, ", "))
end

local function varints(cursor, tree, ...)
  local last
  for _, field in ipairs({ ... }) do
    local range, value = cursor:varint()
    tree:add(field, range, value)
    last = value
  end
  return last
end

local known_parameters = { [0x01] = f.window, [0x02] = f.streams, [0x03] = f.payload, [0x04] = f.idle }

local function parameters(cursor, tree)
  local _, length = cursor:varint()
  local upto = cursor.at + length
  while cursor.at < upto do
    local _, id = cursor:varint()
    local _, size = cursor:varint()
    local field = known_parameters[id]
    if field == f.window then
      local range, value = cursor:varint()
      -- Lua's numbers do not hold 62 bits.
      local whole = size == 8 and range:uint64():band(UInt64.max():rshift(2)) or UInt64(value)
      tree:add(field, range, whole)
    elseif field then
      varints(cursor, tree, field)
    elseif size > 0 then
      tree:add(f.parameter, cursor:take(size))
    end
  end
end

local dissect = {}

dissect[0x00] = function(cursor)
  while cursor.at < cursor.limit and cursor.buffer(cursor.at, 1):uint() == 0 do cursor.at = cursor.at + 1 end
  return ""
end
dissect[0x01] = function() return "" end
local function stream(cursor, tree, is_end)
  local id = varints(cursor, tree, f.stream)
  local offset, length = cursor:take(8), cursor:take(2)
  tree:add(f.offset, offset)
  tree:add(f.length, length)
  tree:add(f.fin, is_end)
  local there = math.min(length:uint(), math.max(cursor.limit - cursor.at, 0))
  if there > 0 then tree:add(f.data, cursor:take(there)) end
  local upto = offset:uint64() + length:uint()
  return string.format("%d, %s–%s%s", id, offset:uint64(), upto, is_end and ", end" or "")
end
dissect[0x02] = function(cursor, tree) return stream(cursor, tree, false) end
dissect[0x03] = function(cursor, tree) return stream(cursor, tree, true) end
dissect[0x04] = function(cursor, tree)
  local next = cursor:take(4)
  tree:add(f.next, next)
  runs(cursor, tree, f.acked, next:uint())
  runs(cursor, tree, f.lost, next:uint())
  varints(cursor, tree, f.unlisted, f.late)
  tree:add(f.echo, cursor:take(4))
  local delay = varints(cursor, tree, f.delay)
  local delivered = varints(cursor, tree, f.delivered)
  local interval = varints(cursor, tree, f.interval)
  if interval > 0 then tree:add(f.rate, delivered * 8 / interval):set_generated() end
  return string.format("below %d, Δt* %d µs", next:uint(), delay)
end
dissect[0x05] = function(cursor, tree)
  local after, before = cursor:take(4), cursor:take(4)
  tree:add(f.after, after)
  tree:add(f.before, before)
  varints(cursor, tree, f.arrived)
  return string.format("between %d and %d", after:uint(), before:uint())
end
dissect[0x06] = function(cursor, tree)
  local id = varints(cursor, tree, f.stream)
  local limit = cursor:take(8)
  tree:add(f.limit, limit)
  return string.format("%d, %s", id, limit:uint64())
end
dissect[0x07] = function(cursor, tree) return tostring(varints(cursor, tree, f.stream)) end
dissect[0x08] = function(cursor, tree)
  local rtt = varints(cursor, tree, f.rtt_min)
  tree:add(f.ack_loss, cursor:take(2))
  varints(cursor, tree, f.packets, f.beta)
  return string.format("RTTmin %d µs", rtt)
end
dissect[0x09] = function(cursor, tree)
  local below = cursor:take(4)
  tree:add(f.below, below)
  return string.format("below %d", below:uint())
end
dissect[0x0a] = function(cursor, tree)
  local id = varints(cursor, tree, f.stream)
  tree:add(f.size, cursor:take(8))
  return string.format("%d, code %d", id, varints(cursor, tree, f.code))
end
dissect[0x0b] = function(cursor, tree) return string.format("code %d", varints(cursor, tree, f.code)) end
dissect[0x0c] = function(cursor, tree)
  tree:add(f.source, cursor:take(8))
  parameters(cursor, tree)
  return ""
end
dissect[0x0d] = function(cursor, tree)
  tree:add(f.source, cursor:take(8))
  parameters(cursor, tree)
  tree:add(f.echo, cursor:take(4))
  varints(cursor, tree, f.delay)
  return ""
end

dissect[0x0e] = function(cursor, tree)
  local ect0 = varints(cursor, tree, f.ect0)
  return string.format("ECT(0) %d, CE %d", ect0, varints(cursor, tree, f.ce))
end

dissect[0x0f] = function(cursor, tree) return tostring(varints(cursor, tree, f.streams)) end
dissect[0x10] = function(cursor, tree)
  local range, offset = cursor:varint()
  tree:add(f.offset, range, UInt64(offset))
  local length = cursor:take(2)
  tree:add(f.length, length)
  local there = math.min(length:uint(), math.max(cursor.limit - cursor.at, 0))
  if there > 0 then tree:add(f.data, cursor:take(there)) end
  return string.format("%d–%d", offset, offset + length:uint())
end
dissect[0x11] = function(cursor, tree)
  local _, length = cursor:varint()
  tree:add(f.token, cursor:take(length))
  return string.format("%d octets", length)
end
dissect[0x12] = function(cursor, tree)
  tree:add(f.challenge, cursor:take(8))
  return ""
end
dissect[0x13] = dissect[0x12]
dissect[0x14] = function(cursor, tree)
  local id = varints(cursor, tree, f.stream)
  return string.format("%d, code %d", id, varints(cursor, tree, f.code))
end

local function extension(cursor, tree)
  local _, length = cursor:varint()
  if length > 0 then tree:add(f.extension, cursor:take(length)) end
  return string.format("%d octets", length)
end

local levels = { [0] = "Session", [1] = "Initial", [2] = "Handshake" }

-- The readable part of one protected packet of a datagram, which begins at `at`. Returns where it ends.
local function protected_packet(buffer, at, root, info)
  local level = levels[buffer(at, 1):bitfield(4, 2)]
  local opens = level == "Initial" and buffer(at + 1, 8):uint64() == UInt64(0)
  local upto = buffer:len()
  if level ~= "Session" and not opens and at + 11 <= buffer:len() then
    upto = math.min(at + 11 + buffer(at + 9, 2):uint(), buffer:len())
  end
  local branch = root:add(f.level, buffer(at, 1))
  branch:append_text(string.format(", %d octets", upto - at))
  branch:add(f.connection, buffer(at + 1, 8))
  if opens then
    branch:add(f.number, buffer(at + 9, 4))
    branch:add(f.departed, buffer(at + 13, 4))
  end
  info[#info + 1] = string.format("%s, %d octets protected", level or "no level", upto - at)
  return upto
end

-- The tag of an unprotected packet is zero.
local function is_protected(buffer)
  if buffer:len() ~= buffer:reported_len() or buffer:len() < HEADER + TAG then return false end
  return buffer(buffer:len() - TAG, TAG):bytes() ~= ByteArray.new(string.rep("00", TAG))
end

function tack.dissector(buffer, pinfo, tree)
  if buffer:len() < HEADER then return 0 end
  pinfo.cols.protocol = "TACK"
  if is_protected(buffer) then
    local root, info, at = tree:add(tack, buffer()), {}, 0
    root:add(f.version, buffer(0, 1))
    while at + HEADER <= buffer:len() do at = protected_packet(buffer, at, root, info) end
    pinfo.cols.info = table.concat(info, " | ")
    return buffer:len()
  end
  local root = tree:add(tack, buffer())
  root:add(f.version, buffer(0, 1))
  root:add(f.reserved, buffer(0, 1))
  root:add(f.connection, buffer(1, 8))
  root:add(f.number, buffer(9, 4))
  root:add(f.departed, buffer(13, 4))
  -- A tag that was cut off is not there.
  local is_whole = buffer:len() == buffer:reported_len()
  local limit = is_whole and buffer:len() - TAG or buffer:len()
  local cursor = setmetatable({ buffer = buffer, at = HEADER, limit = limit }, Cursor)
  local info = { string.format("PKT.SEQ %d", buffer(9, 4):uint()) }
  if buffer(0, 1):bitfield(0, 4) == NEGOTIATION then
    root:add(f.versions, cursor:take(limit - HEADER))
    info[#info + 1] = "Versions"
  end
  while cursor.at < limit do
    local from, kind = cursor.at, buffer(cursor.at, 1):uint()
    local name = kinds[kind] or (kind >= FIRST_EXTENSION and "Unknown frame")
    if not name then
      root:add_expert_info(PI_MALFORMED, PI_ERROR, string.format("there is no frame of type %d", kind))
      break
    end
    local branch = root:add(f.kind, cursor:take(1))
    local text = (dissect[kind] or extension)(cursor, branch)
    branch:set_len(cursor.at - from)
    branch:set_text(text == "" and name or name .. ": " .. text)
    info[#info + 1] = text == "" and name or name .. " " .. text
  end
  if is_whole then root:add(f.tag, buffer(limit, TAG)) end
  pinfo.cols.info = table.concat(info, " | ")
  return buffer:len()
end

-- Version 1 with a frame that there is, or an answer to another version.
local function is_tack(buffer, pinfo, tree)
  if buffer:len() <= HEADER or buffer:reported_len() < HEADER + TAG + 1 then return false end
  local version, kind = buffer(0, 1):bitfield(0, 4), buffer(HEADER, 1):uint()
  local answers = version == NEGOTIATION and buffer(1, 8):uint64() == UInt64(0)
  local is_known = version == VERSION and (kinds[kind] ~= nil or kind >= FIRST_EXTENSION)
  if not answers and not is_known then return false end
  tack.dissector(buffer, pinfo, tree)
  return true
end

tack:register_heuristic("udp", is_tack)
