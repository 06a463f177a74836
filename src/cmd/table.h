/*
 * table.h - rows of cells whose columns line up, for people.
 *
 * A table is made twice, the same way: the first time it measures how wide its
 * columns are, the second time it prints. So it holds one row at a time,
 * however many there are.
 *
 * Text in a cell is spelt out (cmd/term.h) and stays in its line, in a pipe as
 * well: that may lead to a terminal.
 */
#ifndef FL_CMD_TABLE_H
#define FL_CMD_TABLE_H

#include "cmd/term.h"

enum { FL_TABLE_COLUMNS = 8 };

typedef struct fl_table_column {
    const char *title;
    size_t max; /* letters; longer ones are cut, in a narrow line even
                   shorter ones. 0: it never is */
    bool right; /* it holds numbers */
} fl_table_column;

/* Owned by whoever embeds it. Fields are private to table.c. */
typedef struct fl_table {
    const fl_term *to;
    const fl_table_column *columns;
    unsigned count;
    size_t room; /* letters of a line; 0: any */
    bool printing;
    size_t width[FL_TABLE_COLUMNS];
    fl_buf cell[FL_TABLE_COLUMNS];
    fl_status status; /* the first failure */
} fl_table;

/* Keeps `columns`. They are cut so that a line has `room` letters, the last
 * one first. */
void fl_table_init(fl_table *table, const fl_term *to, size_t room,
                   const fl_table_column *columns, unsigned count);
void fl_table_deinit(fl_table *table);

/* Adds to a cell of the row that is being made. */
void fl_table_put(fl_table *table, unsigned column, fl_span text);

/* The row is whole: the next one begins. */
void fl_table_end_row(fl_table *table);
void fl_table_titles(fl_table *table);

/* All has been measured: from here on it is printed. */
void fl_table_print(fl_table *table);

#endif
