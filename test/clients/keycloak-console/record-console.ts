// What Keycloak's admin console does with a server, in a form that can be compared with that of another server.
import type { Browser } from 'playwright-core'
import { createAdministrators, deleteAdministrators, type SeenConsole, seeAsAdministrators } from './administrators.ts'
import { clickPath } from './click-path.ts'
import { type ConsoleStep, openKeycloakConsole } from './driver.ts'

/** The steps of the administrator, and what other administrators see. */
export interface ConsoleRecording {
  readonly steps: readonly ConsoleStep[]
  readonly administrators: readonly SeenConsole[]
}

const REALM = 'console-path'
const ADMINISTRATED = 'console-administrators'

/** Walks through the console of a server, whose administrator is `admin` with the password `admin`. Both realms are deleted in the end. */
export async function recordConsole(browser: Browser, url: string): Promise<ConsoleRecording> {
  const console = await openKeycloakConsole(browser, { url })
  await clickPath(console, REALM)
  await console.close()
  await createAdministrators(url, ADMINISTRATED)
  const administrators = await seeAsAdministrators(browser, url, ADMINISTRATED)
  await deleteAdministrators(url, ADMINISTRATED)
  return { steps: console.steps, administrators }
}
