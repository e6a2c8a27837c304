-- The options of C3TCP in captures, for Wireshark and tshark:
--
--     tshark -X lua_script:scripts/c3tcp.lua -r capture/node-0.pcap -Y c3tcp
--
-- The field stands behind LLC/SNAP under EtherType 0x88b5, the EtherType of the packet follows it: docs/c3tcp.md.

local c3tcp = Proto("c3tcp", "C3TCP options of the MAC header")

local fields = {
    header_length = ProtoField.uint8("c3tcp.header_length", "Header length", base.DEC, nil, nil, "MAC header with options, octets"),
    path_bandwidth = ProtoField.uint32("c3tcp.path.bandwidth", "Bandwidth of the path so far, bit/s"),
    path_delay = ProtoField.uint32("c3tcp.path.delay", "Delay of the path so far, us"),
    path_links = ProtoField.uint8("c3tcp.path.links", "Links measured"),
    back_delay = ProtoField.uint32("c3tcp.back.delay", "Delay of the way back so far, us"),
    back_links = ProtoField.uint8("c3tcp.back.links", "Links measured"),
    echo_bandwidth = ProtoField.uint32("c3tcp.echo.bandwidth", "Bandwidth of the path, bit/s"),
    echo_delay = ProtoField.uint32("c3tcp.echo.delay", "Delay of the path, us"),
    unknown = ProtoField.bytes("c3tcp.unknown", "Unknown option"),
}
c3tcp.fields = fields

local malformed = ProtoExpert.new("c3tcp.malformed", "Lengths contradict each other", expert.group.MALFORMED, expert.severity.ERROR)
c3tcp.experts = { malformed }

-- Octets of a MAC header without options, which the header length counts too.
local MAC_HEADER = 24

-- Type and length of the known options.
local known = {
    [1] = { name = "Path", length = 9, show = function(tree, value)
        tree:add(fields.path_bandwidth, value(0, 4))
        tree:add(fields.path_delay, value(4, 4))
        tree:add(fields.path_links, value(8, 1))
        return string.format("path %.0f kbit/s %.3f ms over %d", value(0, 4):uint() / 1e3, value(4, 4):uint() / 1e3, value(8, 1):uint())
    end },
    [2] = { name = "Back", length = 5, show = function(tree, value)
        tree:add(fields.back_delay, value(0, 4))
        tree:add(fields.back_links, value(4, 1))
        return string.format("back %.3f ms over %d", value(0, 4):uint() / 1e3, value(4, 1):uint())
    end },
    [3] = { name = "Echo", length = 8, show = function(tree, value)
        tree:add(fields.echo_bandwidth, value(0, 4))
        tree:add(fields.echo_delay, value(4, 4))
        return string.format("echo %.0f kbit/s %.3f ms", value(0, 4):uint() / 1e3, value(4, 4):uint() / 1e3)
    end },
}

function c3tcp.dissector(buffer, pinfo, root)
    local length = buffer(0, 1):uint() - MAC_HEADER
    local whole = length >= 1 and length + 2 <= buffer:len()
    local tree = root:add(c3tcp, buffer(0, whole and length or buffer:len()))
    tree:add(fields.header_length, buffer(0, 1))
    if not whole then
        tree:add_proto_expert_info(malformed)
        return
    end
    local words = {}
    local at = 1
    while at < length do
        local size = at + 2 <= length and 2 + buffer(at + 1, 1):uint() or nil
        if not size or at + size > length then
            tree:add_proto_expert_info(malformed)
            break
        end
        local option = known[buffer(at, 1):uint()]
        if option and size == 2 + option.length then
            local branch = tree:add(buffer(at, size), option.name)
            table.insert(words, option.show(branch, buffer(at + 2, option.length)))
        else
            tree:add(fields.unknown, buffer(at, size))
        end
        at = at + size
    end
    tree:append_text(": " .. table.concat(words, ", "))
    -- The packet behind the options, by its own EtherType.
    local packet = buffer(length + 2):tvb()
    DissectorTable.get("ethertype"):try(buffer(length, 2):uint(), packet, pinfo, root)
end

DissectorTable.get("ethertype"):add(0x88b5, c3tcp)
