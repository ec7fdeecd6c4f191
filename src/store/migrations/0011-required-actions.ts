/** Required actions. A realm that is there already gets those of a new realm. */
export const requiredActions = `
create table required_action (
  realm integer not null references realm (number) on delete cascade,
  id text collate "C" not null,
  alias text collate "C" not null,
  version bigint not null,
  body jsonb not null,
  primary key (realm, id),
  constraint required_action_alias unique (realm, alias) deferrable
);

insert into required_action (realm, id, alias, version, body)
select r.number, gen_random_uuid()::text, a.alias, r.version,
  jsonb_build_object('name', a.name, 'providerId', a.alias, 'enabled', a.enabled, 'defaultAction', false, 'priority', a.priority)
from realm r, (values
  ('TERMS_AND_CONDITIONS', 'Terms and Conditions', false, 20),
  ('UPDATE_PROFILE', 'Update Profile', true, 40),
  ('VERIFY_EMAIL', 'Verify Email', true, 50),
  ('CONFIGURE_TOTP', 'Configure OTP', true, 54),
  ('UPDATE_PASSWORD', 'Update Password', true, 57),
  ('delete_account', 'Delete Account', false, 60),
  ('UPDATE_EMAIL', 'Update Email', false, 70),
  ('webauthn-register', 'Webauthn Register', true, 80),
  ('webauthn-register-passwordless', 'Webauthn Register Passwordless', true, 90),
  ('VERIFY_PROFILE', 'Verify Profile', true, 100),
  ('delete_credential', 'Delete Credential', true, 110),
  ('idp_link', 'Linking Identity Provider', true, 120),
  ('CONFIGURE_RECOVERY_AUTHN_CODES', 'Recovery Authentication Codes', true, 130),
  ('update_user_locale', 'Update User Locale', true, 1000)
) a (alias, name, enabled, priority);
`
