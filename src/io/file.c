/*
 * file.c - reading a file below a directory, whole.
 *
 * A disk may take its time, and a network's disk any time, so whoever has a
 * loop to turn reads on libuv's thread pool. All of it happens there: opening,
 * looking at what was opened, reading, and telling text from other bytes.
 * What the thread uses nobody else changes, down to a descriptor of the root;
 * so a reading nobody waits for any more is simply forgotten, and ends by
 * itself.
 *
 * A peer may ask for a thousand large files in one breath. Only a few are read
 * at a time: what has been read is not ours to drop, and the threads are faster
 * than the loop. Those that wait cost a path. The descriptor they share: while
 * it is open no other directory can have its device and inode.
 */
#include "io/file.h"

#include "base/mem.h"
#include "base/span.h"
#include "base/utf8.h"
#include "io/loop_impl.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK = 64 * 1024, AT_ONCE = 8 };

/* What is to be read next: the rest by the size it said it has, and then some,
 * for a file may be longer than that, and of some the system does not know. */
static size_t next_room(size_t size, size_t have, size_t max)
{
    size_t want = size > have ? size - have : CHUNK;
    size_t left = max - have + 1; /* the one past the limit is the proof */

    return want < left ? want : left;
}

static fl_status read_all(int fd, size_t size, size_t max, fl_buf *bytes)
{
    for (;;) {
        size_t room = next_room(size, fl_buf_len(bytes), max);
        char *at = fl_buf_reserve(bytes, room);
        if (at == NULL)
            return FL_E_NOMEM;
        ssize_t n = read(fd, at, room);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n == 0 ? FL_OK : FL_E_IO;
        fl_buf_commit(bytes, (size_t)n);
        if (fl_buf_len(bytes) > max)
            return FL_E_TOO_BIG;
    }
}

static fl_status read_regular(int fd, size_t max, fl_buf *bytes)
{
    struct stat info;

    if (fstat(fd, &info) != 0)
        return FL_E_IO;
    if (!S_ISREG(info.st_mode))
        return FL_E_NOT_FOUND;
    if ((uint64_t)info.st_size > max)
        return FL_E_TOO_BIG;
    return read_all(fd, (size_t)info.st_size, max, bytes);
}

fl_status fl_file_slurp(const fl_file_place *place, fl_buf *bytes)
{
    int fd;

    fl_buf_init(bytes, place->max + 1);
    fl_status rc = fl_below_open(place->root, place->path, place->how, &fd);
    if (rc == FL_OK)
        rc = read_regular(fd, place->max, bytes);
    fl_below_close(&fd);
    return rc;
}

/* A directory that files are being read below. */
typedef struct root {
    fl_list node; /* among the loop's */
    unsigned refs;
    int fd;
    dev_t device;
    ino_t inode;
} root;

struct fl_file_read {
    uv_work_t work;
    fl_list node; /* among those that wait */
    bool begun;
    root *root;
    fl_loop *loop;
    fl_file_place place;
    fl_buf bytes;
    fl_file_result result;
    fl_file_done *done; /* NULL once cancelled */
    void *user;
    char path[];
};

static bool is_text(fl_span bytes)
{
    return fl_span_find(bytes, '\0') == bytes.len && fl_utf8_valid(bytes);
}

static void work(uv_work_t *request)
{
    fl_file_read *read = request->data;
    fl_file_result *result = &read->result;

    result->status = fl_file_slurp(&read->place, &read->bytes);
    if (result->status != FL_OK)
        return;
    result->bytes = fl_buf_view(&read->bytes);
    result->is_text = is_text(result->bytes);
}

static root *find_root(const fl_loop *loop, const struct stat *info)
{
    for (fl_list *node = loop->roots.next; node != &loop->roots;
         node = node->next) {
        root *there = FL_LIST_ENTRY(node, root, node);
        if (there->device == info->st_dev && there->inode == info->st_ino)
            return there;
    }
    return NULL;
}

/* One of our own, for its owner may close his meanwhile. */
static fl_status open_root(fl_loop *loop, int fd, const struct stat *info,
                           root **out)
{
    root *made = fl_mem_alloc(sizeof *made);

    if (made == NULL)
        return FL_E_NOMEM;
    *made = (root){.device = info->st_dev, .inode = info->st_ino};
    made->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (made->fd < 0) {
        fl_mem_free(made);
        return FL_E_LIMIT;
    }
    fl_list_append(&loop->roots, &made->node);
    *out = made;
    return FL_OK;
}

static fl_status ref_root(fl_loop *loop, int fd, root **out)
{
    struct stat info;
    fl_status rc = FL_OK;

    *out = NULL;
    if (fstat(fd, &info) != 0)
        return FL_E_IO;
    *out = find_root(loop, &info);
    if (*out == NULL)
        rc = open_root(loop, fd, &info, out);
    if (rc == FL_OK)
        (*out)->refs++;
    return rc;
}

static void unref_root(root *used)
{
    if (used == NULL || --used->refs > 0)
        return;
    fl_list_remove(&used->node);
    fl_below_close(&used->fd);
    fl_mem_free(used);
}

static void free_read(fl_file_read *read)
{
    fl_list_remove(&read->node);
    unref_root(read->root);
    fl_buf_reset(&read->bytes);
    fl_mem_free(read);
}

static void after_work(uv_work_t *request, int status);

static void begin(fl_file_read *read)
{
    read->begun = true;
    read->loop->reading++;
    /* fails for want of a function only, and there is one */
    int rc = uv_queue_work(&read->loop->uv, &read->work, work, after_work);
    assert(rc == 0);
    (void)rc;
}

static void begin_next(fl_loop *loop)
{
    fl_list *node;

    while (loop->reading < AT_ONCE &&
           (node = fl_list_take(&loop->waiting)) != NULL)
        begin(FL_LIST_ENTRY(node, fl_file_read, node));
}

static void after_work(uv_work_t *request, int status)
{
    fl_file_read *read = request->data;

    (void)status; /* it is cancelled only by who does not want to be called */
    read->loop->reading--;
    begin_next(read->loop);
    if (read->done != NULL) {
        read->loop->live--;
        read->done(read->user, &read->result);
    }
    free_read(read);
}

/* With a path of its own; NULL when there is no memory. */
static fl_file_read *make(fl_loop *loop, const fl_file_place *place)
{
    size_t len = strlen(place->path) + 1;
    fl_file_read *read = fl_mem_zalloc(sizeof *read + len);

    if (read == NULL)
        return NULL;
    memcpy(read->path, place->path, len);
    read->work.data = read;
    read->loop = loop;
    read->place = *place;
    read->place.path = read->path;
    fl_list_init(&read->node);
    return read;
}

fl_status fl_file_read_start(fl_loop *loop, const fl_file_place *place,
                             fl_file_done *done, void *user,
                             fl_file_read **read)
{
    fl_file_read *made = make(loop, place);

    *read = NULL;
    if (made == NULL)
        return FL_E_NOMEM;
    made->done = done;
    made->user = user;
    fl_status rc = ref_root(loop, place->root, &made->root);
    if (rc != FL_OK) {
        free_read(made);
        return rc;
    }
    made->place.root = made->root->fd;
    fl_list_append(&loop->waiting, &made->node);
    loop->live++;
    begin_next(loop);
    *read = made;
    return FL_OK;
}

void fl_file_read_cancel(fl_file_read *read)
{
    read->done = NULL;
    read->loop->live--;
    if (read->begun)
        uv_cancel((uv_req_t *)&read->work); /* if no thread has it yet */
    else
        free_read(read);
}
