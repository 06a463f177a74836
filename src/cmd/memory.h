/*
 * memory.h - how the command's allocator deals with large messages.
 */
#ifndef FL_CMD_MEMORY_H
#define FL_CMD_MEMORY_H

/* Before anything is allocated. A preference, which may go unheard. */
void fl_memory_tune(void);

#endif
