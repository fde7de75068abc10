-- Begins the work of a host for one principal: nothing is visible before. Then waits for homes, in the order that it is
-- told. Roles and databases can have settings of their own. Those that change how a value is written, read or found are
-- here as hosts need them: a number that comes back rounded would break the chain of a history.
CREATE OR REPLACE FUNCTION memcell.enter(
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
    set_config('search_path', 'pg_catalog, pg_temp', true),
    set_config('row_security', 'on', true),
    set_config('extra_float_digits', '1', true),
    set_config('bytea_output', 'hex', true),
    set_config('DateStyle', 'ISO, MDY', true),
    set_config('IntervalStyle', 'postgres', true),
    set_config('TimeZone', 'UTC', true),
    set_config('array_nulls', 'on', true),
    set_config('transform_null_equals', 'off', true),
    set_config('standard_conforming_strings', 'on', true),
    set_config('plan_cache_mode', 'force_generic_plan', true);
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

-- The versions that say that a run is trusted less. They are alone in their change sets.
ALTER TABLE memcell.changes ADD COLUMN is_lowering boolean NOT NULL GENERATED ALWAYS AS (
  coalesce(lines[1] ~ '^\{"seq":\d+,"at":"[^"]*","kind":"lowered",', false)
) STORED;
CREATE INDEX changes_lowering ON memcell.changes (tenant, kind, commit_no) WHERE is_lowering;

-- By which process old contents were last looked for, and how long it had been running.
ALTER TABLE memcell.homes ADD COLUMN aged_by text;
