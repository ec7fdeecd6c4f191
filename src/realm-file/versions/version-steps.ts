// Migrates realms of earlier versions of Keycloak when they are read, as Keycloak's import does.
import type { Representation } from '../../kinds/json.ts'
import type { ConversionContext, FormatConverter } from '../formats/format-converter.ts'
import { isLowerVersion } from './keycloak-version.ts'
import { disableMissingAction } from './required-actions.ts'
import { toVersion3_2 } from './to-3-2.ts'
import { toVersion3_4_1 } from './to-3-4-1.ts'
import { toVersion4_0 } from './to-4-0.ts'
import { toVersion4_2 } from './to-4-2.ts'
import { toVersion4_6 } from './to-4-6.ts'
import { toVersion6 } from './to-6.ts'
import { toVersion8 } from './to-8.ts'
import { toVersion8_0_2 } from './to-8-0-2.ts'
import { toVersion18 } from './to-18.ts'
import { toVersion22 } from './to-22.ts'
import { toVersion23 } from './to-23.ts'
import { toVersion24 } from './to-24.ts'
import { toVersion25 } from './to-25.ts'
import { toVersion26 } from './to-26.ts'
import { toVersion26_6_1 } from './to-26-6-1.ts'
import { toVersion26_7 } from './to-26-7.ts'
import type { VersionStep } from './version-step.ts'

/** The steps of a migration, in their order. */
const steps: readonly VersionStep[] = [
  toVersion3_2,
  toVersion3_4_1,
  toVersion4_0,
  toVersion4_2,
  toVersion4_6,
  toVersion6,
  toVersion8,
  toVersion8_0_2,
  toVersion18,
  toVersion22,
  toVersion23,
  toVersion24,
  toVersion25,
  toVersion26,
  toVersion26_6_1,
  toVersion26_7,
]

/** Returns readers that migrate the realm from the version of Keycloak that exported it. Other realms are not migrated. */
export function listMigrations({ keycloakVersion: version }: Representation): FormatConverter['read'][] {
  if (typeof version !== 'string') return []
  const migrations = steps
    .filter((step) => isLowerVersion(version, step.version))
    .map(({ version: target, migrate }): FormatConverter['read'] => (realm, context) => {
      const prefix = `migration from Keycloak ${version} to ${target}`
      return migrate(realm, { ...context, warn: (path, message) => context.warn(path, `${prefix}: ${message}`) })
    })
  return [...migrations, disableMissingAction]
}

/** Migrates a realm that is created from a representation, without warnings. */
export function migrateRepresentation(realm: Representation): Representation {
  return listMigrations(realm).reduce((migrated, migrate) => migrate(migrated, silent), realm)
}

const silent: ConversionContext = { report: () => {}, warn: () => {}, recordMove: () => {}, markReference: () => {} }
