/** Grows with every change of {@link TABLES}; stands in `user_version` of the file. */
export const HOME_VERSION = 1

/** The tables of the sandbox's data; `body`, `incidents`, `facts` and `answer` are JSON. */
export const TABLES = `
  CREATE TABLE IF NOT EXISTS pipe (
    id TEXT NOT NULL UNIQUE,
    organization_id TEXT NOT NULL,
    service_id TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    body TEXT NOT NULL,
    incidents TEXT NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS endpoint (
    organization_id TEXT NOT NULL,
    service_id TEXT NOT NULL,
    body TEXT NOT NULL,
    UNIQUE (organization_id, service_id)
  ) STRICT;
  CREATE TABLE IF NOT EXISTS alert (
    id TEXT NOT NULL UNIQUE,
    at INTEGER NOT NULL,
    body TEXT NOT NULL,
    incidents TEXT NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS said (
    what TEXT NOT NULL UNIQUE
  ) STRICT;
  CREATE TABLE IF NOT EXISTS request (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    facts TEXT NOT NULL,
    answer TEXT
  ) STRICT`
