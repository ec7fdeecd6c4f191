/** People by name, so that pages far into their list and their number are read without their rows. */
export const pagesOfPeople = `
create index user_account_people on user_account (realm, username) include (id) where service_account_client is null;
`
