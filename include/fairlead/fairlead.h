/*
 * fairlead.h - all of fairlead's public headers at once.
 */
#ifndef FAIRLEAD_FAIRLEAD_H
#define FAIRLEAD_FAIRLEAD_H

#include <fairlead/ask.h>
#include <fairlead/auth.h>
#include <fairlead/call.h>
#include <fairlead/client.h>
#include <fairlead/files.h>
#include <fairlead/json.h>
#include <fairlead/keys.h>
#include <fairlead/loop.h>
#include <fairlead/options.h>
#include <fairlead/server.h>
#include <fairlead/types.h>
#include <fairlead/version.h>

#endif
