-- Packets of acklab's QUIC transport for Wireshark and tshark, whose packets are not encrypted in simulation:
--
--   tshark -X lua_script:dissectors/quic.lua -r out/capture.pcapng -O acklab_quic
--
-- Wireshark's own dissector takes payloads for encrypted and shows no frame. This one reads RFC 9000, version 1, with the frames of
-- draft-ietf-quic-ack-frequency and draft-ietf-quic-receive-ts. A packet whose authentication tag is not zero is a protected one and is left to Wireshark's. The format
-- stands in crates/wire/src/quic.rs. Captures that keep headers alone end with the header of the last stream frame.

local quic = Proto("acklab_quic", "QUIC without encryption")

local f = {
  form = ProtoField.uint8("acklab_quic.long", "Long header", base.DEC, { [0] = "no", [1] = "yes" }, 0x80),
  kind = ProtoField.uint8("acklab_quic.type", "Type", base.DEC, { [0] = "Initial", [2] = "Handshake" }, 0x30),
  spin = ProtoField.bool("acklab_quic.spin", "Spin bit", 8, nil, 0x20),
  version = ProtoField.uint32("acklab_quic.version", "Version", base.HEX),
  destination = ProtoField.bytes("acklab_quic.destination", "Destination connection id"),
  source = ProtoField.bytes("acklab_quic.source", "Source connection id"),
  token = ProtoField.bytes("acklab_quic.token", "Token"),
  length = ProtoField.uint64("acklab_quic.length", "Length"),
  number = ProtoField.uint32("acklab_quic.packet_number", "Packet number (truncated)"),
  tag = ProtoField.bytes("acklab_quic.tag", "Authentication tag"),
  frame = ProtoField.uint64("acklab_quic.frame", "Frame", base.HEX),
  largest = ProtoField.uint64("acklab_quic.ack.largest", "Largest acknowledged"),
  delay = ProtoField.uint64("acklab_quic.ack.delay", "ACK delay"),
  count = ProtoField.uint64("acklab_quic.ack.ranges", "Further ranges"),
  acked = ProtoField.string("acklab_quic.ack.acked", "Acknowledged"),
  ect0 = ProtoField.uint64("acklab_quic.ack.ect0", "Arrived as ECT(0)"),
  ect1 = ProtoField.uint64("acklab_quic.ack.ect1", "Arrived as ECT(1)"),
  ce = ProtoField.uint64("acklab_quic.ack.ce", "Arrived as CE"),
  timestamps = ProtoField.uint64("acklab_quic.ack.timestamp_ranges", "Timestamp ranges"),
  received = ProtoField.string("acklab_quic.ack.received", "Received"),
  stream = ProtoField.uint64("acklab_quic.stream", "Stream"),
  offset = ProtoField.uint64("acklab_quic.offset", "Offset"),
  size = ProtoField.uint64("acklab_quic.stream_length", "Octets"),
  fin = ProtoField.bool("acklab_quic.fin", "End of the stream"),
  data = ProtoField.bytes("acklab_quic.data", "Data"),
  limit = ProtoField.uint64("acklab_quic.limit", "Limit"),
  code = ProtoField.uint64("acklab_quic.code", "Code"),
  final = ProtoField.uint64("acklab_quic.final_size", "Final size"),
  frame_type = ProtoField.uint64("acklab_quic.frame_type", "Frame that caused it", base.HEX),
  reason = ProtoField.bytes("acklab_quic.reason", "Reason"),
  sequence = ProtoField.uint64("acklab_quic.sequence", "Sequence number"),
  prior = ProtoField.uint64("acklab_quic.retire_prior_to", "Retire prior to"),
  id = ProtoField.bytes("acklab_quic.connection_id", "Connection id"),
  reset = ProtoField.bytes("acklab_quic.reset_token", "Stateless reset token"),
  challenge = ProtoField.uint64("acklab_quic.challenge", "Challenge", base.HEX),
  threshold = ProtoField.uint64("acklab_quic.threshold", "Ack-eliciting threshold"),
  max_delay = ProtoField.uint64("acklab_quic.max_ack_delay", "Requested max ACK delay (µs)"),
  reordering = ProtoField.uint64("acklab_quic.reordering", "Reordering threshold"),
}
quic.fields = f

local TAG, SHORT_ID = 16, 8
local names = {
  [0x00] = "PADDING", [0x01] = "PING", [0x02] = "ACK", [0x03] = "ACK", [0x04] = "RESET_STREAM", [0x05] = "STOP_SENDING",
  [0x06] = "CRYPTO", [0x07] = "NEW_TOKEN", [0x10] = "MAX_DATA", [0x11] = "MAX_STREAM_DATA", [0x12] = "MAX_STREAMS",
  [0x13] = "MAX_STREAMS", [0x14] = "DATA_BLOCKED", [0x15] = "STREAM_DATA_BLOCKED", [0x16] = "STREAMS_BLOCKED",
  [0x17] = "STREAMS_BLOCKED", [0x18] = "NEW_CONNECTION_ID", [0x19] = "RETIRE_CONNECTION_ID", [0x1a] = "PATH_CHALLENGE",
  [0x1b] = "PATH_RESPONSE", [0x1c] = "CONNECTION_CLOSE", [0x1d] = "CONNECTION_CLOSE", [0x1e] = "HANDSHAKE_DONE",
  [0x1f] = "IMMEDIATE_ACK", [0xaf] = "ACK_FREQUENCY", [0x03178307] = "ACK_RECEIVE_TIMESTAMPS",
  [0x03178308] = "ACK_RECEIVE_TIMESTAMPS",
}

-- A cursor over octets.
local Cursor = {}
Cursor.__index = Cursor

function Cursor:left()
  return self.buffer:len() - self.at
end

function Cursor:take(count)
  local range = self.buffer(self.at, count)
  self.at = self.at + count
  return range
end

-- An integer of variable length (RFC 9000, §16): its range and its value, exact up to 2^53.
function Cursor:varint()
  local length = 2 ^ bit.rshift(self.buffer(self.at, 1):uint(), 6)
  local range = self:take(length)
  local value = bit.band(range(0, 1):uint(), 0x3f)
  for at = 1, length - 1 do value = value * 256 + range(at, 1):uint() end
  return range, value
end

local function numbers(cursor, tree, ...)
  local last
  for _, field in ipairs({ ... }) do
    local range, value = cursor:varint()
    tree:add(field, range, UInt64(value % 2 ^ 32, math.floor(value / 2 ^ 32)))
    last = value
  end
  return last
end

local function octets(cursor, tree, field, count)
  -- A capture may keep less than there was.
  count = math.min(count, cursor:left())
  if count > 0 then tree:add(field, cursor:take(count)) end
end

-- Times of packets since the basis of their receiver, in units of 2^receive_timestamps_exponent microseconds.
local function timestamps(cursor, tree, largest)
  local count = numbers(cursor, tree, f.timestamps)
  local time
  for _ = 1, count do
    local from = cursor.at
    local _, below = cursor:varint()
    local _, deltas = cursor:varint()
    local texts = {}
    for index = 0, deltas - 1 do
      local _, delta = cursor:varint()
      time = time and time - delta or delta
      texts[#texts + 1] = string.format("%d at %d", largest - below - index, time)
    end
    tree:add(f.received, cursor.buffer(from, cursor.at - from), table.concat(texts, ", "))
  end
end

local function ack(cursor, tree, kind)
  local largest = numbers(cursor, tree, f.largest)
  numbers(cursor, tree, f.delay)
  local count = numbers(cursor, tree, f.count)
  local from = cursor.at
  local _, first = cursor:varint()
  local low = largest - first
  local function text(a, b) return a == b and string.format("%d", a) or string.format("%d–%d", a, b) end
  local texts = { text(low, largest) }
  for _ = 1, count do
    local _, gap = cursor:varint()
    local _, length = cursor:varint()
    local top = low - gap - 2
    low = top - length
    texts[#texts + 1] = text(low, top)
  end
  tree:add(f.acked, cursor.buffer(from, cursor.at - from), table.concat(texts, ", "))
  if kind == 0x03 or kind == 0x03178308 then numbers(cursor, tree, f.ect0, f.ect1, f.ce) end
  if kind > 0x03 then timestamps(cursor, tree, largest) end
  return "ACK " .. texts[1]
end

local function stream(cursor, tree, kind)
  local id = numbers(cursor, tree, f.stream)
  local offset = bit.band(kind, 0x04) ~= 0 and numbers(cursor, tree, f.offset) or 0
  local length = bit.band(kind, 0x02) ~= 0 and numbers(cursor, tree, f.size) or cursor.whole - cursor.at
  tree:add(f.fin, bit.band(kind, 0x01) ~= 0)
  octets(cursor, tree, f.data, length)
  return string.format("STREAM %d %d–%d", id, offset, offset + length)
end

-- The frame at the cursor; returns its summary.
local function dissect_frame(cursor, tree)
  local range, kind = cursor:varint()
  local start = cursor.at - range:len()
  local name = kind >= 0x08 and kind < 0x10 and "STREAM" or names[kind]
  local branch = tree:add(quic, range, name or "Unknown frame")
  branch:add(f.frame, range, UInt64(kind))
  local said = name
  if kind == 0x00 then
    while cursor:left() > 0 and cursor.buffer(cursor.at, 1):uint() == 0 do cursor.at = cursor.at + 1 end
  elseif kind == 0x02 or kind == 0x03 or kind == 0x03178307 or kind == 0x03178308 then said = ack(cursor, branch, kind)
  elseif kind == 0x04 then numbers(cursor, branch, f.stream, f.code, f.final)
  elseif kind == 0x05 then numbers(cursor, branch, f.stream, f.code)
  elseif kind == 0x06 then
    numbers(cursor, branch, f.offset)
    octets(cursor, branch, f.data, numbers(cursor, branch, f.size))
  elseif kind == 0x07 then octets(cursor, branch, f.token, numbers(cursor, branch, f.size))
  elseif name == "STREAM" then said = stream(cursor, branch, kind)
  elseif kind == 0x11 or kind == 0x15 then numbers(cursor, branch, f.stream, f.limit)
  elseif kind >= 0x10 and kind <= 0x17 then numbers(cursor, branch, f.limit)
  elseif kind == 0x18 then
    numbers(cursor, branch, f.sequence, f.prior)
    octets(cursor, branch, f.id, cursor:take(1):uint())
    octets(cursor, branch, f.reset, 16)
  elseif kind == 0x19 then numbers(cursor, branch, f.sequence)
  elseif kind == 0x1a or kind == 0x1b then branch:add(f.challenge, cursor:take(8))
  elseif kind == 0x1c or kind == 0x1d then
    numbers(cursor, branch, f.code)
    if kind == 0x1c then numbers(cursor, branch, f.frame_type) end
    octets(cursor, branch, f.reason, numbers(cursor, branch, f.size))
  elseif kind == 0xaf then numbers(cursor, branch, f.sequence, f.threshold, f.max_delay, f.reordering)
  elseif not name then return nil
  end
  branch:set_len(cursor.at - start)
  return said
end

-- The packet at the cursor, in a datagram of `size` octets of which some may be missing; returns its summary, or nil if it is protected.
local function dissect_packet(buffer, at, size, tree)
  local cursor = setmetatable({ buffer = buffer, at = at }, Cursor)
  local first = cursor:take(1)
  local is_long = bit.band(first:uint(), 0x80) ~= 0
  local branch = tree:add(quic, buffer(at))
  branch:add(f.form, first)
  local last, name = size, "1-RTT"
  if is_long then
    local kind = bit.rshift(bit.band(first:uint(), 0x30), 4)
    name = ({ [0] = "Initial", [2] = "Handshake" })[kind] or "Unknown"
    branch:add(f.kind, first)
    branch:add(f.version, cursor:take(4))
    octets(cursor, branch, f.destination, cursor:take(1):uint())
    octets(cursor, branch, f.source, cursor:take(1):uint())
    if kind == 0 then
      local _, length = cursor:varint()
      octets(cursor, branch, f.token, length)
    end
    local range, length = cursor:varint()
    branch:add(f.length, range, UInt64(length))
    last = cursor.at + length
  else
    branch:add(f.spin, first)
    octets(cursor, branch, f.destination, SHORT_ID)
  end
  local digits = bit.band(first:uint(), 0x03) + 1
  local number = cursor:take(digits)
  branch:add(f.number, number)
  local said = {}
  cursor.whole = last - TAG
  local within = math.min(cursor.whole, buffer:len())
  cursor.buffer = buffer(0, within):tvb()
  while cursor:left() > 0 do
    local went, frame = pcall(dissect_frame, cursor, branch)
    if not went then break end -- The capture ends within a frame.
    if not frame then break end
    said[#said + 1] = frame
  end
  if buffer:len() >= last then branch:add(f.tag, buffer(last - TAG, TAG)) end
  branch:set_len(math.min(last, buffer:len()) - at)
  branch:set_text(string.format("%s packet %d", name, number:uint()))
  return string.format("%s %d: %s", name, number:uint(), table.concat(said, ", ")), last
end

-- Whether the datagram ends with a tag of zeros, as far as it was kept.
local function is_plain(buffer)
  local size = buffer:reported_len()
  if buffer:len() < size then return true end
  if size < TAG + 2 then return false end
  for at = size - TAG, size - 1 do
    if buffer(at, 1):uint() ~= 0 then return false end
  end
  return bit.band(buffer(0, 1):uint(), 0x40) ~= 0
end

function quic.dissector(buffer, info, tree)
  if not is_plain(buffer) then return 0 end
  info.cols.protocol = "QUIC"
  local branch, at, said, size = tree:add(quic, buffer()), 0, {}, buffer:reported_len()
  while at < buffer:len() do
    local summary, last = dissect_packet(buffer, at, size, branch)
    said[#said + 1] = summary
    at = last
  end
  info.cols.info = table.concat(said, "; ")
  return buffer:len()
end

-- A first packet tells what it is: version 1, a connection id of eight octets, and a tag of zeros unless it was cut off.
local function guess(buffer, info, tree)
  if buffer:len() < 24 or buffer:reported_len() < 40 then return false end
  local first = buffer(0, 1):uint()
  local is_first = bit.band(first, 0xc0) == 0xc0 and buffer(1, 4):uint() == 1 and buffer(5, 1):uint() == SHORT_ID
  if not is_first or not is_plain(buffer) then return false end
  info.conversation = quic
  quic.dissector(buffer, info, tree)
  return true
end

quic:register_heuristic("udp", guess)
-- Those of a simulation go to port 9.
DissectorTable.get("udp.port"):add_for_decode_as(quic)
