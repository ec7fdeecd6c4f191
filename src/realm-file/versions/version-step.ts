// The interface of the steps that migrate a realm of an earlier version of Keycloak.
import type { Representation } from '../../kinds/json.ts'
import type { ConversionContext } from '../formats/format-converter.ts'

/** A step of a migration. */
export interface VersionStep {
  /** The version of Keycloak that introduced the change. Realms of lower versions are migrated. */
  readonly version: string
  /**
   * Returns the realm with the change, in the format of documents, and warns of what it changes. Returns a realm that needs no change as it
   * is. Ignores values of wrong types, which are reported when the realm is checked.
   */
  readonly migrate: (realm: Representation, context: ConversionContext) => Representation
}
