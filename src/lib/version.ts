import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Regent's version, from its package. */
export const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '..', '..', 'package.json'), 'utf8')) as {
  version: string
}

/** Keycloak's version whose admin API this is. Clients such as the Terraform provider decide by it what they may ask for. */
export const API_VERSION = '26.7.3'
