/*
 * tools_schema.c - tools whose schemas are what matters.
 *
 * A schema is given as text, checked when the tool is added, and shown to
 * clients word for word. Arguments that it does not allow never get to the
 * handler.
 */
#include "fixture.h"

static void show_arguments(fl_call *call, void *user)
{
    fl_span arguments = fl_call_arguments(call);

    (void)user;
    fl_call_replyf(call, "Received: %.*s", SHOW(arguments));
}

static void show_region(fl_call *call, void *user)
{
    (void)user;
    if (fl_call_has(call, "region"))
        fl_call_replyf(call, "Region: %.*s",
                       SHOW(fl_call_text(call, "region")));
    else
        fl_call_replyf(call, "Region: none");
}

/* It would not know JSON from C: */
/* clang-format off */
static const fl_tool tools[] = {
    {
        .name = "json_schema_2020_12_tool",
        .description = "Has a schema with most of what JSON Schema 2020-12 has",
        .input_schema = JSON({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "$defs": {
                "address": {
                    "$anchor": "addressDef",
                    "type": "object",
                    "properties": {
                        "street": {"type": "string"},
                        "city": {"type": "string"}
                    }
                }
            },
            "properties": {
                "name": {"type": "string"},
                "address": {"$ref": "#/$defs/address"},
                "contactMethod": {"type": "string", "enum": ["phone", "email"]},
                "phone": {"type": "string"},
                "email": {"type": "string"}
            },
            "allOf": [
                {"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}
            ],
            "if": {
                "properties": {"contactMethod": {"const": "phone"}},
                "required": ["contactMethod"]
            },
            "then": {"required": ["phone"]},
            "else": {"required": ["email"]},
            "additionalProperties": false
        }),
        .call = show_arguments,
    },
    {
        .name = "test_x_mcp_header",
        .description = "Has an argument that is repeated in a header field",
        .input_schema = JSON({
            "type": "object",
            "properties": {
                "region": {
                    "type": "string",
                    "description": "Where to work",
                    "x-mcp-header": "Region"
                }
            }
        }),
        .call = show_region,
    },
};
/* clang-format on */

fl_status add_schema_tools(fl_server *server)
{
    return ADD_TOOLS(server, tools);
}
