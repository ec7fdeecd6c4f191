/** The permissions of sources that are tenants of a realm, as of their last apply. */
export const tenants = [`alter table source_realm add column tenant jsonb`]
