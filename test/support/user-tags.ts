/** Tags of the operations about realms and users. */
export const userTags: readonly string[] = [
  'Realms Admin',
  'Users',
  'Groups',
  'Roles',
  'Roles (by ID)',
  'Role Mapper',
  'Client Role Mappings',
  'Attack Detection',
]
