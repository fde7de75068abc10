-- Begins the work of a host for one principal: nothing is visible before. Then waits for homes, in the order that it is
-- told.
CREATE FUNCTION memcell.enter(
  who uuid, at_ms bigint, is_relaxed boolean, vouched_read uuid[], vouched_write uuid[], locks bigint[], lock_ms integer
) RETURNS void LANGUAGE plpgsql
AS $$
DECLARE
  lock bigint;
BEGIN
  PERFORM set_config('memcell.principal', who::text, true),
    set_config('memcell.now_ms', at_ms::text, true),
    set_config('memcell.vouched_read', vouched_read::text, true),
    set_config('memcell.vouched_write', vouched_write::text, true),
    set_config('plan_cache_mode', 'force_generic_plan', true),
    set_config('array_nulls', 'on', true);
  IF is_relaxed THEN
    PERFORM set_config('synchronous_commit', 'off', true);
  ELSIF current_setting('synchronous_commit') = 'off' THEN
    PERFORM set_config('synchronous_commit', 'on', true);
  END IF;
  IF cardinality(locks) > 0 THEN
    PERFORM set_config('lock_timeout', greatest(lock_ms, 1)::text, true);
    FOREACH lock IN ARRAY locks LOOP
      PERFORM pg_advisory_xact_lock(lock);
    END LOOP;
  END IF;
  -- Other hosts keep rows and tables only for an instant, but an administrator can keep them for long.
  PERFORM set_config('lock_timeout', greatest(lock_ms, 1000)::text, true);
END
$$;

-- Removes contents that the history does not keep and no file has.
CREATE FUNCTION memcell.drop_contents(of_tenant uuid, of_kind text, hashes bytea[]) RETURNS void LANGUAGE sql
SECURITY DEFINER SET search_path = memcell, pg_temp
AS $$
  DELETE FROM contents c
  WHERE c.tenant = of_tenant AND c.kind = of_kind AND c.sha256 = ANY (hashes) AND NOT c.is_kept
    AND NOT EXISTS (
      SELECT FROM files f WHERE f.tenant = c.tenant AND f.kind = c.kind AND f.sha256 = c.sha256
    )
$$;

-- Gives a content the bytes that its hash stands for, if somebody has changed them.
CREATE FUNCTION memcell.renew_contents(of_tenant uuid, of_kind text, hashes bytea[], contents bytea[]) RETURNS void LANGUAGE sql
SECURITY DEFINER SET search_path = memcell, pg_temp
AS $$
  UPDATE contents c SET content = n.content FROM unnest(hashes, contents) AS n (sha256, content)
  WHERE c.tenant = of_tenant AND c.kind = of_kind AND c.sha256 = n.sha256
    AND c.content <> n.content AND sha256(n.content) = n.sha256
$$;

-- Files whose contents somebody has changed get the hashes of what is there: an edit, of which no version says where it
-- comes from. The history keeps none of them.
CREATE FUNCTION memcell.accept_edits(of_tenant uuid, of_kind text) RETURNS void LANGUAGE plpgsql
SECURITY DEFINER SET search_path = memcell, pg_temp
AS $$
DECLARE
  edited contents;
BEGIN
  FOR edited IN
    SELECT * FROM contents c WHERE c.tenant = of_tenant AND c.kind = of_kind AND sha256(c.content) <> c.sha256
  LOOP
    INSERT INTO contents (tenant, kind, sha256, content, commit_no, is_kept)
    SELECT of_tenant, of_kind, sha256(edited.content), edited.content, edited.commit_no, false
    WHERE EXISTS (SELECT FROM files f WHERE f.tenant = of_tenant AND f.kind = of_kind AND f.sha256 = edited.sha256)
    ON CONFLICT DO NOTHING;
    UPDATE files f SET sha256 = sha256(edited.content), bytes = octet_length(edited.content)
    WHERE f.tenant = of_tenant AND f.kind = of_kind AND f.sha256 = edited.sha256;
    DELETE FROM contents c WHERE c.tenant = of_tenant AND c.kind = of_kind AND c.sha256 = edited.sha256;
    UPDATE homes h SET kept_bytes = greatest(h.kept_bytes - octet_length(edited.content), 0)
    WHERE h.tenant = of_tenant AND h.kind = of_kind AND edited.is_kept;
  END LOOP;
END
$$;

-- Forgets contents in the history. What a file still has can be read as this file.
CREATE FUNCTION memcell.forget_contents(of_tenant uuid, of_kind text, hashes bytea[]) RETURNS void LANGUAGE plpgsql
AS $$
DECLARE
  freed bigint;
BEGIN
  WITH forgotten AS (
    UPDATE memcell.contents SET is_kept = false
    WHERE tenant = of_tenant AND kind = of_kind AND sha256 = ANY (hashes) AND is_kept
    RETURNING octet_length(content) AS bytes
  )
  SELECT coalesce(sum(bytes), 0) INTO freed FROM forgotten;
  UPDATE memcell.homes SET kept_bytes = kept_bytes - freed WHERE tenant = of_tenant AND kind = of_kind;
  PERFORM memcell.drop_contents(of_tenant, of_kind, hashes);
END
$$;

-- Forgets the oldest contents as long as the history keeps more than it may.
CREATE FUNCTION memcell.prune_contents(of_tenant uuid, of_kind text, bytes_max bigint) RETURNS void LANGUAGE plpgsql
AS $$
DECLARE
  excess bigint;
BEGIN
  SELECT kept_bytes - bytes_max INTO excess FROM memcell.homes WHERE tenant = of_tenant AND kind = of_kind;
  IF excess > 0 THEN
    PERFORM memcell.forget_contents(of_tenant, of_kind, array(
      SELECT sha256 FROM (
        SELECT sha256, sum(octet_length(content)) OVER (ORDER BY commit_no, sha256) - octet_length(content) AS before
        FROM memcell.contents WHERE tenant = of_tenant AND kind = of_kind AND is_kept
      ) AS oldest WHERE before < excess
    ));
  END IF;
END
$$;

-- Makes a change set of one home. Raises MC001 if a file is not as the caller has read it. A file has the hash NULL if there is
-- none. Of a content that the home has, `contents` has NULL. The history keeps what a version has written, except `forgotten`.
CREATE FUNCTION memcell.commit_change(
  of_tenant uuid, of_kind text, of_user text, change uuid, at_us bigint,
  seen_scopes text[], seen_paths text[], seen_hashes bytea[],
  gone_scopes text[], gone_paths text[],
  put_scopes text[], put_paths text[], put_hashes bytea[], put_bytes integer[],
  origin_seqs bigint[], origin_classes text[], origin_trusts text[], origin_times bigint[], origin_kinds text[],
  contents bytea[], forgotten bytea[],
  version_lines text[], head_seq bigint, head_hash text, aged_at_ms bigint, bytes_max bigint
) RETURNS void LANGUAGE plpgsql
AS $$
DECLARE
  home memcell.homes;
  added bigint;
BEGIN
  INSERT INTO memcell.homes AS h (tenant, kind, user_id, commits) VALUES (of_tenant, of_kind, of_user, 1)
  ON CONFLICT (tenant, kind) DO UPDATE SET user_id = coalesce(excluded.user_id, h.user_id), commits = h.commits + 1
  RETURNING h.* INTO home;
  IF EXISTS (
    SELECT FROM unnest(seen_scopes, seen_paths, seen_hashes) AS s (scope, path, sha256)
    WHERE s.sha256 IS DISTINCT FROM (
      SELECT f.sha256 FROM memcell.files f
      WHERE f.tenant = of_tenant AND f.kind = of_kind AND f.scope = s.scope AND f.path = s.path
    )
  ) THEN
    RAISE EXCEPTION 'a file has changed since it was read' USING ERRCODE = 'MC001';
  END IF;
  FOR at IN 1 .. cardinality(gone_paths) LOOP
    DELETE FROM memcell.files f
    WHERE f.tenant = of_tenant AND f.kind = of_kind AND f.scope = gone_scopes[at] AND f.path = gone_paths[at];
  END LOOP;
  IF cardinality(forgotten) > 0 THEN
    PERFORM memcell.forget_contents(of_tenant, of_kind, forgotten);
  END IF;
  IF EXISTS (
    SELECT FROM unnest(put_hashes, contents) AS n (sha256, content)
    WHERE n.content <> (
      SELECT c.content FROM memcell.contents c WHERE c.tenant = of_tenant AND c.kind = of_kind AND c.sha256 = n.sha256
    )
  ) THEN
    PERFORM memcell.renew_contents(of_tenant, of_kind, put_hashes, contents);
  END IF;
  WITH new AS (
    INSERT INTO memcell.contents AS c (tenant, kind, sha256, content, commit_no, is_kept)
    SELECT DISTINCT ON (n.sha256) of_tenant, of_kind, n.sha256, n.content, home.commits, n.seq IS NOT NULL
    FROM unnest(put_hashes, contents, origin_seqs) AS n (sha256, content, seq) WHERE n.content IS NOT NULL
    ORDER BY n.sha256, n.seq
    ON CONFLICT (tenant, kind, sha256) DO UPDATE SET is_kept = true, commit_no = excluded.commit_no
      WHERE NOT c.is_kept AND excluded.is_kept
    RETURNING CASE WHEN c.is_kept THEN octet_length(c.content) END AS bytes
  ), again AS (
    UPDATE memcell.contents c SET is_kept = true, commit_no = home.commits
    WHERE c.tenant = of_tenant AND c.kind = of_kind AND NOT c.is_kept AND c.sha256 = ANY (array(
      SELECT n.sha256 FROM unnest(put_hashes, contents, origin_seqs) AS n (sha256, content, seq)
      WHERE n.content IS NULL AND n.seq IS NOT NULL
    ))
    RETURNING octet_length(c.content) AS bytes
  )
  SELECT coalesce(sum(bytes), 0) INTO added FROM (SELECT bytes FROM new UNION ALL SELECT bytes FROM again) AS kept;
  home.changed_us := greatest(home.changed_us + 1, at_us);
  INSERT INTO memcell.files (
    tenant, kind, scope, path, sha256, bytes, changed_us,
    origin_seq, origin_sha256, origin_class, origin_trust, origin_ms, origin_kind
  )
  SELECT of_tenant, of_kind, p.scope, p.path, p.sha256, p.bytes, home.changed_us,
    p.seq, CASE WHEN p.seq IS NOT NULL THEN p.sha256 END, p.class, p.trust, p.ms, p.origin_kind
  FROM unnest(
    put_scopes, put_paths, put_hashes, put_bytes,
    origin_seqs, origin_classes, origin_trusts, origin_times, origin_kinds
  ) AS p (scope, path, sha256, bytes, seq, class, trust, ms, origin_kind)
  ON CONFLICT (tenant, kind, scope, path) DO UPDATE SET
    sha256 = excluded.sha256, bytes = excluded.bytes, changed_us = excluded.changed_us, written_us = NULL,
    origin_seq = excluded.origin_seq, origin_sha256 = excluded.origin_sha256, origin_class = excluded.origin_class,
    origin_trust = excluded.origin_trust, origin_ms = excluded.origin_ms, origin_kind = excluded.origin_kind;
  IF EXISTS (
    SELECT FROM memcell.contents
    WHERE tenant = of_tenant AND kind = of_kind AND sha256 = ANY (seen_hashes) AND NOT is_kept
  ) THEN
    PERFORM memcell.drop_contents(of_tenant, of_kind, seen_hashes);
  END IF;
  UPDATE memcell.homes SET
    scopes = CASE WHEN scopes @> put_scopes THEN scopes ELSE array(SELECT DISTINCT unnest(scopes || put_scopes)) END,
    changed_us = home.changed_us, seq = coalesce(head_seq, seq), hash = coalesce(head_hash, hash),
    kept_bytes = kept_bytes + added, aged_ms = coalesce(aged_at_ms, aged_ms)
  WHERE tenant = of_tenant AND kind = of_kind;
  INSERT INTO memcell.changes (tenant, kind, commit_no, id, lines)
  VALUES (of_tenant, of_kind, home.commits, change, version_lines);
  IF home.kept_bytes + added > bytes_max THEN
    PERFORM memcell.prune_contents(of_tenant, of_kind, bytes_max);
  END IF;
END
$$;

-- Takes away everything of a tenant, who must act. What others have of it, hosts undo later: see `erased`.
CREATE FUNCTION memcell.erase(id uuid, at_ms bigint) RETURNS void LANGUAGE plpgsql
SECURITY DEFINER SET search_path = memcell, pg_temp
AS $$
DECLARE
  who constant uuid := memcell.principal();
BEGIN
  IF who IS NULL THEN
    RAISE EXCEPTION 'nobody acts' USING ERRCODE = 'MC003';
  END IF;
  DELETE FROM files WHERE tenant = who;
  DELETE FROM contents WHERE tenant = who;
  DELETE FROM changes WHERE tenant = who;
  DELETE FROM homes WHERE tenant = who;
  DELETE FROM records WHERE tenant = who;
  INSERT INTO erased (tenant, id, erased_ms) VALUES (who, erase.id, at_ms);
END
$$;

-- Refuses if a store that is only read has changed since, and keeps others from changing it until the commit. The version
-- of a home is its id `born`, and how many change sets it has had.
CREATE FUNCTION memcell.refuse_changed(tenants uuid[], versions text[], locks bigint[]) RETURNS void LANGUAGE plpgsql
AS $$
DECLARE
  lock bigint;
BEGIN
  FOREACH lock IN ARRAY locks LOOP
    PERFORM pg_advisory_xact_lock_shared(lock);
  END LOOP;
  IF EXISTS (
    SELECT FROM unnest(tenants, versions) AS t (tenant, version)
    LEFT JOIN memcell.homes h ON h.tenant = t.tenant AND h.kind = 'store'
    WHERE coalesce(h.born || ':' || h.commits, '') <> t.version
  ) THEN
    RAISE EXCEPTION 'a store has changed since it was read' USING ERRCODE = 'MC001';
  END IF;
END
$$;

-- Replaces some grants of a store. Only its owner can: see the policies.
CREATE FUNCTION memcell.set_grants(
  of_tenant uuid, grantees uuid[], levels text[], granted_times bigint[], expiry_times bigint[], revoked uuid[]
) RETURNS void LANGUAGE sql
AS $$
  DELETE FROM memcell.grants WHERE tenant = of_tenant AND grantee = ANY (revoked);
  INSERT INTO memcell.grants (tenant, grantee, level, granted_ms, expires_ms)
  SELECT of_tenant, * FROM unnest(grantees, levels, granted_times, expiry_times)
  ON CONFLICT (tenant, grantee) DO UPDATE SET
    level = excluded.level, granted_ms = excluded.granted_ms, expires_ms = excluded.expires_ms;
$$;
