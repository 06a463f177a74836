/*
 * siphash.h - SipHash-1-3, the keyed hash behind fl_map and fl_index.
 *
 * With a key the peer does not know, it cannot choose keys that collide. One
 * round per word and three at the end are enough for a hash table whose
 * hashes never leave the process; Rust and Python made the same choice.
 */
#ifndef FL_BASE_SIPHASH_H
#define FL_BASE_SIPHASH_H

#include <fairlead/types.h>

uint64_t fl_siphash(const uint64_t seed[2], fl_span bytes);

#endif
