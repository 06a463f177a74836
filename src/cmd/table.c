/*
 * table.c - rows of cells whose columns line up, for people.
 *
 * Letters are counted, not columns: what a terminal shows two columns wide, or
 * none, is rare in the names of programs, and shifts its own row only.
 */
#include "cmd/table.h"

#include "base/span.h"

enum {
    CELL_MAX = 64 * 1024,
    GAP = 2,
    LAST_MIN = 16, /* letters of the last column, however narrow it is, */
    CUT_MIN = 10,  /* and of others that may be cut */
};

void fl_table_init(fl_table *table, const fl_term *to, size_t room,
                   const fl_table_column *columns, unsigned count)
{
    *table = (fl_table){
        .to = to,
        .columns = columns,
        .count = count,
        .room = room,
    };
    for (unsigned i = 0; i < count; i++)
        fl_buf_init(&table->cell[i], CELL_MAX);
}

void fl_table_deinit(fl_table *table)
{
    for (unsigned i = 0; i < table->count; i++)
        fl_buf_reset(&table->cell[i]);
}

static bool begins_letter(char c)
{
    return ((unsigned char)c & 0xc0) != 0x80;
}

static size_t count_letters(fl_span text)
{
    size_t n = 0;

    for (size_t i = 0; i < text.len; i++)
        n += begins_letter(text.ptr[i]);
    return n;
}

/* Line ends and tabs would break the row. */
static fl_status append(fl_buf *cell, fl_span text)
{
    fl_status rc = FL_OK;

    while (text.len > 0 && rc == FL_OK) {
        size_t line = fl_span_find(text, '\n');
        size_t len = fl_span_find((fl_span){text.ptr, line}, '\t');
        rc = fl_term_spell(cell, (fl_span){text.ptr, len});
        text = fl_span_from(text, len);
        if (text.len > 0 && rc == FL_OK) {
            rc = fl_buf_append(cell, FL_SPAN(" "));
            text = fl_span_from(text, 1);
        }
    }
    return rc;
}

void fl_table_put(fl_table *table, unsigned column, fl_span text)
{
    fl_status rc = append(&table->cell[column], text);

    if (table->status == FL_OK)
        table->status = rc;
}

/* Room for `max` letters, the last of them an ellipsis. */
static fl_span fit(fl_span text, size_t max)
{
    size_t letters = 0, i = 0;

    while (i < text.len && letters + begins_letter(text.ptr[i]) < max)
        letters += begins_letter(text.ptr[i++]);
    return (fl_span){text.ptr, i};
}

static void pad(const fl_table *table, size_t n)
{
    fprintf(table->to->file, "%*s", (int)n, "");
}

static void print_cell(const fl_table *table, unsigned column, fl_span text)
{
    size_t width = table->width[column], letters = count_letters(text);
    bool is_last = column + 1 == table->count, is_cut = letters > width;
    size_t blank = is_cut ? 0 : width - letters;

    if (is_last && text.len == 0)
        return;
    pad(table, GAP); /* before the first it is the indent */
    if (is_cut)
        text = fit(text, width);
    if (table->columns[column].right)
        pad(table, blank);
    if (text.len > 0)
        fwrite(text.ptr, 1, text.len, table->to->file);
    if (is_cut)
        fputs("\xe2\x80\xa6", table->to->file);
    if (!table->columns[column].right && !is_last)
        pad(table, blank);
}

static void measure(fl_table *table, unsigned column, fl_span text)
{
    size_t letters = count_letters(text), max = table->columns[column].max;

    if (max > 0 && letters > max)
        letters = max;
    if (letters > table->width[column])
        table->width[column] = letters;
}

/* Cells that nothing was put into have a dash, so that a row can be cut up
 * again at its blanks; but for the last. */
void fl_table_end_row(fl_table *table)
{
    for (unsigned i = 0; i < table->count; i++) {
        fl_span text = fl_buf_view(&table->cell[i]);
        if (text.len == 0 && i + 1 < table->count)
            text = FL_SPAN("-");
        if (table->printing)
            print_cell(table, i, text);
        else
            measure(table, i, text);
        fl_buf_clear(&table->cell[i]);
    }
    if (table->printing)
        fputc('\n', table->to->file);
}

void fl_table_titles(fl_table *table)
{
    for (unsigned i = 0; i < table->count; i++)
        fl_table_put(table, i, fl_span_of(table->columns[i].title));
    fl_table_end_row(table);
}

static size_t count_used(const fl_table *table)
{
    size_t used = GAP;

    for (unsigned i = 0; i + 1 < table->count; i++)
        used += table->width[i] + GAP;
    return used;
}

/* Takes a letter from the widest of those that may be cut. */
static bool shrink(fl_table *table)
{
    size_t *widest = NULL;

    for (unsigned i = 0; i + 1 < table->count; i++) {
        size_t *width = &table->width[i];
        if (table->columns[i].max > 0 && *width > CUT_MIN &&
            (widest == NULL || *width > *widest))
            widest = width;
    }
    if (widest != NULL)
        --*widest;
    return widest != NULL;
}

/* The last column has what the others leave, and they leave it a little. */
void fl_table_print(fl_table *table)
{
    size_t *last = &table->width[table->count - 1];
    size_t least = *last < LAST_MIN ? *last : LAST_MIN;

    table->printing = true;
    if (table->room == 0)
        return;
    while (count_used(table) + least > table->room)
        if (!shrink(table))
            break;
    size_t used = count_used(table);
    size_t left = table->room > used + least ? table->room - used : least;
    if (*last > left)
        *last = left;
}
