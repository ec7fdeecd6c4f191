/** Keys of realms are kept in the components that hold them. Tokens that were signed with the ones here end. */
export const realmKeys = `
drop table realm_key;
`
