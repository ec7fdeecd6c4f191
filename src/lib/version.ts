import { readFileSync } from 'node:fs'
import { findPackageJSON } from 'node:module'

/** Regent's version, from package.json. */
export const { version }: { readonly version: string } = JSON.parse(
  readFileSync(findPackageJSON('.', import.meta.url)!, 'utf8'),
)

/** The Keycloak version whose admin API Regent implements. Clients such as the Terraform provider enable features by it. */
export const API_VERSION = '26.7.3'
