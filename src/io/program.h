/*
 * program.h - which files the name of a program may mean.
 */
#ifndef FL_IO_PROGRAM_H
#define FL_IO_PROGRAM_H

#include <fairlead/types.h>

/*
 * A name with a slash is the file itself; any other is looked for in each
 * directory of the PATH in `envp` (NULL: empty), an empty one being the
 * current directory. No PATH: /bin and /usr/bin, as execvp() has it. Whether
 * the files exist is for execve() to say. NULL-terminated; NULL when there is
 * no memory. It is all one block: free it with fl_mem_free().
 */
FL_MUST_USE char **fl_program_files(const char *name, const char *const *envp);

#endif
