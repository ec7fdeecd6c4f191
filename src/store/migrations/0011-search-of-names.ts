/**
 * An index of the parts of names, so that a search for a part reads few users. Without it, a search reads all users of the realm. It needs an
 * extension that not every server of PostgreSQL has, and that not every role may create.
 */
export const searchOfNames = [
  `do $$
  begin
    if not exists (select from pg_available_extensions where name = 'pg_trgm') then return; end if;
    create extension if not exists pg_trgm;
    create index user_account_names on user_account using gin ((
      username || ' ' || coalesce(email, '') || ' ' || coalesce(first_name_folded, '') || ' ' || coalesce(last_name_folded, '')
    ) gin_trgm_ops) with (gin_pending_list_limit = 512);
  exception when insufficient_privilege then
    return;
  end $$`,
]
