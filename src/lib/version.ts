import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Regent's version, from package.json. */
export const { version }: { readonly version: string } = JSON.parse(
  readFileSync(join(import.meta.dirname, '..', '..', 'package.json'), 'utf8'),
)

/** The Keycloak version whose admin API Regent implements. Clients such as the Terraform provider enable features by it. */
export const API_VERSION = '26.7.3'
