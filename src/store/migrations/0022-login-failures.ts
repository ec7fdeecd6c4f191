/**
 * How often logging in has failed. A row that is not of a person is of names that nobody has: see service/lockout.ts. It
 * refers to no person, since all rows must cost the same.
 */
export const loginFailures = `
create table login_failure (
  realm integer not null references realm (number) on delete cascade,
  of_person boolean not null,
  subject text collate "C" not null,
  failures integer not null,
  lockouts integer not null,
  otp_failures integer not null,
  failed_at timestamptz,
  address text,
  locked_until timestamptz,
  locked_for_good boolean not null,
  primary key (realm, of_person, subject)
);
`
