-- What a host asks about all tenants. It learns who has a memory, and nothing of it.
CREATE FUNCTION memcell.list_homes(of_kind text) RETURNS TABLE (tenant uuid, user_id text) LANGUAGE sql STABLE
SECURITY DEFINER SET search_path = memcell, pg_temp
AS $$ SELECT h.tenant, h.user_id FROM homes h WHERE h.kind = of_kind $$;

CREATE FUNCTION memcell.list_leaving() RETURNS TABLE (tenant uuid) LANGUAGE sql STABLE
SECURITY DEFINER SET search_path = memcell, pg_temp
AS $$ SELECT DISTINCT l.tenant FROM left_stores l $$;

CREATE FUNCTION memcell.list_erased() RETURNS TABLE (tenant uuid, id uuid, erased_ms bigint) LANGUAGE sql STABLE
SECURITY DEFINER SET search_path = memcell, pg_temp
AS $$ SELECT e.tenant, e.id, e.erased_ms FROM erased e $$;

-- How often the homes of some tenants were changed, in words that say nothing else.
CREATE FUNCTION memcell.home_versions(tenants uuid[]) RETURNS TABLE (tenant uuid, version text) LANGUAGE sql STABLE
SECURITY DEFINER SET search_path = memcell, pg_temp
AS $$
  SELECT h.tenant, string_agg(h.born || ':' || h.commits, ' ' ORDER BY h.kind)
  FROM homes h WHERE h.tenant = ANY (tenants) GROUP BY h.tenant
$$;

-- How many stores, other than one, have granted something to a principal that it does not leave out.
CREATE FUNCTION memcell.count_grants(of_grantee uuid, but_for uuid, at_ms bigint) RETURNS bigint LANGUAGE sql STABLE
SECURITY DEFINER SET search_path = memcell, pg_temp
AS $$
  SELECT count(*) FROM grants g
  WHERE g.grantee = of_grantee AND g.tenant <> but_for AND (g.expires_ms IS NULL OR g.expires_ms > at_ms)
    AND NOT EXISTS (SELECT FROM left_stores l WHERE l.tenant = of_grantee AND l.store = g.tenant)
$$;

CREATE POLICY counted ON memcell.left_stores FOR SELECT TO memcell_owner USING (true);

-- Forgets what was granted to and by the acting tenant up to a time, and what was left out of it.
CREATE FUNCTION memcell.forget_grants(until_ms bigint) RETURNS void LANGUAGE sql
AS $$
  DELETE FROM memcell.left_stores l
  WHERE NOT EXISTS (
    SELECT FROM memcell.grants g WHERE g.tenant = l.store AND g.grantee = l.tenant AND g.granted_ms > until_ms
  );
  DELETE FROM memcell.grants WHERE granted_ms <= until_ms;
$$;
