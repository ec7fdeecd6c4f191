/** Tags of the operations that are about realms and people. */
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
