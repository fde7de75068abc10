-- Three roles. The owner cannot log in: whoever migrates becomes the owner for that time. Hosts log in as roles that are
-- members of memcell_app, or as memcell_app itself once an administrator has given it LOGIN and a password.
DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'memcell_owner') THEN
    CREATE ROLE memcell_owner NOLOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE NOREPLICATION;
  END IF;
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'memcell_migrator') THEN
    CREATE ROLE memcell_migrator NOLOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE NOREPLICATION;
  END IF;
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'memcell_app') THEN
    CREATE ROLE memcell_app NOLOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE NOREPLICATION;
  END IF;
  IF NOT pg_has_role('memcell_migrator', 'memcell_owner', 'MEMBER') THEN
    GRANT memcell_owner TO memcell_migrator;
  END IF;
  -- A role that creates roles cannot become them unless it is told so. Others were made members before, or are superusers.
  IF NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
    BEGIN
      GRANT memcell_migrator TO CURRENT_USER;
    EXCEPTION WHEN insufficient_privilege THEN NULL;
    END;
  END IF;
  IF NOT EXISTS (SELECT FROM pg_namespace WHERE nspname = 'memcell') THEN
    CREATE SCHEMA memcell AUTHORIZATION memcell_owner;
  ELSIF 'memcell_owner' <> (SELECT pg_get_userbyid(nspowner) FROM pg_namespace WHERE nspname = 'memcell') THEN
    RAISE EXCEPTION 'the schema memcell belongs to another role' USING ERRCODE = '42501';
  END IF;
END
$$;
