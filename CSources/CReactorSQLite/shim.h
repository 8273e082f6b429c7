#ifndef CREACTORSQLITE_SHIM_H
#define CREACTORSQLITE_SHIM_H

#include <sqlite3.h>

// Swift cannot call functions of variable arguments.

/// Whether the last connection that is closed writes the log back, and removes it.
static inline int rr_sqlite_set_checkpoint_on_close(sqlite3 *database, int does) {
  return sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, !does, (int *)0);
}

#endif
