-- Reads that every call needs are functions in PL/pgSQL: a session plans each of their statements once, also behind a
-- pooler. To plan a statement under these policies takes ten times as long as to run it. A plan that fits all parameters
-- must not read whole tables, so whatever is looked up by its key is a subquery, which no plan joins in another way.

-- What there is of a home beside its files; no row if there is no home.
CREATE FUNCTION memcell.home_facts(of_tenant uuid, of_kind text) RETURNS TABLE (
  scopes text[], version text, commits float8, seq float8, hash text, aged_ms float8, unknown text, has_stated boolean, has_last boolean
) LANGUAGE plpgsql STABLE
AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT h.scopes, h.born || ':' || h.commits, h.commits::float8, h.seq::float8, h.hash, h.aged_ms::float8, h.unknown,
    EXISTS (SELECT FROM memcell.files f WHERE f.tenant = of_tenant AND f.kind = of_kind AND f.is_stated),
    h.commits = 0 OR EXISTS (
      SELECT FROM memcell.changes c WHERE c.tenant = of_tenant AND c.kind = of_kind AND c.commit_no = h.commits
    )
  FROM memcell.homes h WHERE h.tenant = of_tenant AND h.kind = of_kind;
END
$$;

-- Files at some places, in their order. `obstacle` says why a place can have no file: `folder` if files are below it,
-- `file` if a file is in the place of one of its folders.
CREATE FUNCTION memcell.find_files(
  of_tenant uuid, of_kind text, scopes text[], paths text[], with_contents boolean
) RETURNS TABLE (
  scope text, path text, sha256 text, bytes integer, changed_us float8,
  origin_seq float8, origin_sha256 text, origin_class text, origin_trust text, origin_ms float8, origin_kind text,
  content bytea, obstacle text
) LANGUAGE plpgsql STABLE
AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT p.scope, p.path, encode(f.sha256, 'hex'), f.bytes, f.changed_us::float8,
    f.origin_seq::float8, encode(f.origin_sha256, 'hex'), f.origin_class, f.origin_trust, f.origin_ms::float8, f.origin_kind,
    CASE WHEN with_contents THEN (
      SELECT c.content FROM memcell.contents c WHERE c.tenant = of_tenant AND c.kind = of_kind AND c.sha256 = f.sha256
    ) END,
    CASE
      WHEN f.path IS NOT NULL THEN NULL
      WHEN EXISTS (
        SELECT FROM memcell.files o
        WHERE o.tenant = of_tenant AND o.kind = of_kind AND o.scope = p.scope AND o.path > p.path || '/' AND o.path < p.path || '0'
      ) THEN 'folder'
      WHEN position('/' IN p.path) > 0 AND EXISTS (
        SELECT FROM memcell.files o
        WHERE o.tenant = of_tenant AND o.kind = of_kind AND o.scope = p.scope AND o.path = ANY (array(
          SELECT array_to_string((string_to_array(p.path, '/'))[:n], '/')
          FROM generate_series(1, cardinality(string_to_array(p.path, '/')) - 1) AS n
        ))
      ) THEN 'file'
    END
  FROM unnest(scopes, paths) WITH ORDINALITY AS p (scope, path, at)
  LEFT JOIN LATERAL (
    SELECT * FROM memcell.files f
    WHERE f.tenant = of_tenant AND f.kind = of_kind AND f.scope = p.scope AND f.path = p.path OFFSET 0
  ) AS f ON true
  ORDER BY p.at;
END
$$;

-- What a call will surely read of a home: its files, with the contents of the last changed ones as long as these are small
-- together. One file more than `files_max` means that there are more; then which ones come is left to the database.
CREATE FUNCTION memcell.first_files(of_tenant uuid, of_kind text, of_scopes text[], files_max integer, bytes_max integer)
RETURNS TABLE (
  scope text, path text, sha256 text, bytes integer, changed_us float8,
  origin_seq float8, origin_sha256 text, origin_class text, origin_trust text, origin_ms float8, origin_kind text,
  content bytea
) LANGUAGE plpgsql STABLE
AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT f.scope, f.path, encode(f.sha256, 'hex'), f.bytes, f.changed_us::float8,
    f.origin_seq::float8, encode(f.origin_sha256, 'hex'), f.origin_class, f.origin_trust, f.origin_ms::float8, f.origin_kind,
    CASE WHEN f.bytes_so_far <= bytes_max THEN (
      SELECT c.content FROM memcell.contents c WHERE c.tenant = of_tenant AND c.kind = of_kind AND c.sha256 = f.sha256
    ) END
  FROM (
    SELECT *, sum(bytes) OVER (ORDER BY changed_us DESC, scope, path) AS bytes_so_far
    FROM (
      SELECT * FROM memcell.files
      WHERE tenant = of_tenant AND kind = of_kind AND (of_scopes IS NULL OR scope = ANY (of_scopes))
      LIMIT files_max + 1
    ) AS found
  ) AS f;
END
$$;
