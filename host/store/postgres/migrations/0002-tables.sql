-- A tenant is a principal, by the id of its own store. It has up to two homes: the scopes of the user, and the store.
-- Every key begins with the tenant, and every foreign key includes it.
CREATE DOMAIN memcell.home_kind AS text CHECK (VALUE IN ('user', 'store'));

CREATE TABLE memcell.homes (
  tenant uuid NOT NULL,
  kind memcell.home_kind NOT NULL,
  -- Another one for each home, also for one that is made anew after an erasure.
  born uuid NOT NULL DEFAULT gen_random_uuid(),
  -- The user's id. NULL if nobody has told whose store it is.
  user_id text COLLATE "C",
  -- Those that have ever had a file.
  scopes text[] NOT NULL DEFAULT '{}',
  -- How many change sets it has had.
  commits bigint NOT NULL DEFAULT 0,
  -- When its last file was changed: no two change sets have the same time.
  changed_us bigint NOT NULL DEFAULT 0,
  -- The end of its history.
  seq bigint NOT NULL DEFAULT 0,
  hash text NOT NULL DEFAULT repeat('0', 64),
  -- The bytes of the contents that the history keeps, and when old ones were last looked for.
  kept_bytes bigint NOT NULL DEFAULT 0,
  aged_ms bigint NOT NULL DEFAULT 0,
  -- Of a home that was copied: where files come from that no version knows, as it was there. NULL of others.
  unknown text,
  PRIMARY KEY (tenant, kind)
);

-- Contents by their hash, once for each home. A content outlives its file, for as long as the history keeps it.
CREATE TABLE memcell.contents (
  tenant uuid NOT NULL,
  kind memcell.home_kind NOT NULL,
  sha256 bytea NOT NULL CHECK (octet_length(sha256) = 32),
  content bytea NOT NULL,
  -- The change set that has brought it.
  commit_no bigint NOT NULL,
  -- Whether the history keeps it. A file can have a content that the history keeps no more.
  is_kept boolean NOT NULL DEFAULT true,
  PRIMARY KEY (tenant, kind, sha256),
  FOREIGN KEY (tenant, kind) REFERENCES memcell.homes
);

CREATE TABLE memcell.files (
  tenant uuid NOT NULL,
  kind memcell.home_kind NOT NULL,
  scope text COLLATE "C" NOT NULL,
  path text COLLATE "C" NOT NULL,
  sha256 bytea NOT NULL,
  bytes integer NOT NULL,
  changed_us bigint NOT NULL,
  -- When the content was written, if that was before: of a file that was copied, until it changes. NULL of others.
  written_us bigint,
  -- Where the content comes from. All NULL of a file that no version has written.
  origin_seq bigint,
  origin_sha256 bytea,
  origin_class text,
  origin_trust text,
  origin_ms bigint,
  origin_kind text,
  is_stated boolean NOT NULL GENERATED ALWAYS AS (
    coalesce(origin_class NOT IN ('unstated', 'owner_edit') OR origin_trust NOT IN ('unstated', 'owner_edit'), false)
  ) STORED,
  PRIMARY KEY (tenant, kind, scope, path),
  FOREIGN KEY (tenant, kind, sha256) REFERENCES memcell.contents
);
CREATE INDEX files_by_content ON memcell.files (tenant, kind, sha256);
CREATE INDEX files_stated ON memcell.files (tenant, kind) WHERE is_stated;

-- The history: each change set with its versions, as lines of JSON that are chained by their hashes. Only ever added to.
CREATE TABLE memcell.changes (
  tenant uuid NOT NULL,
  kind memcell.home_kind NOT NULL,
  commit_no bigint NOT NULL,
  -- The change set's own id, by which a host finds out whether it was committed.
  id uuid NOT NULL,
  lines text[] NOT NULL,
  PRIMARY KEY (tenant, kind, commit_no),
  FOREIGN KEY (tenant, kind) REFERENCES memcell.homes
);

-- What hosts keep about a user beside the scopes.
CREATE TABLE memcell.records (
  tenant uuid NOT NULL,
  record_kind text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  body text NOT NULL,
  PRIMARY KEY (tenant, record_kind, name)
);

-- What the owner of a store has granted. The text from which it is made is a file of the store.
CREATE TABLE memcell.grants (
  tenant uuid NOT NULL,
  grantee uuid NOT NULL,
  level text NOT NULL,
  granted_ms bigint NOT NULL,
  expires_ms bigint,
  PRIMARY KEY (tenant, grantee)
);
CREATE INDEX grants_by_grantee ON memcell.grants (grantee);

-- The stores that a principal leaves out, though it was granted something.
CREATE TABLE memcell.left_stores (
  tenant uuid NOT NULL,
  store uuid NOT NULL,
  PRIMARY KEY (tenant, store)
);

-- Users who were erased, as long as something is left to do.
CREATE TABLE memcell.erased (
  tenant uuid NOT NULL,
  id uuid NOT NULL,
  erased_ms bigint NOT NULL,
  PRIMARY KEY (tenant, id)
);
