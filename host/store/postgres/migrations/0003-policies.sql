-- Who acts, and on whose word: settings of the transaction, which the host sets in one place. Unset means that nothing is
-- visible. In a policy these functions are scalar subqueries, so that a statement asks each of them once.
CREATE FUNCTION memcell.principal() RETURNS uuid LANGUAGE sql STABLE
AS $$ SELECT nullif(current_setting('memcell.principal', true), '')::uuid $$;

-- The hosts' clock: grants end by it.
CREATE FUNCTION memcell.now_ms() RETURNS bigint LANGUAGE sql STABLE
AS $$ SELECT nullif(current_setting('memcell.now_ms', true), '')::bigint $$;

-- Stores for which the embedding program vouches. Nobody has granted them.
CREATE FUNCTION memcell.vouched(for_writing boolean) RETURNS uuid[] LANGUAGE sql STABLE
AS $$
  SELECT coalesce(
    nullif(current_setting(CASE WHEN for_writing THEN 'memcell.vouched_write' ELSE 'memcell.vouched_read' END, true), '')::uuid[],
    '{}'
  )
$$;

-- The stores of others that the principal reaches.
CREATE FUNCTION memcell.reached_stores(for_writing boolean) RETURNS uuid[] LANGUAGE sql STABLE
AS $$
  SELECT memcell.vouched(for_writing) || array(
    SELECT tenant FROM memcell.grants
    WHERE grantee = memcell.principal()
      AND (expires_ms IS NULL OR expires_ms > memcell.now_ms())
      AND (level = 'readwrite' OR NOT for_writing)
  )
$$;

DO $$
DECLARE
  name text;
  own constant text := 'tenant = (SELECT memcell.principal())';
  reached constant text := own || ' OR (kind = ''store'' AND tenant = ANY ((SELECT memcell.reached_stores(%L))::uuid[]))';
BEGIN
  FOREACH name IN ARRAY '{homes,contents,files,changes,records,grants,left_stores,erased}'::text[] LOOP
    EXECUTE format('ALTER TABLE memcell.%I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE memcell.%I FORCE ROW LEVEL SECURITY', name);
  END LOOP;
  FOREACH name IN ARRAY '{homes,contents,files,changes}'::text[] LOOP
    EXECUTE format('CREATE POLICY reads ON memcell.%I FOR SELECT USING (' || reached || ')', name, false);
    EXECUTE format('CREATE POLICY adds ON memcell.%I FOR INSERT WITH CHECK (' || reached || ')', name, true);
    EXECUTE format('CREATE POLICY changes ON memcell.%1$I FOR UPDATE USING (' || replace(reached, '%L', '%2$L')
      || ') WITH CHECK (' || replace(reached, '%L', '%2$L') || ')', name, true);
    EXECUTE format('CREATE POLICY removes ON memcell.%I FOR DELETE USING (' || reached || ')', name, true);
  END LOOP;
  FOREACH name IN ARRAY '{records,erased}'::text[] LOOP
    EXECUTE format('CREATE POLICY own ON memcell.%I USING (' || own || ') WITH CHECK (' || own || ')', name);
  END LOOP;
END
$$;

-- A grantee sees that it was granted something. Only the owner of a store grants.
CREATE POLICY own ON memcell.grants
  USING (tenant = (SELECT memcell.principal())) WITH CHECK (tenant = (SELECT memcell.principal()));
CREATE POLICY granted ON memcell.grants FOR SELECT USING (grantee = (SELECT memcell.principal()));
CREATE POLICY renounced ON memcell.grants FOR DELETE USING (grantee = (SELECT memcell.principal()));

-- A principal leaves stores out. Whose store it is can forget that.
CREATE POLICY own ON memcell.left_stores
  USING (tenant = (SELECT memcell.principal())) WITH CHECK (tenant = (SELECT memcell.principal()));
CREATE POLICY left_out ON memcell.left_stores FOR SELECT USING (store = (SELECT memcell.principal()));
CREATE POLICY forgotten ON memcell.left_stores FOR DELETE USING (store = (SELECT memcell.principal()));

-- The functions that list, or that count for others, run as the owner of the tables. It sees who has a memory, and no
-- memory.
CREATE POLICY listed ON memcell.homes FOR SELECT TO memcell_owner USING (true);
CREATE POLICY listed ON memcell.erased FOR SELECT TO memcell_owner USING (true);
CREATE POLICY counted ON memcell.grants FOR SELECT TO memcell_owner USING (true);

-- Which of these files were applied is no secret.
ALTER TABLE memcell.migrations ENABLE ROW LEVEL SECURITY;
ALTER TABLE memcell.migrations FORCE ROW LEVEL SECURITY;
CREATE POLICY reads ON memcell.migrations FOR SELECT USING (true);
CREATE POLICY adds ON memcell.migrations FOR INSERT TO memcell_owner WITH CHECK (true);
