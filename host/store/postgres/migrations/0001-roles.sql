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
  IF NOT EXISTS (SELECT FROM pg_namespace WHERE nspname = 'memcell') THEN
    CREATE SCHEMA memcell AUTHORIZATION memcell_owner;
  END IF;
END
$$;
