/*
 * modern.h - messages of revision 2026-07-28, for tests to put together.
 */
#ifndef TESTS_UNIT_MODERN_H
#define TESTS_UNIT_MODERN_H

#define IOMCP "io.modelcontextprotocol/"
#define VERSION_IS(version) "\"" IOMCP "protocolVersion\":" version
#define CAPABILITIES_ARE(value) "\"" IOMCP "clientCapabilities\":" value
#define CLAIM VERSION_IS("\"2026-07-28\"") "," CAPABILITIES_ARE("{}")
#define META "\"_meta\":{" CLAIM "}"

/* `rest` begins with a comma, or is empty. */
#define MODERN_META(id, method, meta, rest)                                    \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"" method                  \
    "\",\"params\":{\"_meta\":{" meta "}" rest "}}"
#define MODERN(id, method, rest) MODERN_META(id, method, CLAIM, rest)
#define MODERN_CALL(id, name, arguments)                                       \
    MODERN(id, "tools/call", ",\"name\":\"" name "\",\"arguments\":" arguments)
#define LISTEN(id, filter)                                                     \
    MODERN(id, "subscriptions/listen", ",\"notifications\":" filter)

/* What a server called "host" puts on its results. */
#define TAG "\"" IOMCP "serverInfo\":{\"name\":\"host\",\"version\":\"1.2\"}"
#define STAMP "\"resultType\":\"complete\",\"_meta\":{" TAG "}"
#define MODERN_TEXT(id, text)                                                  \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"result\":{" STAMP                    \
    ",\"content\":[{\"type\":\"text\",\"text\":\"" text "\"}]}}"

#define TOLD(id, method, rest)                                                 \
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/" method                  \
    "\",\"params\":{\"_meta\":{\"" IOMCP "subscriptionId\":" id "}" rest "}}"
#define WELCOME(id)                                                            \
    TOLD(id, "subscriptions/acknowledged",                                     \
         ",\"notifications\":{\"toolsListChanged\":true}")
#define CHANGED(id) TOLD(id, "tools/list_changed", "")
#define GOODBYE(id)                                                            \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"result\":{\"resultType\":"           \
    "\"complete\",\"_meta\":{\"" IOMCP "subscriptionId\":" id "," TAG "}}}"

#endif
