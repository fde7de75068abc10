-- The application adds to the history and never changes it. Contents it can only mark, and have forgotten by a function.
REVOKE ALL ON SCHEMA memcell FROM PUBLIC;
REVOKE ALL ON ALL TABLES IN SCHEMA memcell FROM PUBLIC;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA memcell FROM PUBLIC;
GRANT USAGE ON SCHEMA memcell TO memcell_app;
GRANT SELECT, INSERT, UPDATE ON memcell.homes TO memcell_app;
GRANT SELECT, INSERT, UPDATE (is_kept, commit_no) ON memcell.contents TO memcell_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON memcell.files, memcell.records, memcell.grants TO memcell_app;
GRANT SELECT ON memcell.migrations TO memcell_app;
GRANT SELECT, INSERT ON memcell.changes TO memcell_app;
GRANT SELECT, INSERT, DELETE ON memcell.left_stores TO memcell_app;
GRANT SELECT, DELETE ON memcell.erased TO memcell_app;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA memcell TO memcell_app;
