/*
 * structured.c - a tool that answers in fields, for programs, and in words,
 * for models.
 *
 *     structured [URL]...
 *
 *     fairlead call call statistics 'numbers=[3,1,4,1,5]' -- ./structured
 *
 * The output schema tells clients what fields there are, and the answer is held
 * against it: a tool cannot promise one thing and say another. fl_writer writes
 * the JSON; whatever goes wrong on the way is told instead of the answer.
 */
#include <fairlead/fairlead.h>

/* What fl_raw_number() gives for what is no number: none can be less. */
#define NO_NUMBER (-1.0 / 0.0)

struct summary {
    int64_t count;
    double least, most, sum;
};

/* False: something in the list is no number. */
static bool add_up(fl_span numbers, struct summary *all)
{
    for (size_t i = 0;; i++) {
        fl_span value = fl_raw_at(numbers, i);
        double number = fl_raw_number(value, NO_NUMBER);
        if (value.len == 0)
            return true;
        if (number == NO_NUMBER)
            return false;
        all->least = i == 0 || number < all->least ? number : all->least;
        all->most = i == 0 || number > all->most ? number : all->most;
        all->sum += number;
        all->count++;
    }
}

static void write_summary(fl_writer *writer, const struct summary *all)
{
    fl_write_object(writer, NULL);
    fl_write_integer(writer, "count", all->count);
    fl_write_number(writer, "mean", all->sum / (double)all->count);
    fl_write_array(writer, "range");
    fl_write_number(writer, NULL, all->least);
    fl_write_number(writer, NULL, all->most);
    fl_write_end(writer);
    fl_write_end(writer);
}

static void statistics(fl_call *call, void *user)
{
    struct summary all = {0};

    (void)user;
    if (!add_up(fl_call_raw(call, "numbers"), &all) || all.count == 0) {
        fl_call_fail(call, "numbers: want one number at least, and no others");
        return;
    }
    fl_writer *writer = fl_writer_new();
    write_summary(writer, &all);
    fl_call_addf(call, "%lld numbers from %g to %g", (long long)all.count,
                 all.least, all.most);
    fl_call_set_structured(call, fl_writer_json(writer));
    fl_writer_free(writer);
    fl_call_finish(call);
}

int main(int argc, char **argv)
{
    static const char *const only_stdio[] = {"stdio:", NULL};
    fl_server *server = fl_server_new("structured", "1.0");
    fl_tool tool = {
        .name = "statistics",
        .description = "How many numbers there are, their mean and their range",
        /* fl_raw_at() counts from the front: good for lists that are short,
         * and so this one has to be */
        .input_schema = "{\"type\":\"object\",\"properties\":{\"numbers\":{"
                        "\"type\":\"array\",\"items\":{\"type\":\"number\"},"
                        "\"minItems\":1,\"maxItems\":1000}},"
                        "\"required\":[\"numbers\"]}",
        .output_schema = "{\"type\":\"object\",\"properties\":{"
                         "\"count\":{\"type\":\"integer\"},"
                         "\"mean\":{\"type\":\"number\"},"
                         "\"range\":{\"type\":\"array\",\"items\":{"
                         "\"type\":\"number\"}}},"
                         "\"required\":[\"count\",\"mean\",\"range\"]}",
        .call = statistics,
    };

    if (server == NULL || fl_server_add_tool(server, &tool) != FL_OK)
        return fl_server_fail(server);
    return fl_server_run(server, argc > 1 ? (const char *const *)(argv + 1)
                                          : only_stdio);
}
